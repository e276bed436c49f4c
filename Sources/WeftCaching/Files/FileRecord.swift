/// A file as it is known by what is in it.
package struct FileRecord: Sendable, Hashable {
  /// From the workspace's root on, with `/`.
  package var path: String
  /// A file, a link or a directory.
  package var content: CacheContent
  /// Bytes of a file; 0 of all else.
  package var size: Int

  package init(path: String, _ content: CacheContent, size: Int = 0) {
    self.path = path
    self.content = content
    self.size = size
  }

  package var names: [String] { path.split(separator: "/").map(String.init) }

  /// Whether it is at a path, or in a directory there.
  package func isBelow(_ root: String) -> Bool {
    path.utf8.elementsEqual(root.utf8) || path.utf8.starts(with: (root + "/").utf8)
  }
}
