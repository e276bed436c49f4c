import WeftDefinition
import WeftDiagnostics
import WeftEncoding
import WeftEvents
import WeftExecution
import WeftJSON
public import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReporting
import WeftReports

/// The changes of a workflow since a run of it began.
public struct WorkflowChanges: Sendable, Hashable, CustomStringConvertible {
  /// Steps whose action, script or surroundings changed, also in nested files, and groups and steps with `workflow` whose
  /// outputs or `with` did. All steps of the workflow, or of a changed file, if the earlier version is not known, or is not
  /// valid any more. They run again when the changes are accepted, groups with all their members, unless only the outputs
  /// of a group or the list of a loop changed.
  public let changed: [StepAddress]
  /// Steps that the earlier version does not have; they start like any other.
  public let added: [StepAddress]
  /// Steps that only the earlier version has; their results are dropped.
  public let removed: [StepAddress]
  /// The paths of nested files and scripts that changed or are new, sorted.
  public let files: [String]
  /// The changed steps that run again with their dependents, without those of ``relisted``.
  let rerunning: [StepAddress]
  /// Loops that have other elements in a list of the file, and nothing else: only what has changed in them runs again.
  let relisted: [StepAddress]
  /// Groups of which only the outputs changed: these are computed again, and their dependents run again.
  let recomputed: [StepAddress]
  /// Steps that are in other groups than before; those that have not succeeded are due.
  let moved: Set<StepAddress>
  /// The changes, one sentence for each kind.
  package let lines: [String]
  /// Whether they make any step start that the run has not started, or make one start again.
  package var startsSteps: Bool { !changed.isEmpty || !added.isEmpty }

  public var description: String { lines.isEmpty ? "all of it" : lines.joined(separator: "; ") }

  /// - Parameters:
  ///   - old: The plan that the run began with; `nil` if it is not known.
  ///   - files: The paths of changed nested files and scripts.
  ///   - unknown: Those whose earlier version is not known.
  ///   - recorded: The run so far.
  fileprivate init(
    from old: Plan?, to new: Plan, files: Set<String>, unknown: Set<String>,
    after recorded: RunState
  ) {
    var difference = old.map { PlanDifference(from: $0, to: new) }
    if difference?.added.isEmpty == false {
      // What the run knows of them is of a version before the earlier one.
      let addresses = PlanAddresses(new)
      let known = recorded.steps.addresses.compactMap { addresses.step(at: $0) }
      difference?.countAsChanged(Set(known.map { new.steps[$0].address }))
    }
    self.files = files.sorted()
    added = difference?.allAdded ?? []
    removed = difference?.allRemoved ?? []
    let inFiles = new.steps.filter { step in
      unknown.contains(new.files[new.groups[step.group].file].workflow.source.value?.path ?? "")
        || step.step.scriptPath.map(unknown.contains) == true
    }.map(\.address)
    let own = difference?.allChanged ?? new.steps.map(\.address)
    let known = Set(own)
    changed = own + inFiles.filter { !known.contains($0) }
    relisted = difference?.relisted ?? []
    moved = difference?.moved ?? []
    let relistedSteps = (difference?.relistedSteps ?? []).subtracting(inFiles)
    recomputed = difference?.groupsWithOtherOutputs ?? []
    let kept = relistedSteps.union(recomputed)
    rerunning = changed.filter { !kept.contains($0) }
    let uncleaned = old.map { new.cleanupsLost(from: $0, after: recorded) } ?? []
    lines = WorkflowChanges.lines(difference, uncleaned, self.files, from: old, to: new)
  }

  private static func lines(
    _ difference: PlanDifference?, _ uncleaned: [StepAddress], _ files: [String],
    from old: Plan?, to new: Plan
  ) -> [String] {
    var lines = files.map { "\"\($0)\" has changed" }
    guard let difference, let old else { return lines }
    for (verb, steps, plan) in [
      ("changed", difference.allChanged, new), ("added", difference.allAdded, new),
      ("removed", difference.allRemoved, old),
    ] where !steps.isEmpty {
      lines.append("\(verb) \(named(steps, in: plan))")
    }
    if !uncleaned.isEmpty {
      lines.append("removed the pending cleanup of \(named(uncleaned, in: old)): it will not run")
    }
    return lines.isEmpty ? [lineWithoutSteps(from: old, to: new)] : lines
  }

