import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a directory is not one to keep a record in, or a file not one of a record.
package enum UnsafePlace: Error, Hashable, Sendable {
  /// It is a symbolic link, which somebody may have put there to have another file written.
  case link(String)
  /// Another user owns it, and can change what is in it.
  case foreign(String, owner: UInt32)
  /// Any user can take away what is in it, and put something else there.
  case writableByAll(String)
  /// Users other than its owner can change what is in it: its mode.
  case writableByOthers(String, mode: UInt32)
  /// It is something else than what should be there.
  case kind(String, found: String)
  case system(String, SystemError)

  /// What was found, as a sentence without a full stop.
  package var message: String {
    switch self {
    case .link(let path): "\"\(path)\" is a symbolic link"
    case .foreign(let path, let owner): "\"\(path)\" belongs to another user (\(owner))"
    case .writableByAll(let path):
      "any user may take away and exchange what is in \"\(path)\""
        + " (it is writable by all, without the sticky bit)"
    case .writableByOthers(let path, let mode):
      "other users can change what is in \"\(path)\" (mode \(String(mode, radix: 8)))"
    case .kind(let path, let found): "\"\(path)\" is \(found)"
    case .system(let path, let error): "\"\(path)\": \(error)"
    }
  }

  package var error: SystemError? {
    if case .system(_, let error) = self { error } else { nil }
  }
}

/// A directory that is this user's alone. All is done through its descriptor: whoever exchanges names above
/// it leads nobody astray, and no link in it is followed.
package final class PrivateDirectory: Sendable {
  /// What messages call it.
  package let path: String
  let directory: Descriptor
  package let calls: FileCalls

  private init(path: String, directory: Descriptor, calls: FileCalls) {
    self.path = path
    self.directory = directory
    self.calls = calls
  }

  /// The same directory, after it has got another name.
  package func called(_ path: String) -> PrivateDirectory {
    PrivateDirectory(path: path, directory: directory, calls: calls)
  }

  /// Opens the directory of that path, or makes it where it is missing: the last name only.
  ///
  /// - Parameter makes: Whether it is made, mode 0700 whatever the umask is.
  package static func at(
    _ path: String, makes: Bool, calls: FileCalls = .system
  ) throws(UnsafePlace) -> PrivateDirectory {
    let (above, name) = split(path)
    let parent: Descriptor
    do {
      parent = Descriptor(owning: try checked(weft_enter_following(above)))
    } catch {
      throw .system(above, error)
    }
    try checkParent(parent, above)
    return try inside(parent.number, name, path: path, makes: makes, calls)
  }

  /// The same for one in this directory.
  package func directory(_ name: String, makes: Bool) throws(UnsafePlace) -> PrivateDirectory {
    try PrivateDirectory.inside(
      directory.number, name, path: "\(path)/\(name)", makes: makes, calls)
  }

  private static func inside(
    _ parent: Int32, _ name: String, path: String, makes: Bool, _ calls: FileCalls
  ) throws(UnsafePlace) -> PrivateDirectory {
    var isNew = false
    if makes {
      do {
        try calls.makeDirectory(name, in: parent)
        isNew = true
      } catch {
        if error != .alreadyExists { throw .system(path, error) }
      }
    }
    let directory: Descriptor
    do {
      directory = try calls.open(name, in: parent, O_RDONLY | O_DIRECTORY)
    } catch {
      // With O_NOFOLLOW a link is ELOOP, or with O_DIRECTORY, ENOTDIR.
      if isLink(name, in: parent) { throw .link(path) }
      if error == .notDirectory { throw .kind(path, found: "no directory") }
      throw .system(path, error)
    }
    // A umask may have taken away what the owner needs.
    if isNew { fchmod(directory.number, 0o700) }
    var status = stat()
    guard fstat(directory.number, &status) == 0 else { throw .system(path, .last) }
    guard status.st_uid == geteuid() else { throw .foreign(path, owner: status.st_uid) }
    let mode = UInt32(status.st_mode) & 0o7777
    if mode & 0o022 != 0 { throw .writableByOthers(path, mode: mode) }
    return PrivateDirectory(path: path, directory: directory, calls: calls)
  }

  private static func checkParent(_ parent: Descriptor, _ path: String) throws(UnsafePlace) {
    var status = stat()
    guard fstat(parent.number, &status) == 0 else { throw .system(path, .last) }
    let isSticky = status.st_mode & S_ISVTX != 0
    if status.st_mode & 0o002 != 0, !isSticky { throw .writableByAll(path) }
  }

  static func isLink(_ name: String, in directory: Int32) -> Bool {
    var status = stat()
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.st_mode & S_IFMT == S_IFLNK
  }

  /// The path above, and the last name.
  private static func split(_ path: String) -> (above: String, name: String) {
    let bytes = Array(path.utf8)
    let end = bytes.lastIndex { $0 != UInt8(ascii: "/") } ?? 0
    let trimmed = bytes[...end]
    guard let slash = trimmed.lastIndex(of: UInt8(ascii: "/")) else {
      return (".", String(decoding: trimmed, as: UTF8.self))
    }
    let name = String(decoding: trimmed[(slash + 1)...], as: UTF8.self)
    return (slash == 0 ? "/" : String(decoding: trimmed[..<slash], as: UTF8.self), name)
  }
}
