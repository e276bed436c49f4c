import WeftEncoding
package import WeftExpressions
import WeftPlatform

/// The functions of expressions that read files.
package struct FileFunctions: FileLookup {
  private let root: String

  /// - Parameter root: The directory below which files are matched; patterns cannot leave it.
  package init(below root: String) { self.root = root }

  /// The SHA-256 of the concatenated SHA-256s of the files that match the patterns, in the order of their
  /// paths; empty if there are none. Compatible with GitHub's, except for the order and for symbolic links,
  /// which are not followed.
  package func hash(of patterns: [String]) throws(EvaluationError) -> String {
    let selection = try FileSelection(patterns, of: .hashFiles)
    var (whole, count) = (SHA256(), 0)
    try walk(selection, for: .hashFiles, repairsNames: true) { (found) throws(WorkspaceError) in
      guard case .file = found.stamp.kind else { return }
      let file = try found.opened()
      let digest = try placing(found.path) { () throws(SystemError) in try file.digest() }
      if let digest { whole.update(digest) }
      count += 1
    }
    return count == 0 ? "" : SHA256.text(of: whole.digest())
  }

  package func paths(matching patterns: [String]) throws(EvaluationError) -> [String] {
    let selection = try FileSelection(patterns, of: .glob)
    var paths: [String] = []
    try walk(selection, for: .glob, besides: [".git", ".weft"]) { found in
      let isFile =
        switch found.stamp.kind {
        case .file: true
        case .link: found.openedThroughLink() != nil
        case .directory, .other: false
        }
      if isFile { paths.append(found.path.joined(separator: "/")) }
    }
    // A walk is in the order of names, in which "a-b" comes after everything below "a".
    return paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func walk(
    _ selection: FileSelection, for function: ExpressionFunction, besides names: Set<String> = [],
    repairsNames: Bool = false, _ visit: (FoundFile) throws(WorkspaceError) -> Void
  ) throws(EvaluationError) {
    let isSearched = { (path: [String]) in path.last.map { !names.contains($0) } ?? true }
    let choice = Directory.Choice(
      entersDirectory: { isSearched($0) && selection.canInclude(below: $0) },
      onlyNames: selection.onlyNames(in:),
      visits: { isSearched($0) && selection.includes($0) }, repairsNames: repairsNames)
    do {
      let directory = try placing([]) { () throws(SystemError) in try Directory(root) }
      try directory.walk(choice, visit)
    } catch {
      throw .filesNotRead(function, FileFunctions.message(of: error))
    }
  }

  private static func message(of error: WorkspaceError) -> String {
    guard case .system(let cause) = error.kind else { return error.message }
    return "\(error.path.isEmpty ? "the directory" : "\"\(error.path)\"") cannot be read: \(cause)"
  }
}
