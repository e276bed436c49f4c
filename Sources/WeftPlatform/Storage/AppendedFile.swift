#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file to which whole records are appended, with one `write` for each: a record is written completely or, as far as
/// the system allows a partial one to be removed, not at all.
///
/// It has no lock: callers must hold one.
package struct AppendedFile: Sendable {
  package let file: Descriptor
  /// The end of the last complete record.
  package private(set) var length: Int
  /// Whether part of a record follows, because it could not be removed.
  private var isTorn = false
  private let calls: FileCalls

  /// - Parameters:
  ///   - file: Open for appending.
  ///   - length: The end of the last complete record and of the file.
  package init(_ file: Descriptor, length: Int, calls: FileCalls) {
    self.file = file
    self.length = length
    self.calls = calls
  }

  /// Appends all of the bytes; on an error, none.
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

  /// Makes appended records survive a power loss. Must not be repeated after a failure.
  package func synchronize() throws(SystemError) { try calls.synchronizeData(file) }
}
