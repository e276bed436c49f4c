import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a directory is not safe for keeping journals, or a file in it not safe to use.
package enum UnsafePathError: Error, Hashable, Sendable {
  /// It is a symbolic link, which may have been created to redirect writes to a different file.
  case link(String)
  /// A different user owns it and can change its content.
  case foreign(String, owner: UInt32)
  /// Any user can remove its entries and put others in their place.
  case writableByAll(String)
  /// Users other than its owner can change its content; its mode.
  case writableByOthers(String, mode: UInt32)
  /// It is not of the expected kind.
  case kind(String, found: String)
  case system(String, SystemError)

  /// The error, as a sentence without a full stop.
  package var message: String {
    switch self {
    case .link(let path): "\"\(path)\" is a symbolic link"
    case .foreign(let path, let owner): "\"\(path)\" belongs to another user (\(owner))"
    case .writableByAll(let path):
      "any user can replace the files in \"\(path)\""
        + " (it is writable by all, without the sticky bit)"
    case .writableByOthers(let path, let mode):
      "other users can change the files in \"\(path)\" (mode \(String(mode, radix: 8)))"
    case .kind(let path, let found): "\"\(path)\" is \(found)"
    case .system(let path, let error): "\"\(path)\": \(error)"
    }
  }

  package var error: SystemError? {
    if case .system(_, let error) = self { error } else { nil }
  }
}

