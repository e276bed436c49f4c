import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reports changes in directories, by inotify(7); entries of their directories are not included.
///
/// The set of directories is renewed as a whole: ``renew(_:)`` adds those that are named meanwhile, and drops others.
package final class DirectoryWatch: Sendable {
  package enum Notice: Sendable, Hashable {
    /// An entry was created, written, removed, renamed, or got other permissions.
    case changed(directory: String, name: String, isDirectory: Bool)
    /// The kernel has lost changes; anything may have changed.
    case lost
  }

  private struct State {
    var paths: [Int32: String] = [:]
    var renewed: Set<Int32> = []
  }

  private let queue: Descriptor
  private let waiting: Descriptor
  private let waking: Descriptor
  private let state = Mutex(State())

  /// - Throws: If the system has no inotify, or no more instances of it.
  package init() throws(SystemError) {
    #if canImport(Glibc)
      queue = Descriptor(
        owning: try retrying { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) })
      var (wait, signal): (Int32, Int32) = (-1, -1)
      _ = try checked(weft_wake_open(&wait, &signal))
      waiting = Descriptor(owning: wait)
      waking = wait == signal ? waiting : Descriptor(owning: signal)
    #else
      throw SystemError(number: ENOSYS)
    #endif
  }

  /// Watches the directories that `name` names, and no others. A directory is watched before the call that names it
  /// returns, so that whatever is read in it afterwards cannot change unseen.
  ///
  /// - Parameter name: Calls its argument with the path of each directory, which throws
  ///   ``SystemError/noSpace`` if the user may watch no more.
  package func renew<Failure>(
    _ name: (_ watch: (String) throws(SystemError) -> Void) throws(Failure) -> Void
  ) throws(Failure) {
    state.withLock { $0.renewed = [] }
    try name { (path) throws(SystemError) in try watch(path) }
    let dropped = state.withLock { state in
      let dropped = state.paths.keys.filter { !state.renewed.contains($0) }
      for number in dropped { state.paths[number] = nil }
      return dropped
    }
    #if canImport(Glibc)
      for number in dropped { _ = inotify_rm_watch(queue.number, number) }
    #endif
  }

  private func watch(_ path: String) throws(SystemError) {
    #if canImport(Glibc)
      let events =
        IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM
        | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
      let mask = UInt32(events | IN_ONLYDIR)
      let number = try retrying { inotify_add_watch(queue.number, path, mask) }
      state.withLock { state in
        // A directory that was renamed keeps its number.
        state.paths[number] = path
        state.renewed.insert(number)
      }
    #endif
  }

  /// Ends the wait of ``next(atMost:)``, or the next one. For any thread.
  package func wake() { weft_wake_signal(waking.number) }

  /// Waits for changes.
  ///
  /// - Returns: Empty after ``wake()``, or when `limit` has passed.
  package func next(atMost limit: Duration?) -> [Notice] {
    var polls = [queue, waiting].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
    let milliseconds =
      limit.map { limit -> Int32 in
        let parts = max(.zero, limit).components
        return Int32(
          min(3_600_000, parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000 + 1))
      } ?? -1
    guard poll(&polls, nfds_t(polls.count), milliseconds) > 0 else { return [] }
    if polls[1].revents != 0 { weft_wake_drain(waiting.number) }
    return polls[0].revents == 0 ? [] : read()
  }

  private func read() -> [Notice] {
    var notices: [Notice] = []
    #if canImport(Glibc)
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      while true {
        let count = bytes.withUnsafeMutableBytes {
          Glibc.read(queue.number, $0.baseAddress, $0.count)
        }
        guard count > 0 else { break }
        bytes.withUnsafeBytes {
          append(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: &notices)
        }
      }
    #endif
    return notices
  }

  #if canImport(Glibc)
    private func append(_ bytes: UnsafeRawBufferPointer, to notices: inout [Notice]) {
      let header = MemoryLayout<inotify_event>.size
      var offset = 0
      while offset + header <= bytes.count {
        let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let name = bytes[(offset + header)..<(offset + header + Int(event.len))].prefix { $0 != 0 }
        offset += header + Int(event.len)
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
          notices.append(.lost)
          continue
        }
        guard let path = state.withLock({ $0.paths[event.wd] }) else { continue }
        let isDirectory = name.isEmpty || event.mask & UInt32(IN_ISDIR) != 0
        let notice = Notice.changed(
          directory: path, name: String(decoding: name, as: UTF8.self), isDirectory: isDirectory)
        if notices.last != notice { notices.append(notice) }
      }
    }
  #endif
}

/// A private directory in which other programs create files, of which only the ends are read, again and again.
///
/// It holds no descriptor: a file that is not created costs nothing but one look that finds nothing.
package struct FollowedFolder: Sendable {
  /// The end of a file, as it was when it was read.
  package struct Ending: Sendable {
    package let bytes: [UInt8]
    /// Whether this is the whole file.
    package let isWhole: Bool
    package let stamp: FileStamp
  }

  package enum Finding: Sendable {
    /// There is no such file, it has not changed, or no descriptor is free to read it.
    case nothing
    case changed(Ending)
    /// It is something other than a regular file, or cannot be read.
    case unreadable
  }

  package let path: String

  /// A directory that exists.
  package init(_ path: String) { self.path = path }

  /// Creates the directory, which must not exist, for this user alone.
  package init(creating path: String) throws(SystemError) {
    try FileSystem.makeDirectory(path, mode: 0o700)
    self.path = path
  }

  /// The names of the files that exist; none if the directory cannot be read.
  package var names: [String] {
    guard let names = try? Directory(path).names() else { return [] }
    return names.compactMap(\.validText)
  }

  /// Reads the end of a file.
  ///
  /// - Parameters:
  ///   - count: The maximum number of bytes to read.
  ///   - known: The properties that it had when it was last read, with which it counts as unchanged.
  package func ending(of name: String, atMost count: Int, unless known: FileStamp? = nil) -> Finding
  {
    // Without waiting for the writer of a FIFO; a link is refused.
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    do throws(SystemError) {
      let file = Descriptor(owning: try retrying { open("\(path)/\(name)", flags) })
      let stamp = try FileStamp(of: file)
      guard case .file = stamp.kind else { return .unreadable }
      if stamp == known { return .nothing }
      let start = max(0, Int(stamp.size) - count)
      return .changed(
        Ending(
          bytes: try file.piece(at: start, atMost: count), isWhole: start == 0, stamp: stamp))
    } catch {
      return error == .notFound || error.isShortage ? .nothing : .unreadable
    }
  }

  /// Gives back the disk space of the beginning of a file, which then reads as zeros. Its length stays the same, so
  /// that nothing a program writes meanwhile is lost. Does nothing where the system cannot do it.
  package func discardStart(of name: String, bytes: Int) {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    guard let number = try? retrying({ open("\(path)/\(name)", flags) }) else { return }
    let file = Descriptor(owning: number)
    _ = weft_free_start(file.number, Int64(bytes))
  }

  /// Removes a file; a directory of that name is removed with the whole folder.
  package func remove(_ name: String) { Descriptor.remove("\(path)/\(name)") }
}
