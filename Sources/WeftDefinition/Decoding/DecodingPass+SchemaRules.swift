import WeftDiagnostics
import WeftJSON
import WeftPatterns

/// Rules of a declaration for values of one type.
extension DecodingPass {
  mutating func take(
    _ key: SchemaKey, _ node: JSONNode, _ path: String, into rules: inout ValueSchema.TextRules
  ) {
    switch key {
    case .minLength: rules.length.least = count(node, path) ?? 0
    case .maxLength: rules.length.most = count(node, path)
    default: rules.pattern = pattern(node, path)
    }
  }

  private mutating func pattern(_ node: JSONNode, _ path: String) -> Pattern? {
    guard let text = plainText(node, path) else { return nil }
    do { return try Pattern(text) } catch {
      report(
        .schema(.pattern(path: path, fault: error)), at: node.place(ofUTF8: error.range))
      return nil
    }
  }

  mutating func take(
    _ key: SchemaKey, _ node: JSONNode, _ path: String, into rules: inout ValueSchema.NumberRules
  ) {
    guard let number = node.numberValue else {
      return reportType(of: node, path, wanted: "a number", help: unquotingHelp(for: node))
    }
    switch key {
    case .minimum: rules.minimum = number
    case .maximum: rules.maximum = number
    case .exclusiveMinimum: rules.exclusiveMinimum = number
    case .exclusiveMaximum: rules.exclusiveMaximum = number
    default:
      if number <= 0 {
        report(.schema(.notPositive(path: path, number: number.text)), at: node)
      } else if JSONNumber(0).isMultiple(of: number) == nil {
        report(.schema(.longDivisor(path: path, number: number.text)), at: node)
      } else {
        rules.divisor = number
      }
    }
  }

  mutating func take(
    _ key: SchemaKey, _ node: JSONNode, _ path: String, into rules: inout ValueSchema.ArrayRules
  ) {
    switch key {
    case .minItems: rules.count.least = count(node, path) ?? 0
    case .maxItems: rules.count.most = count(node, path)
    case .uniqueItems: rules.isUnique = flag(node, path) ?? false
    default: rules.elements = .matching(declaration(node, path, of: .part).schema)
    }
  }

  mutating func take(
    _ key: SchemaKey, _ node: JSONNode, _ path: String, into rules: inout ValueSchema.ObjectRules
  ) {
    switch key {
    case .minProperties: rules.count.least = count(node, path) ?? 0
    case .maxProperties: rules.count.most = count(node, path)
    case .required: rules.required = requiredNames(node, path)
    case .properties: rules.properties = properties(node, path)
    default:
      if let flag = node.boolValue {
        rules.additional = flag ? .anything : .nothing
      } else {
        rules.additional = .matching(declaration(node, path, of: .part).schema)
      }
    }
  }

  private mutating func properties(_ node: JSONNode, _ path: String) -> [ValueSchema.Property] {
    guard node.kind == .object else {
      reportType(of: node, path, wanted: "an object of names and declarations")
      return []
    }
    return node.members.map { member in
      let name = member.key.stringValue ?? ""
      let place = ValuePath([.property(name)]).description
      return ValueSchema.Property(
        name, declaration(member.value, DecodingPass.elided(path + place), of: .part).schema)
    }
  }

  private mutating func requiredNames(_ node: JSONNode, _ path: String) -> [String] {
    if node.kind == .bool {
      report(.schema(.requiredFlag(path: path)), at: node)
      return []
    }
    guard node.kind == .array else {
      reportType(of: node, path, wanted: "an array of names of properties")
      return []
    }
    var names: [String] = []
    for (index, element) in node.elements.enumerated() {
      let place = "\(path)[\(index)]"
      guard let name = plainText(element, place) else { continue }
      if names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
        report(.schema(.repeatedRequired(path: place, name: name)), at: element)
      } else {
        names.append(name)
      }
    }
    return names
  }
}
