import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system calls that store files, replaceable so that a test can make any of them fail. ``Directory`` makes those
/// that name an entry.
package struct FileCalls: Sendable {
  package enum Call: Sendable, Hashable, CaseIterable {
    case open, makeDirectory, write, truncate, synchronize, reserve, rename, remove, lock
  }

  /// The result of a call that a test replaces.
  package enum Answer: Sendable {
    case error(SystemError)
    /// For `write`: the maximum number of bytes to take.
    case short(Int)
  }

  /// Consulted before each call; `nil` passes the call to the system.
  private let answer: (@Sendable (Call) -> Answer?)?

  /// The calls of the system, unchanged.
  package static let system = FileCalls(answer: nil)

  package init(answer: (@Sendable (Call) -> Answer?)?) {
    self.answer = answer
  }

  /// - Returns: The number of bytes written; at least one.
  func write(_ file: Descriptor, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    var bytes = bytes
    switch answer?(.write) {
    case .error(let error)?: throw error
    case .short(let count)?: bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
    case nil: break
    }
    while true {
      let count = writeOnce(file.number, bytes.baseAddress, bytes.count)
      if count > 0 { return count }
      // A regular file that takes no bytes, without an error, has no space.
      if count == 0 { throw .noSpace }
      let error = SystemError.last
      if error != .interrupted { throw error }
    }
  }

  func truncate(_ file: Descriptor, to length: Int) throws(SystemError) {
    try refuse(.truncate)
    _ = try retrying { ftruncate(file.number, off_t(length)) }
  }

  /// Makes the data written survive a power loss. A failure is final: the system does not retry lost writes, and a
  /// second call would succeed.
  func synchronizeData(_ file: Descriptor) throws(SystemError) {
    try refuse(.synchronize)
    _ = try checked(weft_synchronize_data(file.number))
  }

  /// Makes the names in a directory survive a power loss, as ``synchronizeData(_:)`` does for a file's data.
  func synchronize(_ file: Descriptor) throws(SystemError) {
    try refuse(.synchronize)
    _ = try retrying { fsync(file.number) }
  }

  func reserve(_ bytes: Int, in file: Descriptor) throws(SystemError) {
    try refuse(.reserve)
    _ = try checked(weft_reserve(file.number, Int64(bytes)))
  }

  /// Takes a file's lock, which ends with this process or the descriptor. The file must be open for writing.
  ///
  /// - Returns: False if it is held elsewhere.
  package func takeLock(_ file: Descriptor) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try refuse(.lock)
      _ = try checked(weft_lock(file.number))
      return true
    } catch {
      guard error == .wouldBlock else { throw error }
      return false
    }
  }

  /// Releases a file's lock.
  package func releaseLock(_ file: Descriptor) { weft_unlock(file.number) }

  /// Whether a file's lock is held elsewhere. Does not take it.
  package func isLocked(_ file: Descriptor) throws(SystemError) -> Bool {
    try checked(weft_is_locked(file.number)) == 1
  }

  /// Replaces the content of a file with a short text.
  package func replace(_ file: Descriptor, with bytes: [UInt8]) throws(SystemError) {
    try truncate(file, to: 0)
    try writeAll(file, bytes)
  }

  /// Appends the bytes after an offset of one file to another, so that they survive a power loss.
  package func copy(
    _ file: Descriptor, from start: Int, to other: Descriptor
  ) throws(SystemError) {
    var offset = start
    while true {
      let piece = try file.piece(at: offset, atMost: 1 << 20)
      if piece.isEmpty { break }
      try writeAll(other, piece)
      offset += piece.count
    }
    try synchronizeData(other)
  }

  /// Truncates a file, so that this survives a power loss.
  package func cut(_ file: Descriptor, to length: Int) throws(SystemError) {
    try truncate(file, to: length)
    try synchronize(file)
  }

  func writeAll(_ file: Descriptor, _ bytes: [UInt8]) throws(SystemError) {
    try bytes.withRawBytes { (bytes) throws(SystemError) in try writeAll(file, bytes) }
  }

  func writeAll(_ file: Descriptor, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var left = bytes
    while !left.isEmpty {
      left = UnsafeRawBufferPointer(rebasing: left.dropFirst(try write(file, left)))
    }
  }

  func refuse(_ call: Call) throws(SystemError) {
    if case .error(let error)? = answer?(call) { throw error }
  }
}

/// `write(2)`, under a name that the method `write` does not hide.
private func writeOnce(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
