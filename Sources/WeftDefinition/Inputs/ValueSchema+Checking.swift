public import WeftJSON
import WeftPatterns

extension ValueSchema {
  /// All faults of a value, in its own order; empty if it fits. At most ``ValueError/mostTold``.
  public func faults(of value: JSONValue) -> [ValueError] {
    var check = ValueCheck()
    check.check(value, by: self, at: ValuePath())
    return check.faults
  }
}

/// One walk over a value, as deep as the schema goes.
private struct ValueCheck {
  private(set) var faults: [ValueError] = []

  private var isFull: Bool { faults.count >= ValueError.mostTold }

  private mutating func report(_ kind: ValueError.Kind, at path: ValuePath) {
    if !isFull { faults.append(ValueError(kind, path)) }
  }

  mutating func check(_ value: JSONValue, by schema: ValueSchema, at path: ValuePath) {
    guard schema.types.isEmpty || schema.types.contains(where: { $0.holds(for: value) }) else {
      // Other faults would only follow from this one.
      return report(.wrongType(value, wanted: schema.types), at: path)
    }
    if let constant = schema.constant, constant != value {
      return report(.notAllowed(value, wanted: [constant]), at: path)
    }
    if !schema.allowed.isEmpty, !schema.allowed.contains(value) {
      return report(.notAllowed(value, wanted: schema.allowed), at: path)
    }
    switch value {
    case .string(let text): check(text, by: schema.text, at: path)
    case .number(let number): check(number, by: schema.number, at: path)
    case .array(let elements): check(elements, by: schema.array, at: path)
    case .object(let object): check(object, by: schema.object, at: path)
    case .null, .bool: break
    }
  }

  private mutating func check(
    _ text: String, by rules: ValueSchema.TextRules, at path: ValuePath
  ) {
    let count = text.unicodeScalars.count
    if count < rules.length.least { report(.tooShort(count, least: rules.length.least), at: path) }
    if let most = rules.length.most, count > most { report(.tooLong(count, most: most), at: path) }
    guard let pattern = rules.pattern else { return }
    guard text.utf8.count <= WorkflowLimits.matchedBytes else {
      return report(.tooLongToMatch(bytes: text.utf8.count), at: path)
    }
    if !pattern.matches(in: text) { report(.noMatch(text, of: pattern), at: path) }
  }

  private mutating func check(
    _ number: JSONNumber, by rules: ValueSchema.NumberRules, at path: ValuePath
  ) {
    if let least = rules.minimum, number < least { report(.below(number, least: least), at: path) }
    if let most = rules.maximum, number > most { report(.above(number, most: most), at: path) }
    if let limit = rules.exclusiveMinimum, number <= limit {
      report(.notAbove(number, limit: limit), at: path)
    }
    if let limit = rules.exclusiveMaximum, number >= limit {
      report(.notBelow(number, limit: limit), at: path)
    }
    if let divisor = rules.divisor, number.isMultiple(of: divisor) != true {
      report(.noMultiple(number, of: divisor), at: path)
    }
  }

  private mutating func check(
    _ elements: [JSONValue], by rules: ValueSchema.ArrayRules, at path: ValuePath
  ) {
    let count = elements.count
    if count < rules.count.least {
      report(.tooFewElements(count, least: rules.count.least), at: path)
    }
    if let most = rules.count.most, count > most {
      report(.tooManyElements(count, most: most), at: path)
    }
    if rules.isUnique { checkUniqueness(of: elements, at: path) }
    guard case .matching(let schema) = rules.elements else { return }
    for (index, element) in elements.enumerated() where !isFull {
      check(element, by: schema, at: path.appending(.element(index)))
    }
  }

  private mutating func checkUniqueness(of elements: [JSONValue], at path: ValuePath) {
    var first: [JSONValue: Int] = [:]
    for (index, element) in elements.enumerated() where !isFull {
      if let earlier = first.updateValue(index, forKey: element) {
        report(.equalElements(earlier, index), at: path)
      }
    }
  }

  private mutating func check(
    _ object: JSONObject, by rules: ValueSchema.ObjectRules, at path: ValuePath
  ) {
    let count = object.count
    if count < rules.count.least {
      report(.tooFewProperties(count, least: rules.count.least), at: path)
    }
    if let most = rules.count.most, count > most {
      report(.tooManyProperties(count, most: most), at: path)
    }
    for name in rules.required where object[name] == nil {
      report(.missingProperty(name, found: object.map(\.key)), at: path)
    }
    for member in object where !isFull {
      let inside = path.appending(.property(member.key))
      if let schema = rules.schema(of: member.key) {
        check(member.value, by: schema, at: inside)
        continue
      }
      switch rules.additional {
      case .anything: break
      case .nothing:
        let known = rules.properties.map(\.name)
        report(.undeclaredProperty(member.key, known: known), at: inside)
      case .matching(let schema): check(member.value, by: schema, at: inside)
      }
    }
  }
}
