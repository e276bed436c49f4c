#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileTree {
  /// The total number of bytes in the regular files below an entry of a directory.
  ///
  /// Follows no links; files that cannot be examined count as empty.
  static func byteCount(of name: String, in directory: Int32) -> Int {
    byteCount(of: Array(name.utf8CString), in: directory, depth: 0)
  }

  private static func byteCount(of name: [CChar], in directory: Int32, depth: Int) -> Int {
    var status = stat()
    guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return Int(status.st_size)
    case S_IFDIR:
      guard depth < depthLimit,
        let inner = try? opened(directory, name, O_DIRECTORY | O_NOFOLLOW, at: [])
      else { return 0 }
      let names = (try? names(in: inner.number, at: [])) ?? []
      return names.reduce(0) { $0 + byteCount(of: $1, in: inner.number, depth: depth + 1) }
    default: return 0
    }
  }
}
