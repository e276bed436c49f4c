import WeftDiagnostics
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
    var (whole, file, count) = (SHA256(), SHA256(), 0)
    let choice = FileTree.Choice(
      entersDirectory: selection.canInclude(below:), readsFile: selection.includes)
    do {
      try FileTree.read(below: root, choice) { piece in
        if let piece {
          file.update(piece)
        } else {
          whole.update(file.digest())
          file = SHA256()
          count += 1
        }
      }
    } catch {
      throw fault(error.message)
    }
    return count == 0 ? "" : SHA256.text(of: whole.digest())
  }

  private static func fault(_ message: String) -> ExpressionError {
    ExpressionError(.filesNotHashed(message), SourceRange(start: 0, end: 0))
  }
}

extension FileTree.Fault {
  fileprivate var message: String {
    let name = path.isEmpty ? "the directory" : "\"\(path)\""
    return switch kind {
    case .tooDeep: "\(name) is nested deeper than the limit of \(FileTree.depthLimit)"
    case .system(let error): "\(name) cannot be read: \(error)"
    }
  }
}
