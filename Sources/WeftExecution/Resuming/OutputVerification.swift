import WeftCaching
import WeftDiagnostics
package import WeftEvents
package import WeftPlanning
import WeftPlatform

/// Checks on resume that the files of reusable steps are unchanged, as far as a step that still has to run may read
/// them.
///
/// It takes the files from the journal, and ``ResumePolicy`` decides which of them are still in use. The callers are
/// `weft resume` and the library, before the engine starts.
package struct OutputVerification: Sendable {
  /// A file that is missing, was changed, or cannot be checked.
  package struct Change: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
      case missing
      case changed
      /// The file cannot be checked, for this reason.
      case unreadable(String)
    }

    package let step: StepAddress
    package let path: String
    package let kind: Kind

    /// The finding, as a sentence without a full stop.
    package var message: String {
      let what =
        switch kind {
        case .missing: "no longer exists"
        case .changed: "has changed"
        case .unreadable(let why): "cannot be read: \(why)"
        }
      return "\(quoted(path)), which step \"\(step)\" created, \(what)"
    }
  }

  /// Sorted by the addresses of the steps.
  let files: [(step: StepAddress, file: RecordedOutputFile)]

  package init(of plan: Plan, recorded: RunState, rerunning: RerunSelection) {
    let rule = ResumePolicy(plan: plan, recorded: recorded, rerunning: rerunning)
    files = recorded.steps.lazy.flatMap { address, known in
      guard case .finished(_, let kept) = known.state, !kept.files.isEmpty, known.hasSucceeded,
        rule.isInUse(address, known.number)
      else { return [(step: StepAddress, file: RecordedOutputFile)]() }
      return kept.files.map { (address, $0) }
    }.sorted { ($0.step.text, $0.file.path) < ($1.step.text, $1.file.path) }
  }

  /// Compares the files with their recorded stamps or digests; a digest requires reading the file.
  ///
  /// - Parameter directory: The directory of the run; `nil` for that of the process.
  package func changes(in directory: String?) -> [Change] {
    guard !files.isEmpty else { return [] }
    let workspace = Result { () throws(SystemError) in try Directory(directory ?? ".") }
    let memory = FileMemory { WallClock.now.nanoseconds }
    return files.compactMap { step, file in
      let kind: Change.Kind?
      switch file.mark {
      case .stamp(let bytes, let modified):
        kind = OutputVerification.change(of: file.path, bytes: bytes, modified: modified)
      case .digest(let digest):
        switch workspace {
        case .success(let workspace):
          kind = OutputVerification.change(
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
    do throws(WorkspaceError) {
      let found = try reader.tree(at: FileRecord(path: path, .directory).names)
      if found.isEmpty { return .missing }
      return found.digest == digest ? nil : .changed
    } catch {
      return error.kind == .system(.notFound) ? .missing : .unreadable(error.message)
    }
  }
}

extension ResumePolicy {
  /// Whether a step that succeeded is kept while one of its dependents still has to run.
  fileprivate func isInUse(_ address: StepAddress, _ number: UInt64) -> Bool {
    guard let loop = address.outermostLoop else {
      guard let index = addresses.step(at: address) else { return false }
      return number > rerun.since(index, address)
        && isNeeded(plan.steps[index].node, in: outermost)
    }
    // A step of an element is kept or rerun with its loop, so the answer is that of the loop.
    guard successNumber(loop) != nil, let member = addresses.member(at: loop) else { return true }
    let around = EnclosingScope(loop: member, outermost, loop)
    return number > rerun.since(around, isInside: { $0 == address })
      && isNeeded(plan.closingNode(of: plan.node(of: member)), in: outermost)
  }
}
