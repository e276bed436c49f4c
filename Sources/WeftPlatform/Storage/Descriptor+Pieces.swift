#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Descriptor {
  /// The bytes at an offset of a file; fewer than `count` only at its end.
  package func piece(at offset: Int, atMost count: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        while filled < count {
          let (start, room) = (buffer.baseAddress! + filled, count - filled)
          let read = try retrying { pread(number, start, room, off_t(offset + filled)) }
          if read == 0 { return }
          filled += read
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  /// The length of a file.
  package func byteCount() throws(SystemError) -> Int {
    var status = stat()
    _ = try retrying { fstat(number, &status) }
    return Int(status.st_size)
  }
}
