#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file to which whole records are appended, one `write` for each: a record is there whole, or not at all
/// as far as the system lets the part of it be taken away again.
///
/// It has no lock: whoever appends has one.
package struct AppendedFile: Sendable {
  package let file: Descriptor
  /// Where the last whole record ends.
  package private(set) var length: Int
  /// Whether a part of a record stands behind that, because it could not be taken away.
  private var isTorn = false
  private let calls: FileCalls

  /// - Parameters:
  ///   - file: Open for appending.
  ///   - length: Where the last whole record ends, and the file with it.
  package init(_ file: Descriptor, length: Int, calls: FileCalls) {
    self.file = file
    self.length = length
    self.calls = calls
  }

  /// Appends all of it; or nothing, and says why.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    if isTorn { try takeBack() }
    var left = bytes
    do throws(SystemError) {
      while !left.isEmpty {
        let count = try calls.write(file, left)
        left = UnsafeRawBufferPointer(rebasing: left.dropFirst(count))
      }
    } catch {
      if left.count < bytes.count {
        isTorn = true
        try? takeBack()
      }
      throw error
    }
    length += bytes.count
  }

  private mutating func takeBack() throws(SystemError) {
    try calls.truncate(file, to: length)
    isTorn = false
  }

  /// Makes what was appended survive a loss of power. What fails is not to be tried again.
  package func synchronize() throws(SystemError) { try calls.synchronizeData(file) }
}
