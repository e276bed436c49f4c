#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Strings in the layout that execve takes: NUL-terminated, in sequence.
struct CStrings: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var starts: [Int] = []
  private var longest = 0

  var count: Int { starts.count }

  /// Appends a string, which must not contain a NUL.
  mutating func append(_ string: some Sequence<UInt8>) {
    starts.append(bytes.count)
    bytes.append(contentsOf: string)
    bytes.append(0)
    longest = max(longest, length(of: count - 1))
  }

  /// Appends `name`, `separator` and `value` as one string, unless the value contains a NUL.
  ///
  /// - Returns: Whether it was appended.
  mutating func append(_ name: [UInt8], _ separator: UInt8, _ value: String) -> Bool {
    let start = bytes.count
    bytes += name
    bytes.append(separator)
    guard append(value) else {
      bytes.removeSubrange(start...)
      return false
    }
    starts[count - 1] = start
    longest = max(longest, length(of: count - 1))
    return true
  }

  /// Removes a string; later ones move up.
  mutating func remove(at index: Int) {
    let size = length(of: index) + 1
    bytes.removeSubrange(starts[index]..<starts[index] + size)
    starts.remove(at: index)
    for later in starts.indices[index...] { starts[later] -= size }
  }

  /// String `index`, without its terminator.
  subscript(index: Int) -> ArraySlice<UInt8> {
    bytes[starts[index]..<starts[index] + length(of: index)]
  }

  /// Appends a string, unless it contains a NUL.
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
      longest = max(longest, buffer.count)
      return true
    }
  }

  /// The number of bytes in string `index`, without its terminator.
  func length(of index: Int) -> Int {
    let end = index + 1 < starts.count ? starts[index + 1] : bytes.count
    return end - starts[index] - 1
  }

  /// The size that the kernel counts against its limit: the bytes, and a pointer to each string.
  var kernelBytes: Int { bytes.count + count * MemoryLayout<UnsafeRawPointer>.size }

  /// The first string that is longer than `limit`, identified by the name before its `=`.
  func variable(longerThan limit: Int) -> (name: String, size: Int)? {
    guard longest > limit, let index = (0..<count).first(where: { length(of: $0) > limit }) else {
      return nil
    }
    let name = self[index].prefix { $0 != UInt8(ascii: "=") }
    return (String(decoding: name, as: UTF8.self), length(of: index))
  }

  func kernelBytes(of index: Int) -> Int {
    length(of: index) + 1 + MemoryLayout<UnsafeRawPointer>.size
  }

  /// Passes the address of the first byte; string `n` begins at offset `starts[n]`.
  func withBase<Result>(_ body: (UnsafeMutablePointer<CChar>?) -> Result) -> Result {
    bytes.withUnsafeBytes { buffer in
      // execve's prototype is not const-correct for historical reasons (POSIX, Rationale): the strings are not
      // modified.
      body(
        UnsafeMutableRawPointer(mutating: buffer.baseAddress)?.assumingMemoryBound(to: CChar.self))
    }
  }

  /// Writes a pointer to each string into `array`, from `index` on; returns the index after the last.
  func point(
    into array: UnsafeMutableBufferPointer<CStringArray.Pointee>, at index: Int,
    from base: UnsafeMutablePointer<CChar>?
  ) -> Int {
    var next = index
    for start in starts {
      array.initializeElement(at: next, to: base.map { $0 + start })
      next += 1
    }
    return next
  }

  /// Passes all strings as execve's array, terminated by a null pointer.
  func withPointers<Result>(_ body: (CStringArray) -> Result) -> Result {
    withBase { base in
      withUnsafeTemporaryAllocation(of: CStringArray.Pointee.self, capacity: count + 1) { array in
        array.initializeElement(at: point(into: array, at: 0, from: base), to: nil)
        return body(CStringArray(array.baseAddress!))
      }
    }
  }
}

/// `char *const []`
typealias CStringArray = UnsafePointer<UnsafeMutablePointer<CChar>?>
