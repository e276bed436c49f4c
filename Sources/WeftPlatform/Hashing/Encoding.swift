import CWeftPlatform

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

  /// Returns the bytes; `nil` if the text is not Base64 with padding.
  package static func bytes(of text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 4) else { return nil }
    var result: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 4) {
      let isLast = start + 4 == digits.count
      let padding =
        isLast ? digits[start...].reversed().prefix { $0 == UInt8(ascii: "=") }.count : 0
      var bits = 0
      for digit in digits[start..<(start + 4 - padding)] {
        guard let value = alphabet.firstIndex(of: digit) else { return nil }
        bits = bits << 6 | value
      }
      guard padding < 3 else { return nil }
      bits <<= 6 * padding
      result += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
      result.removeLast(padding)
    }
    return result
  }
}

/// CRC-32C (Castagnoli), as in iSCSI (RFC 3720, appendix B.4), with the processor's instruction if there is one.
package enum Checksum {
  package static func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    weft_crc32c(0, bytes.baseAddress, bytes.count)
  }

  /// The computation that works on every processor.
  static func crc32cByTable(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    weft_crc32c_by_table(0, bytes.baseAddress, bytes.count)
  }
}
