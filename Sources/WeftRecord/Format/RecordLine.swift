import WeftPlatform

/// A line of a journal, checked before its content is trusted.
package enum RecordLine {
  /// The length of `,"crc":"` + 8 digits + `"}`.
  static let tailBytes = 18
  private static let tailStart = Array(",\"crc\":\"".utf8)
  private static let tailEnd = Array("\"}".utf8)
  private static let hexDigits = Array("0123456789abcdef".utf8)

  static func digits(of checksum: UInt32) -> String {
    String(unsafeUninitializedCapacity: 8) { buffer in
      for place in 0..<8 {
        buffer[place] = hexDigits[Int(checksum >> (28 - 4 * UInt32(place)) & 0xF)]
      }
      return 8
    }
  }

  /// Whether a line, without its newline, is unchanged.
  package static func isWhole(_ line: UnsafeRawBufferPointer) -> Bool {
    guard line.count > tailBytes else { return false }
    let body = UnsafeRawBufferPointer(rebasing: line[..<(line.count - tailBytes)])
    guard let reported = checksum(inTail: line[(line.count - tailBytes)...]) else { return false }
    return Checksum.crc32c(body) == reported
  }

  private static func checksum(inTail tail: Slice<UnsafeRawBufferPointer>) -> UInt32? {
    guard tail.starts(with: tailStart), tail.suffix(2).elementsEqual(tailEnd) else { return nil }
    var value: UInt32 = 0
    for byte in tail.dropFirst(tailStart.count).prefix(8) {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - 0x57)
      default: return nil
      }
    }
    return value
  }
}
