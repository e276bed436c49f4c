/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func text(of bytes: some Collection<UInt8>) -> String {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes[...]
    while !rest.isEmpty {
      let group = rest.prefix(3)
      rest = rest.dropFirst(3)
      appendGroup(Array(group), to: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Encodes one to three bytes as four digits, padded with `=`.
  private static func appendGroup(_ group: [UInt8], to result: inout [UInt8]) {
    let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[$1]) : 0) }
    for digit in 0..<4 {
      let isPadding = digit > group.count
      result.append(
        isPadding ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * digit) & 0x3F])
    }
  }

  /// The value of each digit; 0xFF for other bytes.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// Returns the bytes; `nil` if the text is not Base64 with padding.
  package static func bytes(of text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 4) else { return nil }
    let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var result: [UInt8] = []
    result.reserveCapacity(digits.count / 4 * 3)
    for start in stride(from: 0, to: digits.count, by: 4) {
      let left = start + 4 == digits.count ? padding : 0
      var bits = 0
      for digit in digits[start..<(start + 4 - left)] {
        let value = values[Int(digit)]
        guard value < 64 else { return nil }
        bits = bits << 6 | Int(value)
      }
      bits <<= 6 * left
      for byte in 0..<(3 - left) { result.append(UInt8(bits >> (16 - 8 * byte) & 0xFF)) }
    }
    return result
  }
}
