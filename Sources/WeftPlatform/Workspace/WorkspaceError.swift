/// The reason why an entry below a workspace's root cannot be read or written.
package struct WorkspaceError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// Directories are nested deeper than ``FileTree/depthLimit``.
    case tooDeep
    /// Its name is not UTF-8 and cannot be recorded.
    case notUTF8
    /// A name on the way to it is a symbolic link.
    case behindLink
    /// It is neither a file, nor a link, nor a directory.
    case special(String)
    /// The content to be put there is no longer available; its hash.
    case lost(String)
    /// It was written to while it was read.
    case changing
    /// The operation was stopped.
    case stopped
    case system(SystemError)
  }

  /// The path from the root on; empty for the root itself.
  package var path: String
  package var kind: Kind

  package init(_ kind: Kind, at path: [String]) {
    self.path = path.joined(separator: "/")
    self.kind = kind
  }

  /// The error, as a sentence without a full stop.
  package var message: String {
    let name = path.isEmpty ? "the start directory" : "\"\(path)\""
    return switch kind {
    case .tooDeep: "\(name) is nested deeper than the limit of \(FileTree.depthLimit)"
    case .notUTF8: "a name in \(name) is not UTF-8"
    case .behindLink: "\(name) is, or lies behind, a symbolic link to a directory"
    case .special(let noun): "\(name) is \(noun)"
    case .lost(let hash): "the content \(hash.prefix(12)) of \(name) is lost"
    case .changing: "\(name) was written to while it was read"
    case .stopped: "it was stopped"
    case .system(let error): "\(name): \(error)"
    }
  }
}
