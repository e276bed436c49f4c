import CWeftPlatform
import Synchronization
package import WeftEncoding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open file, closed with its last reference.
package final class Descriptor: Sendable {
  package let number: Int32
  private let isOwned: Bool

  /// Takes over `number`, which no other code may close from now on.
  package init(owning number: Int32) {
    self.number = number
    isOwned = true
  }

  private init(borrowing number: Int32) {
    self.number = number
    isOwned = false
  }

  deinit {
    if isOwned { close(number) }
  }

  /// Standard input of the process; never closed.
  package static let standardInput = Descriptor(borrowing: STDIN_FILENO)
  package static let standardOutput = Descriptor(borrowing: STDOUT_FILENO)
  package static let standardError = Descriptor(borrowing: STDERR_FILENO)

  /// A descriptor owned by other code, such as `--events fd:3`; never closed. `nil` if it is not open.
  package static func inherited(_ number: Int32) -> Descriptor? {
    fcntl(number, F_GETFD) < 0 ? nil : Descriptor(borrowing: number)
  }

  /// Takes over descriptors that the parent of this process left open: from now on they have other numbers, no program
  /// inherits them, and each is closed with its last reference. Descriptors that are not open are omitted.
  package static func claiming(_ numbers: Set<Int32>) -> [Int32: Descriptor] {
    var claimed: [Int32: Descriptor] = [:]
    let free = (numbers.max() ?? 0) + 1
    for number in numbers {
      let copy = fcntl(number, F_DUPFD_CLOEXEC, free)
      guard copy >= 0 else { continue }
      close(number)
      claimed[number] = Descriptor(owning: copy)
    }
    return claimed
  }

  // MARK: Properties

  func status() throws(SystemError) -> stat {
    var status = stat()
    _ = try retrying { fstat(number, &status) }
    return status
  }

  /// The length of a file.
  package func byteCount() throws(SystemError) -> Int { Int(try status().st_size) }

  /// Whether it was opened for writing.
  package var isWritable: Bool {
    let flags = fcntl(number, F_GETFL)
    return flags >= 0 && flags & O_ACCMODE != O_RDONLY
  }

  // MARK: Reading

  /// The bytes at an offset of a file; fewer than `count` only at its end.
  package func piece(at offset: Int, atMost count: Int) throws(SystemError) -> [UInt8] {
    try .filled(count) { (buffer) throws(SystemError) in
      var filled = 0
      while filled < count {
        let (start, room) = (buffer.baseAddress! + filled, count - filled)
        let read = try retrying { pread(number, start, room, off_t(offset + filled)) }
        if read == 0 { break }
        filled += read
      }
      return filled
    }
  }

  /// Whether bytes, or the end, can be read within a time, rounded to milliseconds.
  package func isReadable(within time: Duration) -> Bool {
    weft_poll_one(number, Int16(POLLIN), Int32(clamping: time.wholeNanoseconds / 1_000_000)) > 0
  }

  /// The next bytes, as many as one call returns; none at the end.
  package func nextPiece(atMost count: Int) throws(SystemError) -> [UInt8] {
    try .filled(count) { (buffer) throws(SystemError) in
      try retrying { read(number, buffer.baseAddress, count) }
    }
  }

  /// Reads all bytes to the end. Blocks the thread.
  package func readToEnd(
    limit: Int, stop: StopSwitch, until time: Duration
  ) throws(DescriptorReadError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      guard stop.level == .none else { throw .stopped }
      // Other processes may share the open file, so it cannot be made non-blocking.
      guard weft_poll_one(number, Int16(POLLIN), Self.pollMilliseconds) > 0 else {
        if MonotonicClock.now >= time { throw .timedOut }
        continue
      }
      let piece: [UInt8]
      do { piece = try nextPiece(atMost: limit + 1 - bytes.count) } catch { throw .system(error) }
      if piece.isEmpty { return bytes }
      bytes += piece
      if bytes.count > limit { throw .tooLarge(limit: limit) }
    }
  }

  private static let pollMilliseconds: Int32 = 20

  /// Reads a file from its beginning to its end.
  ///
  /// - Parameter take: Called with each piece.
  /// - Returns: The hash of the content; `nil` if it was stopped.
  package func digest(
    stop: StopSwitch = StopSwitch(), take: ([UInt8]) throws(SystemError) -> Void = { _ in }
  ) throws(SystemError) -> SHA256.Digest? {
    var hash = SHA256()
    var offset = 0
    while true {
      guard stop.level == .none else { return nil }
      let piece = try piece(at: offset, atMost: 256 << 10)
      if piece.isEmpty { return hash.digest() }
      hash.update(piece)
      try take(piece)
      offset += piece.count
    }
  }

  // MARK: Writing

  /// Writes all of `bytes`, in as many pieces as needed; waits if the descriptor is non-blocking.
  ///
  /// - Throws: If a write fails; part of the bytes may have been written. A pipe without a reader is a failure and
  ///   raises no signal.
  package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(WriteError) {
    var left = bytes
    while !left.isEmpty {
      let count = weft_write_quietly(number, left.baseAddress, left.count)
      if count >= 0 {
        left = UnsafeRawBufferPointer(rebasing: left.dropFirst(count))
        continue
      }
      switch SystemError(number: Int32(count)) {
      case .interrupted: continue
      case .wouldBlock: _ = weft_poll_one(number, Int16(POLLOUT), -1)
      case let error: throw WriteError(error)
      }
    }
  }

  package func writeAll(_ bytes: [UInt8]) throws(WriteError) {
    try bytes.withRawBytes { (bytes) throws(WriteError) in try writeAll(bytes) }
  }

  package func writeAll(_ text: String) throws(WriteError) {
    try writeAll(Array(text.utf8))
  }

  /// Truncates the file to `length` bytes.
  package func cut(to length: Int) throws(SystemError) {
    _ = try retrying { ftruncate(number, off_t(length)) }
  }

  /// Makes the written data survive a power loss.
  package func synchronize() throws(SystemError) {
    _ = try retrying { fsync(number) }
  }
}

