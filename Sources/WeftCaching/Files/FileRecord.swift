/// A file, identified by its content.
package struct FileRecord: Sendable, Hashable {
  /// The path relative to the workspace's root, with `/`.
  package var path: String
  /// A file, link or directory.
  package var content: CacheContent
  /// The size of a file in bytes; 0 for anything else.
  package var size: Int
  /// The permission bits of a file or directory; 0 for anything else.
  package var permissions: UInt32

  package init(
    path: String, _ content: CacheContent, size: Int = 0, permissions: UInt32 = 0
  ) {
    self.path = path
    self.content = content
    self.size = size
    self.permissions = permissions
  }

  var isDirectory: Bool { content == .directory }

  /// Whether `one` precedes `other` in a walk: a directory before its contents, names by their bytes.
  static func comesBefore(_ one: FileRecord, _ other: FileRecord) -> Bool {
    one.names.lexicographicallyPrecedes(other.names) {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
  }

  package var names: [String] { path.split(separator: "/").map(String.init) }

  /// Whether it is at a path, or in a directory there.
  package func isBelow(_ root: String) -> Bool {
    path.utf8.elementsEqual(root.utf8) || path.utf8.starts(with: (root + "/").utf8)
  }
}

extension [FileRecord] {
  /// The records in the order of a walk.
  package var inOrder: [FileRecord] { sorted(by: FileRecord.comesBefore) }

  /// Identifies the content of a path: the content hash for a file; for a directory, a hash of the names, kinds and
  /// contents of everything in it.
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
