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

    init(_ mode: mode_t) {
      self =
        switch mode & S_IFMT {
        case S_IFREG: .file(isExecutable: mode & 0o100 != 0)
        case S_IFLNK: .link
        case S_IFDIR: .directory
        case S_IFIFO: .other("a FIFO")
        case S_IFSOCK: .other("a socket")
        default: .other("a device")
        }
    }

    /// The kind as a noun for messages; `nil` for a regular file.
    var nounIfNotFile: String? {
      switch self {
      case .file: nil
      case .link: "a symbolic link"
      case .directory: "a directory"
      case .other(let noun): noun
      }
    }
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
    kind = Kind(status.st_mode)
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

  /// The second since 1970 of the last write; of a directory, of the last change of its names.
  var modifiedSecond: Int64 { modified / 1_000_000_000 }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Reads the stamp of an open file.
  package init(of file: Descriptor) throws(SystemError) { self.init(try file.status()) }

  /// Reads the stamp of the file at a path; links are followed.
  package init(at path: String) throws(SystemError) {
    var status = stat()
    _ = try retrying { stat(path, &status) }
    self.init(status)
  }
}
