import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a directory is not safe for keeping journals, or a file in it not safe to use.
package enum UnsafePlaceError: Error, Hashable, Sendable {
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

/// A directory that belongs to this user only. All operations use its descriptor, so that replacing names above it does
/// not redirect them, and they follow no link in it.
package final class PrivateDirectory: Sendable {
  /// The path for messages.
  package let path: String
  let directory: Descriptor
  package let calls: FileCalls

  private init(path: String, directory: Descriptor, calls: FileCalls) {
    self.path = path
    self.directory = directory
    self.calls = calls
  }

  /// This directory under a new path, after it was renamed.
  package func called(_ path: String) -> PrivateDirectory {
    PrivateDirectory(path: path, directory: directory, calls: calls)
  }

  /// Opens the directory at a path, or creates it if it is missing (its last component only).
  ///
  /// - Parameter makes: Whether to create it, with mode 0700 whatever the umask is.
  package static func at(
    _ path: String, makes: Bool, calls: FileCalls = .system
  ) throws(UnsafePlaceError) -> PrivateDirectory {
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

  /// Opens a directory in this one, or creates it, as ``at(_:makes:calls:)`` does.
  package func directory(_ name: String, makes: Bool) throws(UnsafePlaceError) -> PrivateDirectory {
    try PrivateDirectory.inside(
      directory.number, name, path: "\(path)/\(name)", makes: makes, calls)
  }

  private static func inside(
    _ parent: Int32, _ name: String, path: String, makes: Bool, _ calls: FileCalls
  ) throws(UnsafePlaceError) -> PrivateDirectory {
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
      // With O_NOFOLLOW, opening a link fails with ELOOP or, with O_DIRECTORY, ENOTDIR.
      if isLink(name, in: parent) { throw .link(path) }
      if error == .notDirectory { throw .kind(path, found: "no directory") }
      throw .system(path, error)
    }
    // The umask may have removed permissions that the owner needs.
    if isNew { fchmod(directory.number, 0o700) }
    var status = stat()
    guard fstat(directory.number, &status) == 0 else { throw .system(path, .last) }
    guard status.st_uid == geteuid() else { throw .foreign(path, owner: status.st_uid) }
    let mode = UInt32(status.st_mode) & 0o7777
    if mode & 0o022 != 0 { throw .writableByOthers(path, mode: mode) }
    return PrivateDirectory(path: path, directory: directory, calls: calls)
  }

  private static func checkParent(_ parent: Descriptor, _ path: String) throws(UnsafePlaceError) {
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

  /// The parent path and the last component.
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
