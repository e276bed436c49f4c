/// Parses numbers as ECMAScript does (ECMA-262, StringToNumber).
enum NumberReading {
  /// NaN if the text is not a number; 0 if it is only white space.
  static func number(from text: String) -> Double {
    let scalars = WhiteSpace.trimmed(text).utf8
    guard let first = scalars.first else { return 0 }
    if first == UInt8(ascii: "0"), let value = prefixed(Array(scalars)) { return value }
    return decimal(Array(scalars)) ?? .nan
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

/// White space as ECMAScript defines it: Unicode's, plus the byte order mark, without U+0085.
enum WhiteSpace {
  static func isWhiteSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar == " " || (0x09...0x0D).contains(scalar.value) }
    return scalar == "\u{FEFF}" || scalar.properties.isWhitespace && scalar != "\u{85}"
  }

  static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isWhiteSpace($0) }),
      let last = scalars.lastIndex(where: { !isWhiteSpace($0) })
    else { return "" }
    return String(scalars[first...last])
  }
}
