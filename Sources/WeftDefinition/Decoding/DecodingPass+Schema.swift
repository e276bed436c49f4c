import WeftDiagnostics
import WeftJSON

/// A declaration as read: its schema, and the keys beside it.
struct ValueDeclaration {
  var schema = ValueSchema()
  var defaultValue: JSONValue?
  var isSecret = false
  /// The value of an output, for the caller to read.
  var value: JSONNode?
}

/// Declarations of values in JSON Schema.
extension DecodingPass {
  /// Reads the declaration of an input or an output; invalid parts are reported and dropped.
  ///
  /// - Parameters:
  ///   - path: Its JSON path, such as `inputs.version`.
  ///   - owner: The object that determines which keys are allowed.
  mutating func declaration(
    _ node: JSONNode, _ path: String, of owner: SchemaOwner
  ) -> ValueDeclaration {
    var declaration = ValueDeclaration()
    guard node.kind == .object else {
      reportType(
        of: node, path, wanted: "an object such as { \"type\": \"string\" }",
        help: declarationHelp(for: node))
      return declaration
    }
    var places: [SchemaKey: JSONNode] = [:]
    for member in node.members {
      guard let key = schemaKey(member, of: owner) else { continue }
      places[key] = member.key
      take(key, member.value, path + "." + key.rawValue, into: &declaration)
    }
    check(declaration.schema, path, places)
    if let value = node.member("default"), declaration.defaultValue != nil {
      check(value, path + ".default", by: declaration.schema)
    }
    return declaration
  }

  private func declarationHelp(for node: JSONNode) -> String? {
    guard let word = node.stringValue else { return nil }
    let type = ValueType(rawValue: word)?.rawValue ?? ValueType.nearest(to: word)
    return type.map { "write { \"type\": \"\($0)\" }" }
  }

  private mutating func schemaKey(_ member: JSONMember, of owner: SchemaOwner) -> SchemaKey? {
    let name = member.key.stringValue ?? ""
    if isIgnored(member.key) { return nil }
    if let known = SchemaKey(rawValue: name) {
      if owner.keys.contains(known) { return known }
      if owner == .part {
        report(.schema(.keyOfWholeDeclaration(name)), at: member.key)
        return nil
      }
    }
    report(.schema(owner.problem(withUnknownKey: name)), at: member.key)
    return nil
  }

  private mutating func take(
    _ key: SchemaKey, _ node: JSONNode, _ path: String, into declaration: inout ValueDeclaration
  ) {
    switch key {
    case .default: declaration.defaultValue = value(node, path)
    case .secret: declaration.isSecret = flag(node, path) ?? false
    case .value: declaration.value = node
    case .type: declaration.schema.types = types(node, path)
    case .enum: declaration.schema.allowed = allowedValues(node, path)
    case .const: declaration.schema.constant = node.kind == .unreadable ? nil : JSONValue(node)
    case .title: declaration.schema.title = plainText(node, path)
    case .description: declaration.schema.description = plainText(node, path)
    case .pattern, .minLength, .maxLength:
      take(key, node, path, into: &declaration.schema.text)
    case .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum, .multipleOf:
      take(key, node, path, into: &declaration.schema.number)
    case .items, .minItems, .maxItems, .uniqueItems:
      take(key, node, path, into: &declaration.schema.array)
    case .properties, .required, .additionalProperties, .minProperties, .maxProperties:
      take(key, node, path, into: &declaration.schema.object)
    }
  }

  // MARK: For all types

  private mutating func types(_ node: JSONNode, _ path: String) -> [ValueType] {
    switch node.kind {
    case .string: return type(node, path).map { [$0] } ?? []
    case .array where !node.elements.isEmpty:
      var types: [ValueType] = []
      for (index, element) in node.elements.enumerated() {
        guard let type = type(element, "\(path)[\(index)]") else { continue }
        guard !types.contains(type) else {
          report(.schema(.repeatedType(path: path, word: type.rawValue)), at: element)
          continue
        }
        types.append(type)
      }
      return types
    case .array: report(.empty(path: path, wanted: "a type, or several"), at: node)
    default: reportType(of: node, path, wanted: "a type, or an array of types")
    }
    return []
  }

  private mutating func type(_ node: JSONNode, _ path: String) -> ValueType? {
    guard let word = plainText(node, path) else { return nil }
    if let type = ValueType(rawValue: word) { return type }
    report(
      .schema(.unknownType(path: path, word: word, nearest: ValueType.nearest(to: word))), at: node)
    return nil
  }

  private mutating func allowedValues(_ node: JSONNode, _ path: String) -> [JSONValue] {
    guard node.kind == .array, !node.elements.isEmpty else {
      if node.kind == .array {
        report(.empty(path: path, wanted: "the values that are allowed"), at: node)
      } else {
        reportType(of: node, path, wanted: "an array of the values that are allowed")
      }
      return []
    }
    var values: Set<JSONValue> = []
    return node.elements.enumerated().compactMap { index, element in
      guard element.kind != .unreadable else { return nil }
      let value = JSONValue(element)
      guard values.insert(value).inserted else {
        report(
          .schema(.repeatedValue(path: "\(path)[\(index)]", noun: value.noun)), at: element)
        return nil
      }
      return value
    }
  }

  /// A literal value; expressions in it are reported.
  private mutating func value(_ node: JSONNode, _ path: String) -> JSONValue? {
    guard node.kind != .unreadable else { return nil }
    if node.holdsExpression {
      report(.schema(.unboundValue(path: path)), at: node)
      return nil
    }
    return JSONValue(node)
  }
}

extension SchemaOwner {
  fileprivate func problem(withUnknownKey name: String) -> SchemaProblem {
    if ["$ref", "$dynamicRef", "$defs", "definitions"].contains(name) { return .reference(name) }
    let known = keys.map(\.rawValue)
    let other = SchemaOwner.elsewhere[name].flatMap { known.contains($0) ? $0 : nil }
    return .unknownKey(name, of: self, nearest: other ?? NearestName(known).nearest(to: name))
  }

  /// Names for the keys in CI services and other schema languages.
  private static let elsewhere: [String: String] = [
    "options": "enum", "choices": "enum", "values": "enum", "oneOf": "enum", "anyOf": "enum",
    "regex": "pattern", "regexp": "pattern", "match": "pattern", "format": "pattern",
    "min": "minimum", "max": "maximum", "value": "default", "fallback": "default",
    "optional": "default", "sensitive": "secret", "password": "secret", "masked": "secret",
    "writeOnly": "secret", "step": "multipleOf", "elements": "items", "prefixItems": "items",
    "fields": "properties", "help": "description", "summary": "description", "doc": "description",
    "label": "title", "name": "title",
  ]
}
