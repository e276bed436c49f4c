import Synchronization
package import WeftEncoding
package import WeftPlatform

/// Hashes of files that were read before, so that unchanged files need not be read again.
///
/// A file counts as unchanged if its ``FileStamp`` is. A file modified shortly before it was read is not remembered,
/// because it could be written again within the same tick of the file system's clock (git calls this racy).
package final class FileMemory: Sendable {
  struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  struct Known {
    var size: Int64
    var modified: Int64
    var changed: Int64
    var digest: [UInt8]
    /// Seconds since 1970.
    var lastUse: Int64
  }

  struct State {
    var known: [Identity: Known] = [:]
    var isChanged = false
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Int64

  /// The coarsest timestamp resolution of a file system: that of FAT, in nanoseconds.
  static let tick: Int64 = 2_000_000_000

  /// - Parameters:
  ///   - bytes: The result of ``bytes()``; anything else counts as empty.
  ///   - now: Returns nanoseconds since 1970.
  package init(_ bytes: [UInt8] = [], now: @escaping @Sendable () -> Int64) {
    self.now = now
    state = Mutex(State(known: FileMemory.read(bytes)))
  }

  /// Returns the hash of a file that has not changed since it was read; `nil` if it must be read.
  package func digest(of stamp: FileStamp) -> SHA256.Digest? {
    let now = now() / 1_000_000_000
    return state.withLock { state in
      let identity = Identity(stamp)
      guard var known = state.known[identity], known.size == stamp.size,
        known.modified == stamp.modified, known.changed == stamp.changed
      else { return nil }
      if known.lastUse != now {
        known.lastUse = now
        state.known[identity] = known
      }
      return known.digest
    }
  }

  /// The time before a file is read, for ``learn(_:_:readAt:)``.
  package var moment: Int64 { now() }

  /// Remembers the hash of a file.
  ///
  /// - Parameter moment: A time before its first byte was read.
  package func learn(_ stamp: FileStamp, _ digest: SHA256.Digest, readAt moment: Int64) {
    guard max(stamp.modified, stamp.changed) < moment - FileMemory.tick else { return }
    state.withLock { state in
      state.known[Identity(stamp)] = Known(
        size: stamp.size, modified: stamp.modified, changed: stamp.changed, digest: digest,
        lastUse: moment / 1_000_000_000)
      state.isChanged = true
    }
  }

  /// Returns the content to save; `nil` if it has not changed.
  package func bytes() -> [UInt8]? {
    let known = state.withLock { state in
      defer { state.isChanged = false }
      return state.isChanged ? state.known : nil
    }
    return known.map(FileMemory.written)
  }
}

extension FileMemory.Identity {
  fileprivate init(_ stamp: FileStamp) { self.init(device: stamp.device, inode: stamp.inode) }
}

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
