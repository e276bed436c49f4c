#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Strings laid out as execve takes them: NUL-terminated, one after another.
struct CStrings: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var starts: [Int] = []

  var count: Int { starts.count }

  /// The caller has made sure that there is no NUL in it.
  mutating func append(_ string: some Sequence<UInt8>) {
    starts.append(bytes.count)
    bytes.append(contentsOf: string)
    bytes.append(0)
  }

  /// Appends a string, unless there is a NUL in it.
  ///
  /// - Returns: Whether it was appended.
  mutating func append(_ string: String) -> Bool {
    var string = string
    return string.withUTF8 { buffer in
      guard buffer.isEmpty || memchr(buffer.baseAddress!, 0, buffer.count) == nil else {
        return false
      }
      starts.append(bytes.count)
      bytes.append(contentsOf: buffer)
      bytes.append(0)
      return true
    }
  }

  /// Bytes of string `index`, without its terminator.
  func length(of index: Int) -> Int {
    let end = index + 1 < starts.count ? starts[index + 1] : bytes.count
    return end - starts[index] - 1
  }

  /// What the kernel counts against its limit: the bytes, and a pointer to each string.
  var kernelBytes: Int { bytes.count + count * MemoryLayout<UnsafeRawPointer>.size }

  func kernelBytes(of index: Int) -> Int {
    length(of: index) + 1 + MemoryLayout<UnsafeRawPointer>.size
  }

  /// The address of the first byte; string `n` stands at `starts[n]`.
  func withBase<Result>(_ body: (UnsafeMutablePointer<CChar>?) -> Result) -> Result {
    bytes.withUnsafeBytes { buffer in
      // execve's prototype is not const-correct for historical reasons (POSIX, Rationale): nothing writes.
      body(
        UnsafeMutableRawPointer(mutating: buffer.baseAddress)?.assumingMemoryBound(to: CChar.self))
    }
  }

  /// All of them as execve's array, ended by a null pointer.
  func withPointers<Result>(_ body: (CStringArray) -> Result) -> Result {
    withBase { base in
      withUnsafeTemporaryAllocation(of: CStringArray.Pointee.self, capacity: count + 1) { array in
        for (index, start) in starts.enumerated() {
          array.initializeElement(at: index, to: base.map { $0 + start })
        }
        array.initializeElement(at: count, to: nil)
        return body(CStringArray(array.baseAddress!))
      }
    }
  }
}

/// `char *const []`
typealias CStringArray = UnsafePointer<UnsafeMutablePointer<CChar>?>
