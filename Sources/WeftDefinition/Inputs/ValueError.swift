import WeftDiagnostics
public import WeftJSON
import WeftPatterns

/// One way in which a value does not fit its schema.
public struct ValueError: Error, Sendable, Hashable {
  /// A verb and what was found.
  let found: String
  /// The expected value; contains no part of the actual one.
  let wanted: String
  let remedy: String?
  /// The path inside the value; for an undeclared property, that of the property.
  public let path: ValuePath
  /// Whether the name of the property at ``path`` is wrong, not its value.
  package let isAboutName: Bool
  /// Whether it is a secret that cannot be masked, rather than an invalid value.
  private var isAboutMasking = false

  /// The most faults that are reported for one value.
  public static let mostTold = 100

  /// A sentence about a value that `subject` names, such as `input "port"`.
  ///
  /// - Parameter isSecret: Whether the message must not contain the actual value.
  package func message(about subject: String, isSecret: Bool = false) -> String {
    // The names of a secret's properties may be part of the secret.
    if isSecret, !isAboutMasking {
      return "\(subject) is a secret with an invalid value, expected \(wanted)"
    }
    let place = isAboutName ? ValuePath(path.components.dropLast()) : path
    let whole = place.components.isEmpty ? subject : "\(place) of \(subject)"
    return "\(whole) \(found), expected \(wanted)"
  }

  /// The suggested remedy.
  package func help(isSecret: Bool = false) -> String? {
    isSecret && !isAboutMasking ? nil : remedy
  }

  fileprivate init(
    found: String, wanted: String, remedy: String?, path: ValuePath, isAboutName: Bool
  ) {
    self.found = found
    self.wanted = wanted
    self.remedy = remedy
    self.path = path
    self.isAboutName = isAboutName
  }

  /// A secret text of a length for which it cannot be masked in the output of programs; `nil` for another value.
  fileprivate init?(unmaskable value: JSONValue, outside limits: ClosedRange<Int>) {
    guard case .string(let text) = value else { return nil }
    // White space around a secret is not part of it.
    let count = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
      .reduce(0) { $0 + $1.utf8.count }
    if limits.contains(count) { return nil }
    self.init(
      found: "is a secret that cannot be masked",
      wanted: count < limits.lowerBound
        ? "at least \(limits.lowerBound) bytes" : "at most \(limits.upperBound >> 10) KiB",
      remedy: "remove \"secret\" from its declaration if it need not be masked",
      path: ValuePath(), isAboutName: false)
    isAboutMasking = true
  }
}

extension JSONValue {
  /// The value for a sentence: as written, or its type if that is long.
  var noun: String {
    switch self {
    case .null: "null"
    case .bool(let value): String(value)
    case .number(let number): shortened(number.text)
    case .string(let text): quoted(text)
    case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
    case .object(let members): members.isEmpty ? "an empty object" : "an object"
    }
  }
}

/// The path of a part of a value: `[3].name`; empty for the value itself.
public struct ValuePath: Sendable, Hashable {
  public enum Component: Sendable, Hashable {
    case property(String)
    case element(Int)
  }

  public var components: [Component]

  public init(_ components: [Component] = []) {
    self.components = components
  }

  func appending(_ component: Component) -> ValuePath { ValuePath(components + [component]) }
}

extension ValuePath: CustomStringConvertible {
  /// `[3].name`, and `["first name"]` if a name is not a plain word.
  public var description: String {
    components.map { component in
      switch component {
      case .element(let index): "[\(index)]"
      case .property(let name): StepID.isValid(name.utf8) ? "." + name : "[\(quoted(name))]"
      }
    }.joined()
  }
}

extension ValueSchema {
  /// All faults of a value, in its own order; empty if it fits. At most ``ValueError/mostTold``.
  ///
  /// - Parameter secretBytes: The bytes that a text may have to be masked; `nil` if the value is no secret.
  public func faults(
    of value: JSONValue, secretBytes: ClosedRange<Int>? = nil
  ) -> [ValueError] {
    var check = ValueCheck()
    check.check(value, by: self, at: ValuePath())
    let unmaskable = secretBytes.flatMap { ValueError(unmaskable: value, outside: $0) }
    return [unmaskable].compactMap(\.self) + check.faults
  }
}

/// One walk over a value, as deep as the schema goes.
private struct ValueCheck {
  private(set) var faults: [ValueError] = []

  private var isFull: Bool { faults.count >= ValueError.mostTold }

  private mutating func report(
    _ found: String, wanted: String, at path: ValuePath, remedy: String? = nil,
    isAboutName: Bool = false
  ) {
    guard !isFull else { return }
    faults.append(
      ValueError(
        found: found, wanted: wanted, remedy: remedy, path: path, isAboutName: isAboutName))
  }

  mutating func check(_ value: JSONValue, by schema: ValueSchema, at path: ValuePath) {
    guard schema.types.isEmpty || schema.types.contains(where: { $0.holds(for: value) }) else {
      // Other faults would only follow from this one.
      return report(
        "is \(value.noun)", wanted: listed(schema.types.map(\.expectation), conjunction: "or"),
        at: path, remedy: ValueCheck.quoting(of: value, for: schema.types))
    }
    if let constant = schema.constant, constant != value {
      return report(value, besides: [constant], at: path)
    }
    if !schema.allowed.isEmpty, !schema.allowed.contains(value) {
      return report(value, besides: schema.allowed, at: path)
    }
    switch value {
    case .string(let text): check(text, by: schema.text, at: path)
    case .number(let number): check(number, by: schema.number, at: path)
    case .array(let elements): check(elements, by: schema.array, at: path)
    case .object(let object): check(object, by: schema.object, at: path)
    case .null, .bool: break
    }
  }

