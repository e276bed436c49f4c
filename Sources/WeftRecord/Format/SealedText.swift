import WeftEncoding
import WeftPlatform

/// Text whose last line, `crc32c 9f3a01c7`, is a checksum of all before it.
///
/// Derived files end with it: one that is damaged, cut or foreign is treated as missing.
enum SealedText {
  /// Appends the checksum.
  static func seal(_ bytes: inout [UInt8]) {
    bytes += line(for: bytes[...])
  }

  /// Returns the text before the checksum.
  ///
  /// - Returns: `nil` if the checksum is wrong or missing.
  static func text(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let end = bytes.count - lineLength
    guard end >= 0, bytes[end...].elementsEqual(line(for: bytes[..<end])) else { return nil }
    return bytes[..<end]
  }

  private static func line(for text: ArraySlice<UInt8>) -> [UInt8] {
    let digits = String(text.withUnsafeBytes { Checksum.crc32c($0) }, radix: 16)
    return Array("crc32c \(String(repeating: "0", count: 8 - digits.count))\(digits)\n".utf8)
  }

  private static let lineLength = 16
}
