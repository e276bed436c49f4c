#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Operations on files without opening them.
extension PrivateDirectory {
  /// The size in bytes of a regular file, and the second since 1970 in which it was changed; `nil` for other kinds.
  func sizeAndTime(of name: String) -> (size: Int, changed: Int64)? {
    var status = stat()
    guard fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    #if canImport(Darwin)
      let time = status.st_mtimespec.tv_sec
    #else
      let time = status.st_mtim.tv_sec
    #endif
    return (Int(status.st_size), Int64(time))
  }

  /// The second since 1970 in which an entry was last added or removed.
  package var changedSecond: Int64? {
    (try? FileStamp(of: directory)).map { $0.modified / 1_000_000_000 }
  }

  /// Sets the file's timestamps to now.
  func touch(_ name: String) {
    utimensat(directory.number, name, nil, AT_SYMLINK_NOFOLLOW)
  }

  /// Gives a file an additional name, which must not exist.
  func link(_ name: String, as other: String) throws(UnsafePlaceError) {
    do throws(SystemError) {
      _ = try retrying { linkat(directory.number, name, directory.number, other, 0) }
    } catch {
      throw .system("\(path)/\(other)", error)
    }
  }
}
