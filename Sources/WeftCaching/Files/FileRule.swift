package import WeftExpressions
import WeftPlatform

/// The files of a workspace that a step reads: those that its patterns match, except its own outputs, Weft's own
/// files, and git's.
package struct FileRule: Sendable {
  private let selection: FileSelection
  private let excluded: [[String]]

  /// - Parameter excluded: Paths that are not inputs, with everything below them.
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
