import WeftDiagnostics
import WeftJSON
import WeftPatterns

/// One way in which a value does not fit its schema.
public struct ValueError: Error, Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case wrongType(JSONValue, wanted: [ValueType])
    case notAllowed(JSONValue, wanted: [JSONValue])
    case tooShort(Int, least: Int)
    case tooLong(Int, most: Int)
    case noMatch(String, of: Pattern)
    case tooLongToMatch(bytes: Int)
    case below(JSONNumber, least: JSONNumber)
    case above(JSONNumber, most: JSONNumber)
    case notAbove(JSONNumber, limit: JSONNumber)
    case notBelow(JSONNumber, limit: JSONNumber)
    case noMultiple(JSONNumber, of: JSONNumber)
    case tooFewElements(Int, least: Int)
    case tooManyElements(Int, most: Int)
    case equalElements(Int, Int)
    case missingProperty(String, found: [String])
    case undeclaredProperty(String, known: [String])
    case tooFewProperties(Int, least: Int)
    case tooManyProperties(Int, most: Int)
  }

  let kind: Kind
  /// The path inside the value; for an undeclared property, that of the property.
  public let path: ValuePath

  init(_ kind: Kind, _ path: ValuePath) {
    self.kind = kind
    self.path = path
  }

  /// The most faults that are reported for one value.
  public static let mostTold = 100

  /// Whether the name of the property at ``path`` is wrong, not its value.
  package var isAboutName: Bool {
    if case .undeclaredProperty = kind { true } else { false }
  }

  /// A sentence about a value that `subject` names, such as `input "port"`.
  ///
  /// - Parameter isSecret: Whether the message must not contain the actual value.
  package func message(about subject: String, isSecret: Bool = false) -> String {
    // The names of a secret's properties may be part of the secret.
    if isSecret { return "\(subject) is a secret with an invalid value, expected \(wanted)" }
    let place = isAboutName ? ValuePath(path.components.dropLast()) : path
    let whole = place.components.isEmpty ? subject : "\(place) of \(subject)"
    return "\(whole) \(found), expected \(wanted)"
  }

  /// The suggested remedy.
  package func help(isSecret: Bool = false) -> String? {
    if isSecret { return nil }
    switch kind {
    case .notAllowed(.string(let text), let wanted):
      let texts = wanted.compactMap { if case .string(let text) = $0 { text } else { nil } }
      return NearestName(texts).nearest(to: text).asSuggestion
    case .undeclaredProperty(let name, let known):
      return NearestName(known).nearest(to: name).asSuggestion
    case .wrongType(let value, let wanted): return ValueError.remedy(for: value, wanted)
    default: return nil
    }
  }

  /// Suggests to add or remove quotes, the most common mistake.
  private static func remedy(for value: JSONValue, _ wanted: [ValueType]) -> String? {
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
}

extension ValueError {
  /// A verb and what was found.
  var found: String {
    switch kind {
    case .wrongType(let value, _), .notAllowed(let value, _): "is \(value.noun)"
    case .noMatch(let text, _): "is \(quoted(text))"
    case .tooShort(let count, _), .tooLong(let count, _): "has \(Count(count, "character"))"
    case .tooLongToMatch(let bytes): "has \(bytes) bytes"
    case .below(let number, _), .above(let number, _), .notAbove(let number, _),
      .notBelow(let number, _), .noMultiple(let number, _):
      "is \(shortened(number.text))"
    case .tooFewElements(let count, _), .tooManyElements(let count, _):
      "has \(Count(count, "element"))"
    case .equalElements(let first, let second): "has equal elements at [\(first)] and [\(second)]"
    case .missingProperty(_, let found):
      found.isEmpty
        ? "is an empty object" : "has only \(QuotedList(found, conjunction: "and"))"
    case .undeclaredProperty(let name, _): "has the property \(quoted(name))"
    case .tooFewProperties(0, _): "has no properties"
    case .tooFewProperties(let count, _), .tooManyProperties(let count, _):
      "has \(count) \(count == 1 ? "property" : "properties")"
    }
  }

  /// The expected value; contains no part of the actual one.
  var wanted: String {
    switch kind {
    case .wrongType(_, let types): listed(types.map(\.expectation), conjunction: "or")
    case .notAllowed(_, let values): listed(values.map(\.noun), conjunction: "or")
    case .tooShort(_, let least): "at least \(Count(least, "character"))"
    case .tooLong(_, let most): "at most \(Count(most, "character"))"
    case .noMatch(_, let pattern): "a string that matches \(quoted(pattern.text))"
    case .tooLongToMatch:
      "at most \(WorkflowLimits.matchedBytes >> 20) MiB, because it must match a pattern"
    case .below(_, let least): "at least \(least)"
    case .above(_, let most): "at most \(most)"
    case .notAbove(_, let limit): "more than \(limit)"
    case .notBelow(_, let limit): "less than \(limit)"
    case .noMultiple(_, let divisor): "a multiple of \(divisor)"
    case .tooFewElements(_, let least): "at least \(least)"
    case .tooManyElements(_, let most): "at most \(most)"
    case .equalElements: "unique elements"
    case .missingProperty(let name, _): "the property \(quoted(name))"
    case .undeclaredProperty(_, let known) where known.isEmpty: "none"
    case .undeclaredProperty(_, let known): QuotedList(known, conjunction: "or").description
    case .tooFewProperties(_, let least): "at least \(least)"
    case .tooManyProperties(_, let most): "at most \(most)"
    }
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
