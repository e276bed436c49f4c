import WeftPlatform

/// The file format: a line that names the format, 80 bytes for each file, and a checksum of all that.
extension FileMemory {
  private static let heading = Array("weft file memory 1\n".utf8)
  private static let recordBytes = 6 * 8 + 32
  /// The maximum number of files; the least recently used ones are dropped.
  static let limit = 200_000

  static func written(_ known: [Identity: Known]) -> [UInt8] {
    let recent = known.sorted { $0.value.lastUse > $1.value.lastUse }.prefix(limit)
    var bytes = heading
    bytes.reserveCapacity(heading.count + recent.count * recordBytes + 4)
    for (identity, file) in recent {
      append(identity.device, to: &bytes)
      append(identity.inode, to: &bytes)
      for number in [file.size, file.modified, file.changed, file.lastUse] {
        append(UInt64(bitPattern: number), to: &bytes)
      }
      bytes += file.digest
    }
    let checksum = bytes.withUnsafeBytes { Checksum.crc32c($0) }
    append(UInt64(checksum), to: &bytes)
    return bytes
  }

  /// Returns nothing if the bytes are damaged or in another format.
  static func read(_ bytes: [UInt8]) -> [Identity: Known] {
    let length = bytes.count - heading.count - 8
    guard length >= 0, length % recordBytes == 0, bytes.starts(with: heading) else { return [:] }
    let checksum = bytes.withUnsafeBytes {
      Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0.dropLast(8)))
    }
    guard number(in: bytes, at: bytes.count - 8) == UInt64(checksum) else { return [:] }
    var known: [Identity: Known] = [:]
    known.reserveCapacity(length / recordBytes)
    for start in stride(from: heading.count, to: bytes.count - 8, by: recordBytes) {
      let numbers = (0..<6).map { number(in: bytes, at: start + $0 * 8) }
      let signed = numbers[2...].map { Int64(bitPattern: $0) }
      known[Identity(device: numbers[0], inode: numbers[1])] = Known(
        size: signed[0], modified: signed[1], changed: signed[2],
        digest: Array(bytes[(start + 48)..<(start + recordBytes)]), lastUse: signed[3])
    }
    return known
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift)))) }
  }

  private static func number(in bytes: [UInt8], at offset: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
  }
}
