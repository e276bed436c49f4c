#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The properties of a file that are known without reading it. While they are unchanged, so is the content, except for
/// writes within one tick of the file system's clock.
package struct FileStamp: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case file(isExecutable: Bool)
    case link
    case directory
    /// A FIFO, a socket or a device, as a noun for messages.
    case other(String)
  }

  package var kind: Kind
  package var device: UInt64
  package var inode: UInt64
  package var size: Int64
  /// The time of the last write, in nanoseconds since 1970.
  package var modified: Int64
  /// The time of the last change of any kind, which no program can set.
  package var changed: Int64
  /// The bits for reading, writing and execution.
  package var permissions: UInt32

  package init(
    kind: Kind, device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64,
    permissions: UInt32 = 0o644
  ) {
    self.permissions = permissions
    self.kind = kind
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file(isExecutable: status.st_mode & 0o100 != 0)
      case S_IFLNK: .link
      case S_IFDIR: .directory
      default: .other(RegularFileError.noun(of: status.st_mode & S_IFMT))
      }
    permissions = UInt32(status.st_mode) & 0o777
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    #if canImport(Darwin)
      modified = FileStamp.nanoseconds(status.st_mtimespec)
      changed = FileStamp.nanoseconds(status.st_ctimespec)
    #else
      modified = FileStamp.nanoseconds(status.st_mtim)
      changed = FileStamp.nanoseconds(status.st_ctim)
    #endif
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Reads the stamp of an open file.
  package init(of file: Descriptor) throws(SystemError) {
    var status = stat()
    _ = try retrying { fstat(file.number, &status) }
    self.init(status)
  }

  /// Reads the stamp of the file at a path; links are followed.
  package init(at path: String) throws(SystemError) {
    try self.init(Array(path.utf8CString), in: AT_FDCWD, follows: true)
  }

  /// Reads the stamp of an entry in a directory; links are not followed by default.
  init(_ name: [CChar], in directory: Int32, follows: Bool = false) throws(SystemError) {
    var status = stat()
    let flags = follows ? 0 : AT_SYMLINK_NOFOLLOW
    _ = try retrying { fstatat(directory, name, &status, flags) }
    self.init(status)
  }
}
