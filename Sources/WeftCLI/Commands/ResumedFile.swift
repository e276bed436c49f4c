import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftLoading
import WeftPlanning
import WeftPlatform
import WeftRecord

/// What has become of a workflow's files since a run of it began.
struct FileChanges {
  /// Steps that are done again, and with them what depends on them.
  var changed: [StepAddress] = []
  /// What people are told.
  var told: [String] = []
}

/// The workflow of a run that is gone on with: as it was read then, and as it is now.
struct ResumedFile {
  private let opening: RecordOpening
  /// As it was; `nil` where it was not recorded.
  private let recorded: [UInt8]?
  private let run: RunID

  /// - Parameter first: How the run began.
  /// - Throws: Where the record has not the file of which the journal speaks.
  init(
    _ folder: RunFolder, _ opening: RecordOpening, first: RecordOpening?
  ) throws(Refusal) {
    self.opening = opening
    run = folder.run
    do throws(RunFolderFault) {
      recorded = try folder.workflow()
      guard opening.file != nil else { return }
      guard let recorded else { throw .missing(RunFolder.workflowName, folder.run) }
      // An engine that was killed while it took changes over has left the hash of one file, and the other file.
      let hash = SHA256.text(of: SHA256.digest(of: recorded))
      guard [opening.hash, first?.hash].contains(hash) else {
        throw .altered("\(folder.directory.path)/\(RunFolder.workflowName)")
      }
    } catch {
      throw Refusal(.broken, error.message, help: error.help)
    }
  }

  /// The plan to go on with.
  func plan(
    acceptingChanges: Bool
  ) throws(Refusal) -> (Plan, FileChanges) {
    guard let path = opening.file, let recorded else {
      throw Refusal(
        .usage, "run \(run) is of a workflow that was not a file",
        help: "only the program that has started it can go on with it")
    }
    // What came from standard input is nowhere else.
    guard path != "<stdin>" else {
      return (try plan(of: SourceFile(path: path, bytes: recorded), at: nil), FileChanges())
    }
    let bytes: [UInt8]
    do { bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.fileBytes) } catch {
      throw Refusal(
        .usage, "\"\(path)\" \(error.message)", help: "run \(run) began with this file")
    }
    let new = try plan(of: SourceFile(path: path, bytes: bytes), at: path)
    let others = changedFiles(in: new)
    if bytes == recorded, others.isEmpty { return (new, FileChanges()) }
    // Of the other files only their present content is known as steps.
    let old = try? plan(of: SourceFile(path: path, bytes: recorded), at: path)
    let difference = old.map { PlanDifference(from: $0, to: new) }
    let inOthers = new.steps.filter { step in
      others.contains(new.files[new.groups[step.group].file].workflow.source.value?.path ?? "")
    }.map(\.address)
    guard acceptingChanges else {
      throw refusal(path, difference, others)
    }
    // Where the old file cannot be understood any more, nothing of it is taken as done.
    var changed = difference?.changed ?? new.steps.map(\.address)
    changed += inOthers.filter { !changed.contains($0) }
    return (new, FileChanges(changed: changed, told: told(difference, others)))
  }

  private func plan(
    of file: SourceFile, at path: String?
  ) throws(Refusal) -> Plan {
    let (workflow, syntax) = WorkflowLoader.load(file, at: path)
    guard let workflow else { throw Refusal(.rejected, syntax) }
    let (plan, structure) = Planner.plan(workflow)
    let diagnostics = (syntax + structure).sortedByPlace()
    guard let plan, !diagnostics.contains(where: \.isError) else {
      throw Refusal(.rejected, diagnostics)
    }
    return plan
  }

  /// The other files that are not as they were, or were not there.
  private func changedFiles(in plan: Plan) -> Set<String> {
    let before = Dictionary(
      opening.nested.map { ($0.path, $0.hash) }, uniquingKeysWith: { first, _ in first })
    var changed: Set<String> = []
    for file in plan.files.dropFirst() {
      guard let source = file.workflow.source.value else { continue }
      if before[source.path] != SHA256.text(of: SHA256.digest(of: source.bytes)) {
        changed.insert(source.path)
      }
    }
    return changed
  }

  // MARK: Telling

  private func refusal(
    _ path: String, _ difference: PlanDifference?, _ others: Set<String>
  ) -> Refusal {
    let lines = told(difference, others)
    return Refusal(
      .rejected,
      "the workflow has changed since run \(run) began: "
        + (lines.isEmpty ? "\"\(path)\"" : lines.joined(separator: "; ")),
      help: "--accept-changes goes on with it as it is now, and does again what has changed")
  }

  private func told(_ difference: PlanDifference?, _ others: Set<String>) -> [String] {
    var lines = others.sorted().map { "\"\($0)\" is another" }
    guard let difference else { return lines }
    let named = { (verb: String, steps: [StepAddress]) in
      if !steps.isEmpty {
        let shown = steps.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
        let more = steps.count > 10 ? " and \(steps.count - 10) more" : ""
        lines.append("\(verb) \(shown)\(more)")
      }
    }
    named("changed", difference.changed)
    named("added", difference.added)
    named("removed", difference.removed)
    if lines.isEmpty { lines.append("no step is another than it was") }
    return lines
  }
}
