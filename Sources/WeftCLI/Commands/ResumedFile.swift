import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftLoading
import WeftPlanning
import WeftPlatform
import WeftRecord

/// Changes to the files of a workflow since a run of it began.
struct FileChanges {
  /// The steps to rerun, along with their dependents.
  var changed: [StepAddress] = []
  /// The descriptions for the user.
  var reported: [String] = []
}

/// The workflow of a resumed run: as it was read then, and as it is now.
struct ResumedFile {
  private let opening: RecordOpening
  /// The recorded content; `nil` if it was not recorded.
  private let recorded: [UInt8]?
  private let run: RunID

  /// - Parameter first: The first opening record of the run.
  /// - Throws: If the recorded file does not match the journal.
  init(
    _ folder: RunFolder, _ opening: RecordOpening, first: RecordOpening?
  ) throws(Refusal) {
    self.opening = opening
    run = folder.run
    do throws(RunFolderError) {
      recorded = try folder.workflow()
      guard opening.file != nil else { return }
      guard let recorded else { throw .missing(RunFolder.workflowName, folder.run) }
      // An engine killed while it accepted changes leaves the hash of one version and the content of the other.
      let hash = SHA256.text(of: SHA256.digest(of: recorded))
      guard [opening.hash, first?.hash].contains(hash) else {
        throw .altered("\(folder.directory.path)/\(RunFolder.workflowName)")
      }
    } catch {
      throw Refusal(.broken, error.message, help: error.help)
    }
  }

  /// Returns the plan for resuming.
  func plan(
    acceptingChanges: Bool
  ) throws(Refusal) -> (Plan, FileChanges) {
    guard let path = opening.file, let recorded else {
      throw Refusal(
        .usage, "run \(run) is of a workflow that was not a file",
        help: "only the program that has started it can go on with it")
    }
    // A workflow from standard input exists only in the run's folder.
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
    // Nested files are only known as steps in their present version.
    let old = try? plan(of: SourceFile(path: path, bytes: recorded), at: path)
    let difference = old.map { PlanDifference(from: $0, to: new) }
    let inOthers = new.steps.filter { step in
      others.contains(new.files[new.groups[step.group].file].workflow.source.value?.path ?? "")
    }.map(\.address)
    guard acceptingChanges else {
      throw refusal(path, difference, others)
    }
    // If the old file is no longer valid, no step counts as done.
    var changed = difference?.changed ?? new.steps.map(\.address)
    changed += inOthers.filter { !changed.contains($0) }
    return (new, FileChanges(changed: changed, reported: reported(difference, others)))
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

  /// Returns the nested files that have changed or are new.
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

  // MARK: Messages

  private func refusal(
    _ path: String, _ difference: PlanDifference?, _ others: Set<String>
  ) -> Refusal {
    let lines = reported(difference, others)
    return Refusal(
      .rejected,
      "the workflow has changed since run \(run) began: "
        + (lines.isEmpty ? "\"\(path)\"" : lines.joined(separator: "; ")),
      help: "--accept-changes goes on with it as it is now, and does again what has changed")
  }

  private func reported(_ difference: PlanDifference?, _ others: Set<String>) -> [String] {
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
