import WeftDiagnostics
import WeftEvents
package import WeftExpressions
import WeftPlatform

/// The result of `hashFiles`.
package enum FileHash {
  /// The SHA-256 of the concatenated SHA-256s of the files that match the patterns, in the order of their
  /// paths; empty if there are none. Compatible with GitHub's, except for the order and for symbolic links,
  /// which are not followed.
  ///
  /// - Parameter root: The directory below which files are matched; patterns cannot leave it.
  /// - Throws: A fault without a range, as ``ExpressionScope`` expects it.
  package static func text(
    of patterns: [String], below root: String
  ) throws(ExpressionError) -> String {
    let selection: FileSelection
    do {
      selection = try FileSelection(patterns)
    } catch {
      throw fault(error.message)
    }
    var (whole, count) = (SHA256(), 0)
    let choice = Directory.Choice(
      entersDirectory: selection.canInclude(below:), onlyNames: selection.onlyNames(in:),
      visits: selection.includes, repairsNames: true)
    do {
      let directory = try placing([]) { () throws(SystemError) in try Directory(root) }
      try directory.walk(choice) { (found) throws(WorkspaceError) in
        guard case .file = found.stamp.kind else { return }
        let file = try found.opened()
        let digest = try placing(found.path) { () throws(SystemError) in try file.digest() }
        if let digest { whole.update(digest) }
        count += 1
      }
    } catch {
      throw fault(message(of: error))
    }
    return count == 0 ? "" : SHA256.text(of: whole.digest())
  }

  private static func message(of error: WorkspaceError) -> String {
    guard case .system(let cause) = error.kind else { return error.message }
    return "\(error.path.isEmpty ? "the directory" : "\"\(error.path)\"") cannot be read: \(cause)"
  }

  private static func fault(_ message: String) -> ExpressionError {
    ExpressionError(.filesNotHashed(message), SourceRange(start: 0, end: 0))
  }
}
