import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system calls by which something is kept on disk, so that a test can have any one of them fail.
package struct FileCalls: Sendable {
  package enum Call: Sendable, Hashable, CaseIterable {
    case open, makeDirectory, write, truncate, synchronize, reserve, rename, remove, lock
  }

  /// What a test has a call answer.
  package enum Answer: Sendable {
    case error(SystemError)
    /// Of `write`: so many bytes are taken at most.
    case short(Int)
  }

  /// Asked before each call; `nil` leaves it to the system.
  private let answer: (@Sendable (Call) -> Answer?)?

  /// The system's own.
  package static let system = FileCalls(answer: nil)

  package init(answer: (@Sendable (Call) -> Answer?)?) {
    self.answer = answer
  }

  /// - Returns: How many bytes were taken; at least one.
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
      // A regular file that takes nothing, and says nothing, has no room.
      if count == 0 { throw .noSpace }
      let error = SystemError.last
      if error != .interrupted { throw error }
    }
  }

  func truncate(_ file: Descriptor, to length: Int) throws(SystemError) {
    try refuse(.truncate)
    _ = try retrying { ftruncate(file.number, off_t(length)) }
  }

  /// Makes what was written survive a loss of power. A failure is final: what was not written is not
  /// tried again by the system, and a second call would succeed.
  func synchronizeData(_ file: Descriptor) throws(SystemError) {
    try refuse(.synchronize)
    _ = try checked(weft_synchronize_data(file.number))
  }

  /// The same for a directory: for the names in it.
  func synchronize(_ file: Descriptor) throws(SystemError) {
    try refuse(.synchronize)
    _ = try retrying { fsync(file.number) }
  }

  func reserve(_ bytes: Int, in file: Descriptor) throws(SystemError) {
    try refuse(.reserve)
    _ = try checked(weft_reserve(file.number, Int64(bytes)))
  }

  /// Takes a file's lock, which ends with this process or the descriptor. The file is open for writing.
  ///
  /// - Returns: False if somebody else has it.
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

  /// Gives a file's lock back.
  package func releaseLock(_ file: Descriptor) { weft_unlock(file.number) }

  /// Whether somebody has a file's lock. It is not taken to know that.
  package func isLocked(_ file: Descriptor) throws(SystemError) -> Bool {
    try checked(weft_is_locked(file.number)) == 1
  }

  /// Writes a short text over all that a file holds.
  package func replace(_ file: Descriptor, with bytes: [UInt8]) throws(SystemError) {
    try truncate(file, to: 0)
    try writeAll(file, bytes)
  }

  /// Appends what stands behind an offset of one file to another, safe from a loss of power.
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

  /// Cuts a file, safe from a loss of power.
  package func cut(_ file: Descriptor, to length: Int) throws(SystemError) {
    try truncate(file, to: length)
    try synchronize(file)
  }

  func writeAll(_ file: Descriptor, _ bytes: [UInt8]) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in
          try write(file, UnsafeRawBufferPointer(rebasing: bytes[written...]))
        }
      }
      written += try result.get()
    }
  }

  func open(
    _ name: String, in directory: Int32, _ flags: Int32, mode: mode_t = 0
  ) throws(SystemError) -> Descriptor {
    try refuse(.open)
    guard !name.utf8.contains(0) else { throw .invalid }
    let number = try retrying {
      openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, mode)
    }
    return Descriptor(owning: number)
  }

  func makeDirectory(_ name: String, in directory: Int32) throws(SystemError) {
    try refuse(.makeDirectory)
    guard !name.utf8.contains(0) else { throw .invalid }
    _ = try retrying { mkdirat(directory, name, 0o700) }
  }

  func rename(_ name: String, to other: String, in directory: Descriptor) throws(SystemError) {
    try rename(name, in: directory, to: other, in: directory)
  }

  func rename(
    _ name: String, in directory: Descriptor, to other: String, in target: Descriptor
  ) throws(SystemError) {
    try refuse(.rename)
    _ = try retrying { renameat(directory.number, name, target.number, other) }
  }

  func remove(
    _ name: String, in directory: Descriptor, isDirectory: Bool = false
  ) throws(SystemError) {
    try refuse(.remove)
    _ = try retrying { unlinkat(directory.number, name, isDirectory ? AT_REMOVEDIR : 0) }
  }

  private func refuse(_ call: Call) throws(SystemError) {
    if case .error(let error)? = answer?(call) { throw error }
  }
}

/// `write(2)`, by a name that the method of that name does not hide.
private func writeOnce(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
