package import WeftJSON
import WeftPatterns

extension ValueSchema {
  /// A value that fits; `nil` if none was found.
  ///
  /// - Parameters:
  ///   - text: The preferred text, where texts are allowed.
  ///   - secretBytes: The bytes that a text may have to be masked; `nil` if the value is no secret.
  package func example(
    text: String = "x", secretBytes: ClosedRange<Int>? = nil
  ) -> JSONValue? {
    ValueExamples(text: text, secretBytes: secretBytes).values(of: self, 1).first
  }
}

/// Values that fit a schema.
private struct ValueExamples {
  /// The preferred text.
  var text: String
  var secretBytes: ClosedRange<Int>?

  private static let mostElements = 10_000

  /// Returns different values, the plainest first, and fewer than `count` if no more were found.
  func values(of schema: ValueSchema, _ count: Int) -> [JSONValue] {
    var found: [JSONValue] = []
    func add(_ candidates: [JSONValue]) {
      for value in candidates
      where found.count < count && !found.contains(value)
        && schema.faults(of: value, secretBytes: secretBytes).isEmpty
      {
        found.append(value)
      }
    }
    let listed = schema.constant.map { [$0] } ?? schema.allowed
    if !listed.isEmpty {
      add(listed)
      return found
    }
    for type in schema.types.isEmpty ? [.string] : schema.types {
      add(candidates(of: type, schema, count))
      if found.count == count { break }
    }
    return found
  }

  private func candidates(
    of type: ValueType, _ schema: ValueSchema, _ count: Int
  ) -> [JSONValue] {
    switch type {
    case .boolean: [false, true]
    case .null: [nil]
    case .integer, .number: numbers(by: schema.number, count).map(JSONValue.number)
    case .string: texts(by: schema.text, count).map(JSONValue.string)
    case .array: array(by: schema.array).map { [.array($0)] } ?? []
    case .object: object(by: schema.object).map { [.object($0)] } ?? []
    }
  }

  // MARK: Texts

  private func texts(by rules: ValueSchema.TextRules, _ count: Int) -> [String] {
    let known = [
      text, "1", "1.0", "1.0.0", "/x", "x@example.com", "https://example.com",
    ]
    let least = max(rules.length.least, secretBytes?.lowerBound ?? 0)
    guard least <= ValueExamples.mostElements else { return known }
    guard rules.pattern == nil else {
      return known + (rules.pattern?.examples(ofLength: least) ?? [])
    }
    let most = rules.length.most ?? Int.max
    return known
      + (0..<max(count, 1)).map { number in
        let whole = number == 0 ? text : "\(text)\(number)"
        let filled =
          whole + String(repeating: "x", count: max(0, least - whole.unicodeScalars.count))
        // The end differs.
        return String(String.UnicodeScalarView(filled.unicodeScalars.suffix(most)))
      }
  }

  // MARK: Numbers

  private func numbers(by rules: ValueSchema.NumberRules, _ count: Int) -> [JSONNumber] {
    let bounds = [
      rules.minimum, rules.maximum, rules.exclusiveMinimum, rules.exclusiveMaximum,
    ].compactMap(\.self)
    var known: [JSONNumber] = [1, 0, 10, 100, 1000] + bounds
    known += bounds.compactMap(\.asInt).flatMap { bound in
      [bound.addingReportingOverflow(1), bound.subtractingReportingOverflow(1)]
        .filter { !$0.overflow }.map { JSONNumber($0.partialValue) }
    }
    let lower = rules.minimum ?? rules.exclusiveMinimum
    let upper = rules.maximum ?? rules.exclusiveMaximum
    if let low = lower?.asDouble, let high = upper?.asDouble {
      known += [JSONNumber(low + (high - low) / 2)].compactMap(\.self)
    }
    if let divisor = rules.divisor { known += multiples(of: divisor, from: lower ?? upper, count) }
    let start =
      lower?.asInt ?? upper?.asInt.map { $0.subtractingReportingOverflow(count).partialValue } ?? 2
    known += (0...count).map { JSONNumber(start.addingReportingOverflow($0).partialValue) }
    return known
  }

  /// Returns multiples around a bound.
  private func multiples(
    of divisor: JSONNumber, from bound: JSONNumber?, _ count: Int
  ) -> [JSONNumber] {
    guard let step = divisor.asDouble, step > 0 else { return [] }
    let first = ((bound?.asDouble ?? 0) / step).rounded(.down)
    guard abs(first) < 1e15 else { return [] }
    return (-1...count + 1).compactMap { divisor.times(Int(first) + $0) }
  }

  // MARK: Arrays and objects

  private var inside: ValueExamples { ValueExamples(text: text, secretBytes: nil) }

  private func array(by rules: ValueSchema.ArrayRules) -> [JSONValue]? {
    let count = rules.count.least
    guard count > 0 else { return [] }
    guard count <= ValueExamples.mostElements else { return nil }
    let schema = if case .matching(let schema) = rules.elements { schema } else { ValueSchema() }
    let values = inside.values(of: schema, rules.isUnique ? count : 1)
    guard let first = values.first else { return nil }
    return rules.isUnique ? values : Array(repeating: first, count: count)
  }

  private func object(by rules: ValueSchema.ObjectRules) -> JSONObject? {
    var object = JSONObject()
    for name in rules.required { object[name] = value(of: name, rules) }
    // Expressions may read what is declared.
    let most = rules.count.most ?? Int.max
    for name in rules.properties.map(\.name) where object.count < most && object[name] == nil {
      object[name] = value(of: name, rules)
    }
    for name in (1...100).map({ "x\($0)" }) where object.count < rules.count.least {
      object[name] = object[name] ?? value(of: name, rules)
    }
    return object
  }

  private func value(of name: String, _ rules: ValueSchema.ObjectRules) -> JSONValue? {
    if let schema = rules.schema(of: name) { return inside.values(of: schema, 1).first }
    switch rules.additional {
    case .anything: return .string(text)
    case .nothing: return nil
    case .matching(let schema): return inside.values(of: schema, 1).first
    }
  }
}
