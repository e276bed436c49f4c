/// The value of an expression.
///
/// Arrays and objects are classes because they are compared by identity, as in GitHub Actions: `steps.a == steps.a` is
/// true, but two equal texts parsed by `fromJSON` are not equal.
package enum ExpressionValue: Sendable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array(ExpressionArray)
  case object(ExpressionObject)
}

/// Coercions: ECMAScript's, except that arrays and objects never become primitives.
extension ExpressionValue {
  /// Whether the value is truthy: anything but `null`, `false`, 0, NaN and the empty string.
  package var isTruthy: Bool {
    switch self {
    case .null: false
    case .boolean(let value): value
    case .number(let value): value != 0 && !value.isNaN
    case .string(let text): !text.isEmpty
    case .array, .object: true
    }
  }

  /// The value as a number; NaN for arrays, objects, and strings that are not numbers.
  package var asNumber: Double {
    switch self {
    case .null: 0
    case .boolean(let value): value ? 1 : 0
    case .number(let value): value
    case .string(let text): NumberReading.number(from: text)
    case .array, .object: .nan
    }
  }

  /// The text of a primitive; `nil` for arrays and objects.
  package var primitiveText: String? {
    switch self {
    case .null: ""
    case .boolean(let value): value ? "true" : "false"
    case .number(let value): NumberText.coerced(value)
    case .string(let text): text
    case .array, .object: nil
    }
  }

  /// The value as part of a string; arrays and objects yield only the name of their kind.
  package var text: String {
    switch self {
    case .array: "Array"
    case .object: "Object"
    case .null, .boolean, .number, .string: primitiveText ?? ""
    }
  }

  /// The name of its kind in messages.
  package var kindName: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension ExpressionValue {
  /// An array of values.
  package static func array(_ elements: [ExpressionValue]) -> ExpressionValue {
    .array(ExpressionArray(elements))
  }

  /// An object; if keys have the same spelling, the first counts.
  package static func object(_ members: [(String, ExpressionValue)]) -> ExpressionValue {
    .object(ExpressionObject(members.map { .init(key: $0.0, value: $0.1) }))
  }
}

/// Values in order.
package final class ExpressionArray: Sendable {
  package let elements: [ExpressionValue]
  /// Whether it is the result of the filter `*`: accesses apply to each element.
  package let isFiltered: Bool

  package init(_ elements: [ExpressionValue], isFiltered: Bool = false) {
    self.elements = elements
    self.isFiltered = isFiltered
  }
}
