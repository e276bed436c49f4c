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

extension JSONNumber: Comparable {
  /// Compares exact values.
  public static func < (left: JSONNumber, right: JSONNumber) -> Bool {
    guard let left = JSONDecimal(left.text), let right = JSONDecimal(right.text) else {
      preconditionFailure("a JSON number holds none")
    }
    return left < right
  }
}

extension JSONNumber {
  /// Whether the value is a whole number, however it is written: `5.0` and `1e2` are whole.
  public var isWhole: Bool { (JSONDecimal(text)?.exponent ?? -1) >= 0 }

  /// The maximum number of significant digits in a divisor of ``isMultiple(of:)``.
  package static let longestDivisor = 18

  /// Whether the exact division has no remainder: `0.3` is a multiple of `0.1`.
  ///
  /// - Returns: `nil` if the divisor is not greater than zero, or has more than ``longestDivisor`` significant digits.
  package func isMultiple(of divisor: JSONNumber) -> Bool? {
    guard let number = JSONDecimal(text), let divisor = JSONDecimal(divisor.text) else {
      return nil
    }
    return number.isMultiple(of: divisor)
  }

  /// The exact product with a whole number; `nil` if its digits are more than those of a word.
  package func times(_ factor: Int) -> JSONNumber? {
    guard let number = JSONDecimal(text), abs(number.exponent) <= JSONNumber.longestDivisor,
      let digits = Int(number.digits)
    else { return nil }
    let (product, overflow) = digits.multipliedReportingOverflow(by: factor)
    guard !overflow else { return nil }
    let isNegative = number.isNegative != (product < 0) && product != 0
    var whole = String(product.magnitude)
    if number.exponent >= 0 {
      if product != 0 { whole += String(repeating: "0", count: number.exponent) }
    } else {
      let places = -number.exponent
      whole = String(repeating: "0", count: max(0, places + 1 - whole.utf8.count)) + whole
      var fraction = String(whole.suffix(places))
      while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
      whole = whole.dropLast(places) + (fraction.isEmpty ? "" : "." + fraction)
    }
    return JSONNumber((isNegative ? "-" : "") + whole)
  }
}

extension JSONDecimal {
  static func < (left: JSONDecimal, right: JSONDecimal) -> Bool {
    let (leftSign, rightSign) = (left.sign, right.sign)
    guard leftSign == rightSign else { return leftSign < rightSign }
    guard leftSign != 0 else { return false }
    return leftSign > 0 ? left.isSmaller(than: right) : right.isSmaller(than: left)
  }

  private var sign: Int { digits == "0" ? 0 : isNegative ? -1 : 1 }

  /// Compares magnitudes; neither is zero.
  private func isSmaller(than other: JSONDecimal) -> Bool {
    let (mine, others) = (digits.utf8.count + exponent, other.digits.utf8.count + other.exponent)
    return mine == others ? digits.utf8.lexicographicallyPrecedes(other.digits.utf8) : mine < others
  }

  fileprivate func isMultiple(of divisor: JSONDecimal) -> Bool? {
    guard divisor.sign > 0, divisor.digits.utf8.count <= JSONNumber.longestDivisor,
      let modulus = UInt64(divisor.digits)
    else { return nil }
    if sign == 0 { return true }
    // Neither ends in a zero, so a multiple cannot end further right than the divisor.
    guard exponent >= divisor.exponent else { return false }
    let remainder = digits.utf8.reduce(UInt64(0)) { remainder, digit in
      (remainder.multiplied(by: 10, modulo: modulus) + UInt64(digit - UInt8(ascii: "0"))) % modulus
    }
    let shift = UInt64(10 % modulus).raised(to: exponent - divisor.exponent, modulo: modulus)
    return remainder.multiplied(by: shift, modulo: modulus) == 0
  }
}

extension UInt64 {
  fileprivate func multiplied(by factor: UInt64, modulo modulus: UInt64) -> UInt64 {
    let product = (self % modulus).multipliedFullWidth(by: factor % modulus)
    return modulus.dividingFullWidth(product).remainder
  }

  /// Raises by repeated squaring.
  fileprivate func raised(to power: Int, modulo modulus: UInt64) -> UInt64 {
    var (result, square, power) = (1 % modulus, self % modulus, power)
    while power > 0 {
      if power & 1 == 1 { result = result.multiplied(by: square, modulo: modulus) }
      square = square.multiplied(by: square, modulo: modulus)
      power >>= 1
    }
    return result
  }
}

/// A decimal number in normal form: `digits × 10^exponent`, with no zeros at either end of the digits. Zero is `0 ×
/// 10^0` and has no sign.
struct JSONDecimal: Hashable {
  private(set) var isNegative = false
  private(set) var digits = "0"
  private(set) var exponent = 0

  /// `nil` unless the text is a number by RFC 8259 §6. Larger exponents are capped at 10^12.
  init?(_ text: String) {
    var rest = text.utf8[...]
    let hasSign = JSONDecimal.take(UInt8(ascii: "-"), from: &rest)
    let whole = JSONDecimal.takeDigits(from: &rest)
    guard let first = whole.first, whole.count == 1 || first != UInt8(ascii: "0") else {
      return nil
    }
    var fraction = rest.prefix(0)
    if JSONDecimal.take(UInt8(ascii: "."), from: &rest) {
      fraction = JSONDecimal.takeDigits(from: &rest)
      guard !fraction.isEmpty else { return nil }
    }
    guard let power = JSONDecimal.takeExponent(from: &rest), rest.isEmpty else { return nil }
    settle(Array(whole) + Array(fraction), power - fraction.count, hasSign)
  }

  private mutating func settle(_ all: [UInt8], _ power: Int, _ hasSign: Bool) {
    let zero = UInt8(ascii: "0")
    let significant = all.drop { $0 == zero }
    guard let last = significant.lastIndex(where: { $0 != zero }) else { return }
    digits = String(decoding: significant[...last], as: UTF8.self)
    exponent = power + (significant.endIndex - 1 - last)
    isNegative = hasSign
  }

  private static func takeExponent(from rest: inout Substring.UTF8View) -> Int? {
    guard take(UInt8(ascii: "e"), from: &rest) || take(UInt8(ascii: "E"), from: &rest) else {
      return 0
    }
    let isNegative = take(UInt8(ascii: "-"), from: &rest)
    if !isNegative { _ = take(UInt8(ascii: "+"), from: &rest) }
    let digits = takeDigits(from: &rest)
    guard !digits.isEmpty else { return nil }
    let limit = 1_000_000_000_000
    let value = digits.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), limit) }
    return isNegative ? -value : value
  }

  private static func takeDigits(from rest: inout Substring.UTF8View) -> Substring.UTF8View {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    return digits
  }

  private static func take(_ byte: UInt8, from rest: inout Substring.UTF8View) -> Bool {
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }
}