  /// The line for changes that make no step run again.
  private static func lineWithoutSteps(from old: Plan, to new: Plan) -> String {
    let difference = DefinitionDifference(from: old, to: new)
    let keys =
      difference.workflow.map { "\"\($0)\" of the workflow" }
      + difference.changed.flatMap { member in
        member.keys.map { "\"\($0.path)\" of \"\(member.address)\"" }
      }
    guard !keys.isEmpty else { return "no step has changed, but the order of steps" }
    let rest = keys.count > 5 ? " and \(keys.count - 5) more" : ""
    return "no step has changed, but " + keys.prefix(5).joined(separator: ", ") + rest
  }

  private static func named(_ steps: [StepAddress], in plan: Plan) -> String {
    let labels = StepLabels(plan)
    let shown = steps.prefix(10).map { step in
      "\"\(step)\"" + (labels.title(of: step).map { " (\($0))" } ?? "")
    }.joined(separator: ", ")
    return shown + (steps.count > 10 ? " and \(steps.count - 10) more" : "")
  }
}

extension Step {
  /// The path of the script file that it was read from.
  fileprivate var scriptPath: String? {
    guard case .file(let script)? = place.value?.texts.first(where: { $0.site == .script })?.source
    else { return nil }
    return script.path
  }
}

/// The changes of a workflow with which a run may be resumed.
public enum AcceptedChanges: Sendable, Hashable {
  /// No change: a changed workflow is refused.
  case none
  /// Every change.
  case all
  /// Changes of these steps only, whether they changed, were added or were removed. A workflow whose earlier version
  /// is not known counts as changed in all its steps.
  case steps(Set<StepAddress>)

  func accept(_ changes: WorkflowChanges) -> Bool {
    switch self {
    case .none: false
    case .all: true
    case .steps(let steps):
      (changes.changed + changes.added + changes.removed).allSatisfy(steps.contains)
    }
  }
}

extension PreviousRun {
  /// Compares a plan with the workflow that the run began with.
  ///
  /// - Returns: The plan, with the numbers that the run has for steps without an id. No changes if no file has changed but
  ///   for white space and comments, and for a workflow that was built in Swift and still is.
  package func compare(
    with new: Plan
  ) throws(RunStoreError) -> (plan: Plan, changes: WorkflowChanges?) {
    let recorded = try recordedFile()
    let numbers = recorded.flatMap { run.numbers[RecordedFile.hash(of: $0)] } ?? StepNumbers()
    let source = new.workflow.source.value
    var texts = journal.folder?.texts(of: opening) ?? RecordedTexts()
    texts.workflow = recorded
    let files = changedFiles(in: new, since: texts)
    let isSame =
      if let recorded { source?.reads(like: recorded) ?? false } else {
        opening.hash == source.map { RecordedFile.hash(of: $0.bytes) }
      }
    if isSame, files.isEmpty {
      guard numbers.fit(new.workflow) else {
        throw RunStoreError(
          message:
            "the journal of run \(id) is damaged: the numbers of its steps do not fit its workflow",
          help: "start a new run")
      }
      return (new.numbered(numbers), nil)
    }
    let unknown = files.filter { texts.named[$0] == nil }
    // The file that names them may still be compared.
    for file in new.namedFiles where texts.named[file.path] == nil {
      texts.named[file.path] = file.bytes
    }
    let old = opening.plan(of: texts, numbered: numbers)
    let numbered = old.map { new.numbered(after: $0) } ?? new
    let changes = WorkflowChanges(
      from: old, to: numbered, files: files, unknown: unknown, after: run)
    return (numbered, changes)
  }

  /// Returns the nested files and scripts that have changed or are new.
  private func changedFiles(in plan: Plan, since texts: RecordedTexts) -> Set<String> {
    let before = Dictionary(
      opening.nested.map { ($0.path, $0.hash) }, uniquingKeysWith: { first, _ in first })
    let workflows = Set(plan.files.compactMap(\.workflow.source.value?.path))
    var changed: Set<String> = []
    for source in plan.namedFiles where before[source.path] != RecordedFile.hash(of: source.bytes) {
      if workflows.contains(source.path), let recorded = texts.named[source.path],
        source.reads(like: recorded)
      {
        continue
      }
      changed.insert(source.path)
    }
    return changed
  }
}

extension SourceFile {
  /// Whether the JSON file differs from an earlier text of it in white space, comments and trailing commas at most.
  fileprivate func reads(like earlier: [UInt8]) -> Bool {
    func text(of bytes: [UInt8]) -> String? {
      JSONReader.read(SourceFile(path: path, bytes: bytes)).root.map { JSONValue($0).description }
    }
    return bytes == earlier || text(of: bytes).map { $0 == text(of: earlier) } ?? false
  }
}
