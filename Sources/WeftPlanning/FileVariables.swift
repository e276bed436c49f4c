package import WeftDefinition

/// The variables of the env files that a plan names, as read for one run.
///
/// Not part of a workflow: values may be confidential, and are neither recorded nor read by expressions.
package struct FileVariables: Sendable {
  /// Each list of files has its own: a later file may refer to variables of an earlier one.
  private var lists: [[EnvironmentFile]: [String: String]] = [:]

  package init() {}

  /// The variables of a list; `nil` until it is read.
  package subscript(files: [EnvironmentFile]) -> [String: String]? {
    get { files.isEmpty ? [:] : lists[files] }
    set { lists[files] = newValue }
  }
}

/// A list of env files, and the workflow file that names it.
package struct PlannedEnvironmentFiles: Sendable {
  package let files: [EnvironmentFile]
  /// The workflow file, as an index into ``Plan/files``.
  package let file: Int
}

extension Plan {
  /// The env files of the commands that may run, each list once.
  package var usedEnvironmentFiles: [PlannedEnvironmentFiles] {
    var seen: Set<[EnvironmentFile]> = []
    var lists: [PlannedEnvironmentFiles] = []
    func add(_ files: [EnvironmentFile], around step: PlannedStep) {
      guard !files.isEmpty, seen.insert(files).inserted else { return }
      lists.append(PlannedEnvironmentFiles(files: files, file: groups[step.group].file))
    }
    // Most plans have none, and a plan may have a million steps.
    var groupsWithFiles: Set<Int> = []
    for group in groups.indices where !settings(ofGroup: group).environmentFiles.isEmpty {
      groupsWithFiles.insert(group)
    }
    for step in steps {
      let own = step.environmentFiles
      guard !own.isEmpty || !groupsWithFiles.isEmpty, step.kind == .run, !isCertainlySkipped(step)
      else { continue }
      for group in enclosingGroups(ofGroup: step.group) where groupsWithFiles.contains(group) {
        add(settings(ofGroup: group).environmentFiles, around: step)
      }
      add(own, around: step)
    }
    return lists
  }

  /// The lists of env files around a step, its own first.
  package func environmentFiles(of step: PlannedStep) -> [[EnvironmentFile]] {
    ([step.environmentFiles]
      + enclosingGroups(ofGroup: step.group).map { settings(ofGroup: $0).environmentFiles })
      .filter { !$0.isEmpty }
  }
}
