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
