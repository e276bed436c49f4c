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

extension [FileRecord] {
  /// Tells what is at a path from what else might be: of a file the hash of its content, of a directory one over
  /// the names, kinds and contents of all that is in it.
  package var digest: String {
    if count == 1, case .file(let hash, _) = self[0].content { return hash }
    var bytes = CanonicalBytes()
    bytes.append(count: count)
    for record in self {
      switch record.content {
      case .file(let hash, let isExecutable):
        bytes.append(record.path, isExecutable ? "program" : "file", hash)
      case .link(let target, _): bytes.append(record.path, "link", target)
      case .directory: bytes.append(record.path, "directory")
      case .text, .long, .secret, .unset: break
      }
    }
    return bytes.hash
  }
}
