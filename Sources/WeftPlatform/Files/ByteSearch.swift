#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Searches for a byte as fast as the C library does (`memchr`: 16 to 32 bytes at a time).
extension UnsafeRawBufferPointer {
  /// The offset of the first `byte` at or after `start`.
  package func offset(of byte: UInt8, from start: Int = 0) -> Int? {
    guard start < count, let base = baseAddress else { return nil }
    guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }
}

extension ArraySlice<UInt8> {
  /// The index of the first `byte`.
  package func index(of byte: UInt8) -> Int? {
    withUnsafeBytes { $0.offset(of: byte) }.map { startIndex + $0 }
  }
}
