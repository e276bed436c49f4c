package import WeftExpressions
import WeftPlatform

/// Which files of a workspace a step reads: those that its patterns mean, but for what it makes itself, what Weft
/// keeps, and what belongs to git.
package struct FileRule: Sendable {
  private let selection: FileSelection
  private let excluded: [[String]]

  /// - Parameters:
  ///   - excluded: Paths that are no inputs, with all that is below them.
  package init(_ selection: FileSelection, excluding excluded: [[String]]) {
    self.selection = selection
    self.excluded = excluded
  }

  package func includes(_ path: [String]) -> Bool {
    !isExcluded(path) && selection.includes(path)
  }

  package func canInclude(below directory: [String]) -> Bool {
    !isExcluded(directory) && selection.canInclude(below: directory)
  }

  private func isExcluded(_ path: [String]) -> Bool {
    path.contains(".git") || excluded.contains { path.starts(with: $0) }
      || path.contains { $0.hasPrefix(StagedFiles.prefix) }
  }
}