/// A directory that belongs to this user only. All operations use its descriptor, so that replacing names above it does
/// not redirect them, and they follow no link in it.
package final class PrivateDirectory: Sendable {
  /// The path for messages.
  package let path: String
  private let directory: Directory

  package var calls: FileCalls { directory.calls }

  private init(path: String, directory: Directory) {
    self.path = path
    self.directory = directory
  }

  /// This directory under a new path, after it was renamed.
  package func called(_ path: String) -> PrivateDirectory {
    PrivateDirectory(path: path, directory: directory)
  }

  /// Opens the directory at a path, or creates it if it is missing (its last component only).
  ///
  /// - Parameter makes: Whether to create it, with mode 0700 whatever the umask is.
  package static func at(
    _ path: String, makes: Bool, calls: FileCalls = .system
  ) throws(UnsafePathError) -> PrivateDirectory {
    let (above, name) = Directory.split(path)
    let parent: Directory
    let status: stat
    do throws(SystemError) {
      parent = try Directory(above, listable: false, calls: calls)
      status = try parent.descriptor.status()
    } catch {
      throw .system(above, error)
    }
    let isSticky = status.st_mode & S_ISVTX != 0
    if status.st_mode & 0o002 != 0, !isSticky { throw .writableByAll(above) }
    return try PrivateDirectory(name, in: parent, path: path, makes: makes)
  }

  /// Opens a directory in this one, or creates it, as ``at(_:makes:calls:)`` does.
  package func directory(_ name: String, makes: Bool) throws(UnsafePathError) -> PrivateDirectory {
    try PrivateDirectory(name, in: directory, path: "\(path)/\(name)", makes: makes)
  }

  private convenience init(
    _ name: String, in parent: Directory, path: String, makes: Bool
  ) throws(UnsafePathError) {
    let name = EntryName(name)
    var isNew = false
    if makes {
      do {
        try parent.makeDirectory(name, mode: 0o700)
        isNew = true
        // The umask may have removed permissions that the owner needs, even to open it.
        parent.setPermissions(of: name, 0o700)
      } catch {
        if error != .alreadyExists { throw .system(path, error) }
      }
    }
    let directory: Directory
    do { directory = try parent.directory(name) } catch {
      // With O_NOFOLLOW, opening a link fails with ELOOP or, with O_DIRECTORY, ENOTDIR.
      if parent.isLink(name) { throw .link(path) }
      if error == .notDirectory { throw .kind(path, found: "not a directory") }
      throw .system(path, error)
    }
    if isNew { fchmod(directory.descriptor.number, 0o700) }
    let status: stat
    do { status = try directory.descriptor.status() } catch { throw .system(path, error) }
    guard status.st_uid == geteuid() else { throw .foreign(path, owner: status.st_uid) }
    let mode = UInt32(status.st_mode) & 0o7777
    if mode & 0o022 != 0 { throw .writableByOthers(path, mode: mode) }
    self.init(path: path, directory: directory)
  }

  // MARK: Files

  package enum Opening: Sendable {
    /// For reading.
    case reading
    /// For appending and reading.
    case appending
    /// For appending and reading; the file must not exist.
    case making
    /// For appending and reading; the file may exist.
    case makingOrAppending

    fileprivate var flags: Int32 {
      switch self {
      case .reading: O_RDONLY
      case .appending: O_RDWR | O_APPEND
      case .making: O_RDWR | O_APPEND | O_CREAT | O_EXCL
      case .makingOrAppending: O_RDWR | O_APPEND | O_CREAT
      }
    }
  }

  /// Opens a regular file that belongs to this user, created with mode 0600; a link is refused.
  package func file(_ name: String, _ opening: Opening) throws(UnsafePathError) -> Descriptor {
    let place = "\(path)/\(name)"
    let file: Descriptor
    let status: stat
    do throws(SystemError) {
      file = try directory.open(EntryName(name), opening.flags, mode: 0o600)
      status = try file.status()
    } catch {
      if directory.isLink(EntryName(name)) { throw .link(place) }
      throw .system(place, error)
    }
    if let noun = FileStamp.Kind(status.st_mode).nounIfNotFile { throw .kind(place, found: noun) }
    guard status.st_uid == geteuid() else { throw .foreign(place, owner: status.st_uid) }
    if opening.flags & O_CREAT != 0, status.st_size == 0 { fchmod(file.number, 0o600) }
    return file
  }

  /// Creates a file with these bytes.
  package func write(
    _ bytes: [UInt8], to name: String, surviving power: Bool
  ) throws(UnsafePathError) {
    let file = try file(name, .making)
    try placing(name) { () throws(SystemError) in
      try calls.writeAll(file, bytes)
      if power { try calls.synchronizeData(file) }
    }
  }

  /// Creates a file with the pieces that `produce` passes to what it gets.
  package func write(
    to name: String,
    _ produce: (@escaping @Sendable (UnsafeRawBufferPointer) -> Void) -> Void
  ) throws(UnsafePathError) {
    let pieces = FilePieces(try file(name, .making), calls)
    produce { pieces.take($0) }
    try placing(name) { () throws(SystemError) in
      if let failure = pieces.failure { throw failure }
    }
  }

  /// The content of a file.
  package func bytes(of name: String, limit: Int) throws(UnsafePathError) -> [UInt8] {
    let file = try file(name, .reading)
    do { return try file.bytes(limit: limit) } catch {
      throw .system("\(path)/\(name)", error.error ?? .fileTooBig)
    }
  }

  /// Renames an entry, or moves it to a different directory of the same file system.
  package func rename(
    _ name: String, to other: String, in target: PrivateDirectory? = nil
  ) throws(UnsafePathError) {
    let target = target ?? self
    try target.placing(other) { () throws(SystemError) in
      try directory.rename(EntryName(name), to: EntryName(other), in: target.directory)
    }
  }

  /// Gives a file an additional name, which must not exist.
  func link(_ name: String, as other: String) throws(UnsafePathError) {
    try placing(other) { () throws(SystemError) in
      try directory.link(EntryName(name), as: EntryName(other))
    }
  }

  /// Removes a file; a missing one is no error.
  package func remove(_ name: String) throws(UnsafePathError) {
    try placing(name) { () throws(SystemError) in
      do throws(SystemError) { try directory.remove(EntryName(name)) } catch {
        if error != .notFound { throw error }
      }
    }
  }

  /// Makes the names in it survive a power loss.
  package func synchronize() throws(UnsafePathError) {
    do { try directory.synchronize() } catch { throw .system(path, error) }
  }

  private func placing(
    _ name: String, _ call: () throws(SystemError) -> Void
  ) throws(UnsafePathError) {
    do { try call() } catch { throw .system("\(path)/\(name)", error) }
  }

  // MARK: Entries

  /// The names of its entries, sorted, without those that are not UTF-8.
  package func names() -> [String] { ((try? directory.names()) ?? []).compactMap(\.validText) }

  package func has(_ name: String) -> Bool { (try? directory.stamp(of: EntryName(name))) != nil }

  /// The properties of a regular file; `nil` for other kinds.
  package func stamp(ofFile name: String) -> FileStamp? {
    guard let stamp = try? directory.stamp(of: EntryName(name)), case .file = stamp.kind else {
      return nil
    }
    return stamp
  }

  /// Whether an open file still has this name.
  package func has(_ file: Descriptor, as name: String) -> Bool {
    guard let own = try? FileStamp(of: file), let named = stamp(ofFile: name) else { return false }
    return (own.device, own.inode) == (named.device, named.inode)
  }

  /// The second since 1970 in which an entry was last added or removed.
  package var changedSecond: Int64? { (try? directory.stamp())?.modifiedSecond }

  /// Sets the file's timestamps to now.
  func touch(_ name: String) { directory.touch(EntryName(name)) }

  /// The number of bytes that this user can still write to its disk.
  package var freeBytes: Int? { directory.freeBytes }

  /// The total number of bytes in regular files below a directory in it, at any depth; no link is followed.
  package func byteCount(of name: String) -> Int { directory.byteCount(of: EntryName(name)) }

  /// Removes a directory in it with all entries.
  package func removeDirectory(_ name: String) { directory.removeTree(EntryName(name)) }
}

/// A file that is written in pieces. After a failure, it takes no more.
private final class FilePieces: Sendable {
  private let file: Descriptor
  private let calls: FileCalls
  private let firstFailure = Mutex<SystemError?>(nil)

  init(_ file: Descriptor, _ calls: FileCalls) {
    self.file = file
    self.calls = calls
  }

  var failure: SystemError? { firstFailure.withLock { $0 } }

  func take(_ piece: UnsafeRawBufferPointer) {
    guard failure == nil else { return }
    do throws(SystemError) { try calls.writeAll(file, piece) } catch {
      firstFailure.withLock { $0 = error }
    }
  }
}
