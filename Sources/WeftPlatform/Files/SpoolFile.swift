import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bytes buffered on disk, in a file without a name, which is deleted with its last reference, even after a crash.
///
/// One thread appends while others read; each reader sees all bytes appended before its call.
package final class SpoolFile: Sendable {
  /// The file itself, for a program to read from the beginning: appending does not move its offset.
  package let file: Descriptor
  private let length = Mutex(0)

  /// - Parameter directory: Selects the disk; only the owner may read the file.
  package init(in directory: String = FileSystem.temporaryDirectory) throws(SystemError) {
    file = Descriptor(owning: try checked(weft_nameless_file(directory)))
  }

  package var count: Int { length.withLock { $0 } }

  /// Appends all of `bytes` or, on failure, none of them.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(WriteError) {
    // Locked while writing: a reader must not see a length whose bytes are not written yet.
    try length.withLock { (length: inout sending Int) throws(WriteError) -> Void in
      try write(bytes, at: length)
      length += bytes.count
    }
  }

  package func append(_ bytes: [UInt8]) throws(WriteError) {
    try bytes.withRawBytes { (bytes) throws(WriteError) in try append(bytes) }
  }

  /// The bytes at `range`; fewer if the file ends before its end.
  package func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    return try file.piece(at: range.lowerBound, atMost: range.count)
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(WriteError) {
    var written = 0
    while written < bytes.count {
      let (start, room) = (bytes.baseAddress! + written, bytes.count - written)
      do {
        written += try retrying { pwrite(file.number, start, room, off_t(offset + written)) }
      } catch {
        throw WriteError(error)
      }
    }
  }
}
