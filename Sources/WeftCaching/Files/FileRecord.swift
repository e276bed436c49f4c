/// A file as it is known by what is in it.
package struct FileRecord: Sendable, Hashable {
  /// From the workspace's root on, with `/`.
  package var path: String
  /// A file, a link or a directory.
  package var content: CacheContent
  /// Bytes of a file; 0 of all else.
  package var size: Int
  /// The permission bits of a file or a directory; 0 for all else.
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

  /// The order of a walk: a directory before what is in it, names by their bytes.
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
  /// In the order of a walk.
  package var inOrder: [FileRecord] { sorted(by: FileRecord.comesBefore) }

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
