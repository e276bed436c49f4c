#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileTree {
  /// Takes away a directory of this process's own with everything that others have put into it.
  ///
  /// Links are taken away and never followed. What cannot be taken away stays, and is no error.
  package static func remove(_ root: String) {
    if let directory = try? opened(
      AT_FDCWD, Array(root.utf8CString), O_DIRECTORY | O_NOFOLLOW, at: [])
    {
      empty(directory.number, depth: 1)
    }
    rmdir(root)
  }

  /// The same for what has a name in a directory that is open.
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
