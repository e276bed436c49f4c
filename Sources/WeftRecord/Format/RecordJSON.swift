import WeftEncoding
package import WeftEvents
import WeftJSON
import WeftPlatform

/// Writes records as lines: each is the event as ``EventJSON`` writes it, with the record's number instead of the
/// event's, followed by the CRC-32C of all bytes before the `crc` member.
///
///     {"n":3,"at":"2026-11-20T23:36:05.123Z","type":"step.started","step":"a","attempt":1,"crc":"5f0c1e42"}
package struct RecordJSON: Sendable {
  private var json: EventJSON
  /// The size of the last line, including its newline.
  package var lineBytes: Int { json.writer.count }

  /// - Parameter start: The origin of elapsed times.
  package init(version: String, startedAt start: WallTime) {
    json = EventJSON(version: version, isJournal: true)
    json.clock.start(at: start)
  }

  /// Passes the bytes of a record's line, including its newline, to `body`.
  package mutating func withLine<Result, Failure: Error>(
    of kind: RunRecord.Kind, _ number: UInt64, after elapsed: Duration,
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    assert(RunRecord.Kind.isReadable(kind.type), "readers do not know \(kind.type)")
    json.writer.removeAll()
    json.begin(kind.type, number, after: elapsed)
    json.write(kind)
    let checksum = json.writer.withBytes(Checksum.crc32c)
    json.writer.member("crc", RecordLine.digits(of: checksum))
    json.endLine()
    let result = json.writer.withBytes { bytes in
      Swift.Result { () throws(Failure) in try body(bytes) }
    }
    return try result.get()
  }
}

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
    let checksum = text.withUnsafeBytes { Checksum.crc32c($0) }
    return Array("crc32c \(RecordLine.digits(of: checksum))\n".utf8)
  }

  private static let lineLength = 16
}
