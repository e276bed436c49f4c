import WeftCaching
import WeftDefinition
import WeftDiagnostics
package import WeftPlanning
import WeftPlatform

/// The files of steps that stand, where something is still to be done that may read them: it is to find them as
/// they were.
package struct StandingFiles: Sendable {
  /// A file that is not as it was.
  package struct Change: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
      case missing
      case changed
      /// Nobody knows, because of this.
      case unreadable(String)
    }

    package let step: StepAddress
    package let path: String
    package let kind: Kind

    /// What was found, as a sentence without a full stop.
    package var message: String {
      let what =
        switch kind {
        case .missing: "is not there any more"
        case .changed: "is not as it was"
        case .unreadable(let why): "cannot be looked at: \(why)"
        }
      return "\(quoted(path)), which step \"\(step)\" has made, \(what)"
    }
  }

  /// In the order of the steps' addresses.
  let files: [(step: StepAddress, file: KeptFile)]

  package init(of plan: Plan, past: RecordedRun, anew: StepsAnew) {
    let rule = StandingRule(plan: plan, past: past, anew: anew)
    files = past.steps.lazy.flatMap { address, known in
      guard case .finished(_, let kept) = known.state, !kept.files.isEmpty, known.hasSucceeded,
        rule.isInUse(address)
      else { return [(step: StepAddress, file: KeptFile)]() }
      return kept.files.map { (address, $0) }
    }.sorted { ($0.step.text, $0.file.path) < ($1.step.text, $1.file.path) }
  }

  /// Looks at them, reading those that are told by their content.
  ///
  /// - Parameter directory: Where the run stands; `nil`: where the process does.
  package func changes(in directory: String?) -> [Change] {
    guard !files.isEmpty else { return [] }
    let workspace = Result { () throws(SystemError) in try Workspace(directory ?? ".") }
    let memory = FileMemory { WallClock.now.nanoseconds }
    return files.compactMap { step, file in
      let kind: Change.Kind?
      switch file.mark {
      case .stamp(let bytes, let modified):
        kind = StandingFiles.change(of: file.path, bytes: bytes, modified: modified)
      case .digest(let digest):
        switch workspace {
        case .success(let workspace):
          kind = StandingFiles.change(
            at: file.path, digest, WorkspaceReader(workspace, memory: memory))
        case .failure(let error): kind = .unreadable("\(error)")
        }
      }
      return kind.map { Change(step: step, path: file.path, kind: $0) }
    }
  }

  private static func change(of path: String, bytes: Int, modified: Int) -> Change.Kind? {
    do throws(SystemError) {
      let stamp = try FileStamp(at: path)
      return stamp.size == bytes && stamp.modified == modified ? nil : .changed
    } catch {
      return error == .notFound ? .missing : .unreadable("\(error)")
    }
  }

  private static func change(
    at path: String, _ digest: String, _ reader: WorkspaceReader
  ) -> Change.Kind? {
    do throws(WorkspaceFault) {
      let found = try reader.tree(at: FileRecord(path: path, .directory).names)
      if found.isEmpty { return .missing }
      return found.digest == digest ? nil : .changed
    } catch {
      return error.kind == .system(.notFound) ? .missing : .unreadable(error.message)
    }
  }
}

extension StandingRule {
  /// Whether a step that has succeeded is not to be done again, and something that comes after it is to be done.
  fileprivate func isInUse(_ address: StepAddress) -> Bool {
    if anew.addresses.contains(address) { return false }
    if let index = plan.steps.firstIndex(where: { $0.address == address }) {
      return isInUse(index..<index + 1, endingWith: plan.steps[index].node)
    }
    // A step of an element goes by what is run for many: there is nothing to be said of each by itself.
    guard let loop = address.outermostLoop else { return false }
    if doneSince(loop) == nil { return true }
    if let index = plan.steps.firstIndex(where: { $0.address == loop }) {
      return isInUse(index..<index + 1, endingWith: plan.steps[index].node)
    }
    guard let group = plan.groups.firstIndex(where: { $0.address == loop }) else { return true }
    return isInUse(plan.steps(inGroup: group), endingWith: plan.groups[group].endNode)
  }

  private func isInUse(_ steps: Range<Int>, endingWith node: Plan.NodeIndex) -> Bool {
    !anew.steps.contains(where: steps.contains) && isNeeded(node, in: .run(of: plan))
  }
}
