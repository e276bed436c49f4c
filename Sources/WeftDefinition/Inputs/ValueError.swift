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