/// The reason why the bytes of a claimed descriptor could not be read.
package enum DescriptorReadError: Error, Hashable, Sendable {
  case tooLarge(limit: Int)
  /// The writer had not closed it in time.
  case timedOut
  case stopped
  case system(SystemError)
}

/// The reason why not all bytes could be written.
package enum WriteError: Error, Hashable, Sendable {
  /// The reader has gone away: `weft run | head -1`.
  case brokenPipe
  /// The disk is full, or the quota or the size limit of a file is reached.
  case noSpace(SystemError)
  case other(SystemError)

  package init(_ error: SystemError) {
    switch error {
    case .brokenPipe: self = .brokenPipe
    case .noSpace, .overQuota, .fileTooBig: self = .noSpace(error)
    default: self = .other(error)
    }
  }

  package var error: SystemError {
    switch self {
    case .brokenPipe: .brokenPipe
    case .noSpace(let error), .other(let error): error
    }
  }

  package var message: String {
    switch self {
    case .brokenPipe: "the reader has closed it: \(SystemError.brokenPipe)"
    case .noSpace(let error), .other(let error): error.description
    }
  }
}

extension [UInt8] {
  /// The bytes that a system call puts into a buffer.
  ///
  /// - Parameter fill: Returns the number of bytes.
  static func filled(
    _ capacity: Int, by fill: (UnsafeMutableBufferPointer<UInt8>) throws(SystemError) -> Int
  ) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      do throws(SystemError) { count = try fill(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Calls `body` with the bytes, as `withUnsafeBytes` does, with a typed error.
  package func withRawBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try withUnsafeBufferPointer { (bytes) throws(Failure) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}

/// The reason why a file was not opened for a program to read.
package enum InputOpenError: Error, Hashable {
  case refused(SystemError)
  /// It is a FIFO that was not opened for writing in time.
  case timedOut
  /// It is a FIFO, and a stop was requested during the wait for a writer.
  case stopped
}

extension Descriptor {
  package enum Creation: Sendable {
    /// Fails if the name exists, even as a dangling link.
    case onlyNew
    /// Truncates an existing file; writes to a device or a FIFO. Waits for a FIFO's reader.
    case orEmptied
    /// Appends to an existing file.
    case orExtended
  }

  /// Opens a file for writing, closed on exec.
  ///
  /// - Parameter isPrivate: Whether it has mode 0600 whatever the umask is, rather than 0666 less the umask.
  package static func creating(
    _ path: String, _ creation: Creation, isPrivate: Bool = false
  ) throws(SystemError) -> Descriptor {
    let existing =
      switch creation {
      case .onlyNew: O_EXCL
      case .orEmptied: O_TRUNC
      case .orExtended: O_APPEND
      }
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | existing
    let file = Descriptor(owning: try retrying { open(path, flags, isPrivate ? 0o600 : 0o666) })
    if isPrivate { fchmod(file.number, 0o600) }
    return file
  }

  /// Removes a name that this process has just given to a file.
  package static func remove(_ path: String) { unlink(path) }

  /// Opens a file for a program to read. Waits for a FIFO's writer, as the `<` of a shell does, and blocks the thread
  /// meanwhile.
  ///
  /// - Parameters:
  ///   - stop: Ends the wait.
  ///   - time: The time at which the wait ends.
  package static func opened(
    forReading path: String, stop: StopSwitch = StopSwitch(), until time: Duration? = nil
  ) throws(InputOpenError) -> Descriptor {
    let file: Descriptor
    let kind: mode_t
    do throws(SystemError) { (file, kind) = try openedAtOnce(path) } catch { throw .refused(error) }
    if kind == S_IFDIR { throw .refused(.isDirectory) }
    if kind == S_IFIFO { try file.waitForWriter(stop: stop, until: time) }
    // The program that gets it expects blocking reads.
    _ = fcntl(file.number, F_SETFL, fcntl(file.number, F_GETFL) & ~O_NONBLOCK)
    return file
  }

  /// Opens a regular file, without waiting.
  ///
  /// - Throws: ``SystemError/isDirectory`` for a directory, and ``SystemError/invalid`` for any other file that is not
  ///   regular.
  package static func opened(
    regularFile path: String
  ) throws(SystemError) -> (file: Descriptor, byteCount: Int) {
    let (file, kind) = try openedAtOnce(path)
    if kind == S_IFDIR { throw .isDirectory }
    guard kind == S_IFREG else { throw .invalid }
    return (file, try file.byteCount())
  }

  private static func openedAtOnce(
    _ path: String
  ) throws(SystemError) -> (file: Descriptor, kind: mode_t) {
    // The system would open the path before the NUL.
    if path.utf8.contains(0) { throw .invalid }
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    let file = Descriptor(owning: try retrying { () -> Int32 in open(path, flags) })
    return (file, try file.status().st_mode & S_IFMT)
  }

  /// Waits for the FIFO's writer by polling. A blocking `open` could only be interrupted by a signal, so the FIFO is
  /// already open; and poll(2) does not report a writer that has not written anything.
  private func waitForWriter(stop: StopSwitch, until time: Duration?) throws(InputOpenError) {
    let wakeup = Wakeup()
    stop.attach(wakeup)
    defer { stop.detach(wakeup) }
    while weft_fifo_is_fed(number) == 0 {
      guard stop.level == .none else { throw .stopped }
      let now = MonotonicClock.now
      let left = time.map { $0 - now } ?? Self.askingInterval
      guard left > .zero else { throw .timedOut }
      wakeup.wait(atMost: min(left, Self.askingInterval))
    }
  }

  private static let askingInterval = Duration.milliseconds(20)
}

/// A descriptor that is kept open, to be given up for another file when the process has no more of them.
package final class DescriptorReserve: Sendable {
  private let kept = Mutex<Descriptor?>(nil)

  package init() {}

  /// Opens the descriptor if it is not open. On failure, it is tried again after the next use.
  package func refill() { kept.withLock { DescriptorReserve.refill(&$0) } }

  /// Calls `body`, which may open one descriptor and must close it before it returns. Calls do not overlap.
  package func spend<Value, Failure: Error>(
    _ body: () throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    try kept.withLock { (kept) throws(Failure) in
      kept = nil
      defer { DescriptorReserve.refill(&kept) }
      return try body()
    }
  }

  private static func refill(_ kept: inout Descriptor?) {
    guard kept == nil else { return }
    let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
    if number >= 0 { kept = Descriptor(owning: number) }
  }
}
