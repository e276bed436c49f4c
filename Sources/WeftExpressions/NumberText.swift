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

/// Parses numbers as ECMAScript does (ECMA-262, StringToNumber).
enum NumberReading {
  /// NaN if the text is not a number; 0 if it is only white space.
  static func number(from text: String) -> Double {
    let scalars = WhiteSpace.trimmed(text).utf8
    guard let first = scalars.first else { return 0 }
    if first == UInt8(ascii: "0"), let value = prefixed(Array(scalars)) { return value }
    return decimal(Array(scalars)) ?? .nan
  }

  /// `nil` if the text is not a number, or only white space.
  static func strictNumber(from text: String) -> ExpressionNumber? {
    let number = ExpressionNumber(reading: text)
    return number.isNaN || number.isZero && WhiteSpace.trimmed(text).isEmpty ? nil : number
  }

  /// Parses `0xFF`, `0o17` and `0b11`, without a sign; `nil` if the text has no such prefix.
  private static func prefixed(_ text: [UInt8]) -> Double? {
    guard text.count > 1 else { return nil }
    let bits =
      switch text[1] | 0x20 {
      case UInt8(ascii: "x"): 4
      case UInt8(ascii: "o"): 3
      case UInt8(ascii: "b"): 1
      default: 0
      }
    guard bits > 0 else { return nil }
    return integer(text[2...], bitsPerDigit: bits) ?? .nan
  }

  /// Keeps 64 bits; nonzero digits beyond them set the last bit, so that rounding is correct.
  private static func integer(_ digits: ArraySlice<UInt8>, bitsPerDigit: Int) -> Double? {
    guard !digits.isEmpty else { return nil }
    var top: UInt64 = 0
    var shift = 0
    for digit in digits {
      guard let value = Character(Unicode.Scalar(digit)).hexDigitValue, value < 1 << bitsPerDigit
      else { return nil }
      if shift == 0, top.leadingZeroBitCount >= bitsPerDigit {
        top = top << UInt64(bitsPerDigit) | UInt64(value)
      } else {
        shift += bitsPerDigit
        if value != 0 { top |= 1 }
      }
    }
    return Double(sign: .plus, exponent: shift, significand: Double(top))
  }

  /// Parses numbers such as `-1.5e3`, `.5`, `5.` and `+Infinity`.
  private static func decimal(_ text: [UInt8]) -> Double? {
    var rest = text[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    if rest.elementsEqual("Infinity".utf8) { return isNegative ? -.infinity : .infinity }
    let whole = takeDigits(from: &rest)
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = takeDigits(from: &rest)
    }
    guard !whole.isEmpty || !fraction.isEmpty, isExponent(rest) else { return nil }
    let sign = isNegative ? "-" : ""
    return Double("\(sign)0\(string(whole)).\(string(fraction))0\(string(rest))")
  }

  private static func isExponent(_ text: ArraySlice<UInt8>) -> Bool {
    guard let mark = text.first else { return true }
    guard mark | 0x20 == UInt8(ascii: "e") else { return false }
    var rest = text.dropFirst()
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    return !takeDigits(from: &rest).isEmpty && rest.isEmpty
  }

  private static func takeDigits(from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    return digits
  }

  private static func string(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
