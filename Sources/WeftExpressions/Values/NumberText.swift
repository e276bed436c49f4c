/// Formats numbers as ECMAScript does.
enum NumberText {
  /// The number as part of a string, with at most 15 decimals: `0.84551240822557006` becomes `0.84551240822557`. Whole
  /// numbers are exact.
  static func coerced(_ value: Double) -> String { script(roundedToDecimals(value)) }

  /// The shortest text that reads back as the same number (ECMA-262, Number::toString).
  static func script(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
    if value == 0 { return "0" }
    let (digits, point) = parts(of: value.magnitude)
    return (value < 0 ? "-" : "") + placed(digits, point)
  }

  /// The significant digits, without zeros at either end, and the position of the decimal point relative to the first
  /// digit.
  private static func parts(of value: Double) -> (digits: [UInt8], point: Int) {
    let text = Array(value.description.utf8)
    let mark = text.firstIndex(of: UInt8(ascii: "e")) ?? text.count
    let power = Int(String(decoding: text[mark...].dropFirst(), as: UTF8.self)) ?? 0
    let dot = text[..<mark].firstIndex(of: UInt8(ascii: ".")) ?? mark
    let all = text[..<mark].filter { $0 != UInt8(ascii: ".") }
    let zero = UInt8(ascii: "0")
    let leading = all.prefix { $0 == zero }.count
    let last = all.lastIndex { $0 != zero } ?? leading
    return (Array(all[leading...last]), dot + power - leading)
  }

  private static func placed(_ digits: [UInt8], _ point: Int) -> String {
    func text(_ digits: some Sequence<UInt8>) -> String {
      String(decoding: Array(digits), as: UTF8.self)
    }
    func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
    switch point {
    case digits.count...21 where digits.count <= 21:
      return text(digits) + zeros(point - digits.count)
    case 1...21: return text(digits[..<point]) + "." + text(digits[point...])
    case -5...0: return "0." + zeros(-point) + text(digits)
    default:
      let fraction = digits.count > 1 ? "." + text(digits[1...]) : ""
      return text(digits[..<1]) + fraction + (point > 0 ? "e+" : "e-") + "\((point - 1).magnitude)"
    }
  }

  /// Rounds as ECMA-262, Number.prototype.toFixed(15), and parses the result. From 8 on, adjacent values are further
  /// apart than the rounding, so each stays the same.
  private static func roundedToDecimals(_ value: Double) -> Double {
    let magnitude = value.magnitude
    guard magnitude < 8 else { return value }
    // The value is exactly `significand / 2^shift`.
    let shift = 52 - Int(magnitude.exponent == .min ? -1023 : magnitude.exponent)
    guard magnitude.isNormal, shift < 120 else { return 0 }
    let significand = UInt128(magnitude.significandBitPattern | 1 << 52)
    let half = UInt128(1) << UInt128(shift - 1)
    let units = (significand * 1_000_000_000_000_000 + half) >> UInt128(shift)
    let rounded = Double("\(units)e-15") ?? magnitude
    return value < 0 ? -rounded : rounded
  }
}
