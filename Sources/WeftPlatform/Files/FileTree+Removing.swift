#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileTree {
  /// Removes a directory of this process with everything that other processes have put into it.
  ///
  /// Links are removed and never followed. Files that cannot be removed are left, without an error.
  package static func remove(_ root: String) {
    if let directory = try? opened(
      AT_FDCWD, Array(root.utf8CString), O_DIRECTORY | O_NOFOLLOW, at: [])
    {
      empty(directory.number, depth: 1)
    }
    rmdir(root)
  }

  /// Removes an entry of an open directory in the same way as ``remove(_:)``.
  static func remove(_ name: String, in directory: Int32) {
    let path = Array(name.utf8CString)
    if let inner = try? opened(directory, path, O_DIRECTORY | O_NOFOLLOW, at: []) {
      empty(inner.number, depth: 1)
    }
    unlinkat(directory, path, AT_REMOVEDIR)
  }

  private static func empty(_ directory: Int32, depth: Int) {
    for name in (try? names(in: directory, at: [])) ?? [] where unlinkat(directory, name, 0) != 0 {
      guard depth < depthLimit,
        let inner = try? opened(directory, name, O_DIRECTORY | O_NOFOLLOW, at: [])
      else { continue }
      empty(inner.number, depth: depth + 1)
      unlinkat(directory, name, AT_REMOVEDIR)
    }
  }
}
