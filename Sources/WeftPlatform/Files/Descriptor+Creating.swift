#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Descriptor {
  package enum Creation: Sendable {
    /// Fails if the name exists, even as a dangling link.
    case onlyNew
    /// Truncates an existing file; writes to a device or a FIFO. Waits for a FIFO's reader.
    case orEmptied
  }

  /// Opens a file for writing, closed on exec.
  package static func creating(
    _ path: String, _ creation: Creation
  ) throws(SystemError) -> Descriptor {
    let existing =
      switch creation {
      case .onlyNew: O_EXCL
      case .orEmptied: O_TRUNC
      }
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | existing
    return Descriptor(owning: try retrying { open(path, flags, 0o666) })
  }

  /// Whether it was opened for writing.
  package var isWritable: Bool {
    let flags = fcntl(number, F_GETFL)
    return flags >= 0 && flags & O_ACCMODE != O_RDONLY
  }

  /// Removes a name that this process has just given to a file.
  package static func remove(_ path: String) { unlink(path) }
}
