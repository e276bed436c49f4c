/// A JSON number, exactly as written.
///
/// Numbers are equal if their exact values are: `1.0`, `1e0` and `1` are one number, and `9007199254740993` is not
/// `9007199254740992`. `0` and `-0` are equal.
public struct JSONNumber: Sendable {
  /// The number by the grammar of RFC 8259 §6.
  public let text: String

  /// `nil` if the text is not a JSON number.
  public init?(_ text: String) {
    guard JSONDecimal(text) != nil else { return nil }
    self.text = text
  }

  public init(_ value: some BinaryInteger) { text = String(value) }

  /// The shortest text that reads back as the same `Double`; `nil` for infinities and NaN.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    text = JSONNumber.text(of: value)
  }

  /// Takes text that the parser has already checked.
  init(checked text: String) { self.text = text }

  /// The value if it is a whole number that fits `Int`, however it is written (`1e2`, `5.0`).
  public var asInt: Int? { try? integer() }

  /// The nearest `Double`; `nil` if it would be infinite, or zero for a nonzero number.
  public var asDouble: Double? { try? double() }

  /// The value as an integer.
  ///
  /// - Throws: ``Misfit/notInteger`` or ``Misfit/outOfRange``; it never rounds.
  public func integer<Integer: FixedWidthInteger>(
    as type: Integer.Type = Int.self
  ) throws(Misfit) -> Integer {
    if let value = Integer(text) { return value }
    guard let decimal = JSONDecimal(text), decimal.exponent >= 0 else { throw .notInteger }
    guard decimal.exponent <= 40, decimal.digits.count + decimal.exponent <= 40 else {
      throw .outOfRange
    }
    let digits = decimal.digits + String(repeating: "0", count: decimal.exponent)
    guard let value = Integer((decimal.isNegative ? "-" : "") + digits) else { throw .outOfRange }
    return value
  }

  /// The value as a `Double`, rounded to nearest as in IEEE 754.
  ///
  /// - Throws: ``Misfit/outOfRange`` for `1e400`, and for `1e-400`, which would become zero.
  public func double() throws(Misfit) -> Double {
    guard let value = Double(text), value.isFinite else { throw .outOfRange }
    guard value != 0 || JSONDecimal(text)?.digits == "0" else { throw .outOfRange }
    return value
  }

  /// The reason why a number does not fit a type.
  public enum Misfit: Error, Sendable, Hashable {
    case notInteger
    case outOfRange
  }

  static func text(of value: Double) -> String {
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

extension JSONNumber: Hashable {
  public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
    left.text == right.text || JSONDecimal(left.text) == JSONDecimal(right.text)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(JSONDecimal(text)) }
}

extension JSONNumber: CustomStringConvertible, ExpressibleByIntegerLiteral {
  public var description: String { text }

  public init(integerLiteral value: Int) { self.init(value) }
}
