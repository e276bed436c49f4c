package import WeftJSON

/// A number of an expression: 64-bit floating point, and the digits of its JSON text that this does not hold.
///
/// A number that is only passed on keeps its digits: `1234567890123456789` stays an identifier, and `1e400` stays what it
/// is. Numbers are compared by their exact values. NaN is neither equal to a number nor less than one.
package enum ExpressionNumber: Sendable {
  case plain(Double)
  case long(LongNumber)

  package init(_ value: Double) { self = .plain(value) }

  package init(_ whole: Int) { self.init(JSONNumber(whole)) }

  package init(_ number: JSONNumber) {
    let largest = Double.greatestFiniteMagnitude
    let value = min(max(Double(number.text) ?? .nan, -largest), largest)
    let isKept =
      ExpressionNumber.isShort(number.text) || JSONNumber(NumberText.coerced(value)) == number
    self = isKept ? .plain(value) : .long(LongNumber(number, near: value))
  }

  /// Reads a number as ``NumberReading`` does; NaN if the text is none.
  init(reading text: String) {
    let value = NumberReading.number(from: text)
    if value.isFinite, !ExpressionNumber.isShort(text),
      let number = JSONNumber(WhiteSpace.trimmed(text))
    {
      self.init(number)
    } else {
      self.init(value)
    }
  }

  /// Whether a `Double` holds the number for certain: any 15 digits are kept.
  private static func isShort(_ text: String) -> Bool {
    text.utf8.count <= 15 && !text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
  }

  /// The nearest finite `Double`, unless the number is NaN or infinite.
  package var value: Double {
    switch self {
    case .plain(let value): value
    case .long(let long): long.value
    }
  }

  private var long: JSONNumber? { if case .long(let long) = self { long.number } else { nil } }

  /// The number of digits, signs and points that it keeps beside its value.
  var longCount: Int { long?.text.utf8.count ?? 0 }

  package var isNaN: Bool { value.isNaN }
  package var isFinite: Bool { value.isFinite }
  var isZero: Bool { long == nil && value == 0 }

  /// The value if it is a whole number that fits `Int`.
  package var asInt: Int? { long.map(\.asInt) ?? Int(exactly: value) }

  /// The value for arithmetic; `nil` if it is too large for a `Double`.
  var inRange: Double? {
    long != nil && value.magnitude == .greatestFiniteMagnitude ? nil : value
  }

  /// The number as part of a string.
  var text: String { long?.text ?? NumberText.coerced(value) }

  /// The number in JSON; `nil` for NaN and infinities.
  var json: JSONNumber? { long ?? JSONNumber(NumberText.script(value)) }
}

/// A number of more digits than a `Double` holds; a class, because values are copied often and few are long.
package final class LongNumber: Sendable {
  let number: JSONNumber
  let value: Double

  init(_ number: JSONNumber, near value: Double) {
    self.number = number
    self.value = value
  }
}

extension ExpressionNumber: Comparable {
  package static func == (left: ExpressionNumber, right: ExpressionNumber) -> Bool {
    compare(left, right, ==, ==)
  }

  package static func < (left: ExpressionNumber, right: ExpressionNumber) -> Bool {
    compare(left, right, <, <)
  }

  private static func compare(
    _ left: ExpressionNumber, _ right: ExpressionNumber, _ values: (Double, Double) -> Bool,
    _ numbers: (JSONNumber, JSONNumber) -> Bool
  ) -> Bool {
    guard left.long != nil || right.long != nil, let one = left.json, let other = right.json
    else { return values(left.value, right.value) }
    return numbers(one, other)
  }
}

/// Arithmetic: exact for whole numbers that fit `Int`, otherwise that of `Double`.
extension ExpressionNumber {
  /// The result of a function of two numbers; `nil` if it is not finite.
  func combined(by function: ExpressionFunction, with other: ExpressionNumber) -> ExpressionNumber?
  {
    if let one = asInt, let two = other.asInt, let whole = one.combined(by: function, with: two) {
      return ExpressionNumber(whole)
    }
    guard let one = inRange, let two = other.inRange else { return nil }
    let result =
      switch function {
      case .add, .sum: one + two
      case .sub: one - two
      case .mul: one * two
      case .div: one / two
      default: one.truncatingRemainder(dividingBy: two)
      }
    return result.isFinite ? ExpressionNumber(result) : nil
  }
}

extension Int {
  /// `nil` if the result is not whole or does not fit.
  fileprivate func combined(by function: ExpressionFunction, with other: Int) -> Int? {
    let (result, overflow) =
      switch function {
      case .add, .sum: addingReportingOverflow(other)
      case .sub: subtractingReportingOverflow(other)
      case .mul: multipliedReportingOverflow(by: other)
      case .div: dividedReportingOverflow(by: other)
      default: remainderReportingOverflow(dividingBy: other)
      }
    let isWhole = function != .div || !overflow && result * other == self
    return overflow || !isWhole ? nil : result
  }
}
