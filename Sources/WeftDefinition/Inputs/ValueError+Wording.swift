import WeftDiagnostics
import WeftJSON
import WeftPatterns

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
