import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bytes put aside on disk: a file without a name, which is gone with its last reference, also after a crash.
///
/// One appends while others read; each sees all that was appended before it asked.
package final class SpoolFile: Sendable {
  /// The file itself, for a program to read from the beginning: appending does not move its offset.
  package let file: Descriptor
  private let length = Mutex(0)

  /// - Parameter directory: Says on which disk; only the owner may read the file.
  package init(in directory: String = FileSystem.temporaryDirectory) throws(SystemError) {
    file = Descriptor(owning: try checked(weft_nameless_file(directory)))
  }

  package var count: Int { length.withLock { $0 } }

  /// All of `bytes` or, when that fails, none of them.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(WriteFailure) {
    // Held while writing: a reader must not see a length whose bytes are not there yet.
    try length.withLock { (length: inout sending Int) throws(WriteFailure) -> Void in
      try write(bytes, at: length)
      length += bytes.count
    }
  }

  package func append(_ bytes: [UInt8]) throws(WriteFailure) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(WriteFailure) in try append(bytes) }
    }
    try result.get()
  }

  /// What stands at `range`; less where the file ends before it.
  package func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
      do throws(SystemError) {
        while filled < range.count {
          let (start, room) = (buffer.baseAddress! + filled, range.count - filled)
          let read = try retrying {
            pread(file.number, start, room, off_t(range.lowerBound + filled))
          }
          if read == 0 { return }
          filled += read
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(WriteFailure) {
    var written = 0
    while written < bytes.count {
      let (start, room) = (bytes.baseAddress! + written, bytes.count - written)
      do {
        written += try retrying { pwrite(file.number, start, room, off_t(offset + written)) }
      } catch {
        throw WriteFailure(error)
      }
    }
  }
}
