import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
  package static func creating(
    _ path: String, _ creation: Creation
  ) throws(SystemError) -> Descriptor {
    let existing =
      switch creation {
      case .onlyNew: O_EXCL
      case .orEmptied: O_TRUNC
      case .orExtended: O_APPEND
      }
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | existing
    return Descriptor(owning: try retrying { open(path, flags, 0o666) })
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