  private mutating func report(
    _ value: JSONValue, besides allowed: [JSONValue], at path: ValuePath
  ) {
    let texts = allowed.compactMap { if case .string(let text) = $0 { text } else { nil } }
    let nearest: String? =
      if case .string(let text) = value { NearestName(texts).nearest(to: text) } else { nil }
    report(
      "is \(value.noun)", wanted: listed(allowed.map(\.noun), conjunction: "or"), at: path,
      remedy: nearest.asSuggestion)
  }

  /// Suggests to add or remove quotes, the most common mistake.
  private static func quoting(of value: JSONValue, for wanted: [ValueType]) -> String? {
    switch value {
    case .string(let text):
      let bare: JSONValue? =
        text == "true" || text == "false"
        ? .bool(text == "true") : JSONNumber(text).map(JSONValue.number)
      guard let bare, wanted.contains(where: { $0.holds(for: bare) }) else { return nil }
      return "write \(shortened(text)) without quotes"
    case .number, .bool:
      return wanted.contains(.string) ? "write \"\(shortened(value.description))\"" : nil
    case .null, .array, .object: return nil
    }
  }

  private mutating func check(
    _ text: String, by rules: ValueSchema.TextRules, at path: ValuePath
  ) {
    let count = text.unicodeScalars.count
    func found() -> String { "has \(Count(count, "character"))" }
    if count < rules.length.least {
      report(found(), wanted: "at least \(Count(rules.length.least, "character"))", at: path)
    }
    if let most = rules.length.most, count > most {
      report(found(), wanted: "at most \(Count(most, "character"))", at: path)
    }
    guard let pattern = rules.pattern else { return }
    guard text.utf8.count <= WorkflowLimits.matchedBytes else {
      return report(
        "has \(text.utf8.count) bytes",
        wanted: "at most \(WorkflowLimits.matchedBytes >> 20) MiB, because it must match a pattern",
        at: path)
    }
    if !pattern.matches(in: text) {
      report(
        "is \(quoted(text))", wanted: "a string that matches \(quoted(pattern.text))", at: path)
    }
  }

  private mutating func check(
    _ number: JSONNumber, by rules: ValueSchema.NumberRules, at path: ValuePath
  ) {
    func found() -> String { "is \(shortened(number.text))" }
    if let least = rules.minimum, number < least {
      report(found(), wanted: "at least \(least)", at: path)
    }
    if let most = rules.maximum, number > most {
      report(found(), wanted: "at most \(most)", at: path)
    }
    if let limit = rules.exclusiveMinimum, number <= limit {
      report(found(), wanted: "more than \(limit)", at: path)
    }
    if let limit = rules.exclusiveMaximum, number >= limit {
      report(found(), wanted: "less than \(limit)", at: path)
    }
    if let divisor = rules.divisor, number.isMultiple(of: divisor) != true {
      report(found(), wanted: "a multiple of \(divisor)", at: path)
    }
  }

  private mutating func check(
    _ count: Int, by limits: ValueSchema.CountLimits, found: @autoclosure () -> String,
    at path: ValuePath
  ) {
    if count < limits.least { report(found(), wanted: "at least \(limits.least)", at: path) }
    if let most = limits.most, count > most { report(found(), wanted: "at most \(most)", at: path) }
  }

  private mutating func check(
    _ elements: [JSONValue], by rules: ValueSchema.ArrayRules, at path: ValuePath
  ) {
    check(
      elements.count, by: rules.count, found: "has \(Count(elements.count, "element"))", at: path)
    if rules.isUnique { checkUniqueness(of: elements, at: path) }
    // What may be anything can still hold a number that is not kept.
    let schema = if case .matching(let schema) = rules.elements { schema } else { ValueSchema() }
    for (index, element) in elements.enumerated() where !isFull {
      check(element, by: schema, at: path.appending(.element(index)))
    }
  }

  private mutating func checkUniqueness(of elements: [JSONValue], at path: ValuePath) {
    var first: [JSONValue: Int] = [:]
    for (index, element) in elements.enumerated() where !isFull {
      guard let earlier = first.updateValue(index, forKey: element) else { continue }
      report(
        "has equal elements at [\(earlier)] and [\(index)]", wanted: "unique elements", at: path)
    }
  }

  private mutating func check(
    _ object: JSONObject, by rules: ValueSchema.ObjectRules, at path: ValuePath
  ) {
    let count = object.count
    check(
      count, by: rules.count,
      found: count == 0
        ? "has no properties" : "has \(count) \(count == 1 ? "property" : "properties")", at: path)
    for name in rules.required where object[name] == nil {
      report(
        object.isEmpty
          ? "is an empty object"
          : "has only \(QuotedList(object.map(\.key), conjunction: "and"))",
        wanted: "the property \(quoted(name))", at: path)
    }
    for member in object where !isFull {
      let inside = path.appending(.property(member.key))
      if let schema = rules.schema(of: member.key) {
        check(member.value, by: schema, at: inside)
        continue
      }
      switch rules.additional {
      case .anything: check(member.value, by: ValueSchema(), at: inside)
      case .nothing:
        let known = rules.properties.map(\.name)
        report(
          "has the property \(quoted(member.key))",
          wanted: known.isEmpty ? "none" : QuotedList(known, conjunction: "or").description,
          at: inside, remedy: NearestName(known).nearest(to: member.key).asSuggestion,
          isAboutName: true)
      case .matching(let schema): check(member.value, by: schema, at: inside)
      }
    }
  }
}
