public import WeftDefinition
import WeftDiagnostics
import WeftEvents
package import WeftExecution
public import WeftJSON
package import WeftPlanning
package import WeftPlatform
public import WeftRecord

extension Engine {
  /// The rules by which a recorded run is resumed. The defaults rerun nothing that succeeded, and accept no change.
  public struct ResumeOptions: Sendable, Hashable {
    /// The effect on a step that was running when its engine was killed, and that is not idempotent.
    public enum Interrupted: Sendable, Hashable {
      /// It fails with the class ``ErrorClass/inDoubt``.
      case fail
      /// It runs again.
      case rerun
      /// It counts as done: its failure is tolerated, and it has no outputs.
      case skip
    }

    /// The addresses of steps and groups to rerun with all their members, whatever the journal says; also of single
    /// elements of loops, as in the events.
    public var rerunning: [String] = []
    /// The addresses of the steps and groups to rerun with their dependents.
    public var from: [String] = []
    /// The effect on steps that were interrupted and are not idempotent.
    public var interrupted = Interrupted.fail
    /// The changes of the workflow to accept. Changed steps and their dependents run again.
    public var acceptedChanges = AcceptedChanges.none
    /// Whether to resume although a file that a reusable step made is missing or changed. Only files that steps
    /// declare (`cache.outputs`, `saveTo`) and that others may still use are checked.
    public var acceptsChangedFiles = false
    /// Whether to resume even a damaged journal, from the records before the damage. A ``FileRunStore`` keeps the
    /// others in a separate file; with another store a damaged journal is refused.
    public var salvages = false
    /// Answers to steps with `approve`: `true` approves. The engine has them before it can be suspended, unlike those of
    /// ``Run/approve(_:)``. An answer to a step that this engine does not reach is lost;
    /// ``FileRunStore/answer(_:of:approved:)`` keeps it.
    public var answers: [StepAddress: Bool] = [:]

    /// Creates the default rules.
    public init() {}

    /// Whether a run that has succeeded has nothing to do: no step is in doubt then.
    ///
    /// - Parameter changes: The accepted changes of the workflow.
    package func isIdleAfterSuccess(_ changes: WorkflowChanges?) -> Bool {
      rerunning.isEmpty && from.isEmpty && changes?.startsSteps != true
    }
  }

  /// Resumes a run that has not succeeded from its journal: steps that succeeded do not start again.
  ///
  /// Terminates the orphans of a killed engine first, and blocks until they have ended. Failed, cancelled and
  /// blocked steps start again with all their retries. A step that was running when its engine was killed starts
  /// again if it is idempotent or named by `rerunning`; otherwise it fails with the class ``ErrorClass/inDoubt``.
  ///
  /// - Parameters:
  ///   - workflow: The workflow that the run began with. A workflow read from a file is checked; for one built in
  ///     Swift the caller is responsible.
  ///   - inputs: Values of secret inputs, which are not recorded; the others come from the journal.
  ///   - steps: Steps and groups to rerun with all their members, whatever the journal says.
  ///   - rerunsInterrupted: Whether to rerun every step that was running when an engine was killed. If not, those
  ///     that are not idempotent fail with the class ``ErrorClass/inDoubt``.
  ///   - skipsInterrupted: Whether those count as done instead: their failure is tolerated and they have no
  ///     outputs. Ignored with `rerunsInterrupted`.
  ///   - acceptsChangedFiles: Whether to resume although a file that a reusable step made is missing or changed.
  ///     Only files that steps declare (`cache.outputs`, `saveTo`) and that others may still use are checked.
  /// - Throws: As ``resume(_:_:inputs:options:in:)``.
  public func resume(
    _ run: RunID, _ workflow: Workflow, inputs: [String: JSONValue] = [:],
    rerunning steps: [String] = [], rerunningInterrupted rerunsInterrupted: Bool = false,
    skippingInterrupted skipsInterrupted: Bool = false,
    acceptingChangedFiles acceptsChangedFiles: Bool = false,
    in store: any RunStore
  ) throws -> Run {
    var options = ResumeOptions()
    options.rerunning = steps
    options.interrupted = rerunsInterrupted ? .rerun : skipsInterrupted ? .skip : .fail
    options.acceptsChangedFiles = acceptsChangedFiles
    return try resume(run, workflow, inputs: inputs, options: options, in: store)
  }

  /// Resumes a run from its journal by the given rules.
  ///
  /// Terminates the orphans of a killed engine first, and blocks until they have ended; then the run takes its turn,
  /// like a new run, if the workflow has `concurrency`. The selection of steps is that of the first engine:
  /// ``Options/only``, ``Options/skip`` and ``Options/from`` are ignored.
  ///
  /// - Parameters:
  ///   - workflow: The workflow as it is now. One read from a file is compared with the one that the run began with;
  ///     for one built in Swift the caller is responsible.
  ///   - inputs: Values of secret inputs, which are not recorded; the others come from the journal.
  /// - Throws: ``WorkflowError``, or ``RunStoreError`` if there is no such run, another engine has it, its journal is
  ///   damaged, it has succeeded and nothing is named to rerun (a missing report in its directory is written then),
  ///   the workflow or a file made by a step has changed and that is not accepted, an orphan cannot be terminated,
  ///   or another run has the key of `concurrency` and the policy is `refuse`. Nothing has been started then.
  public func resume(
    _ run: RunID, _ workflow: Workflow, inputs: [String: JSONValue] = [:],
    options resuming: ResumeOptions, in store: any RunStore
  ) throws -> Run {
    var plan = try plan(workflow)
    let previous = try PreviousRun(run, in: store, salvaging: resuming.salvages)
    do {
      // Changes that are not accepted do not matter for a run that has nothing to do.
      let isClosed = previous.hasSucceeded && resuming.acceptedChanges == .none
      var changes: WorkflowChanges?
      if !isClosed || !resuming.isIdleAfterSuccess(nil) {
        (plan, changes) = try previous.compare(with: plan)
      }
      if previous.hasSucceeded, resuming.isIdleAfterSuccess(changes) {
        do { try previous.writeMissingReport(unlessRecorded: plan) } catch {
          throw RunStoreError(error)
        }
        throw RunStoreError(
          message: "run \(run) has succeeded", help: "there is nothing left to resume")
      }
      if let changes, !resuming.acceptedChanges.accept(changes) {
        throw RunStoreError(
          message: "the workflow has changed since run \(run) began: \(changes)",
          help: "read the workflow as it was when the run began, or accept its changes")
      }
      try checkOptions()
      let values = try values(of: inputs, previous.opening.inputs, for: workflow)
      do throws(StartError) {
        let prepared = try prepare(plan, values, after: previous, changes, resuming, in: store)
        return try launch(prepared, .embedding)
      } catch {
        if case .workflow(let error) = error { throw error }
        throw error.storeError
      }
    } catch {
      previous.journal.releaseHold()
      throw error
    }
  }

  /// Compares a workflow with the one that a run began with.
  ///
  /// - Returns: `nil` if no file of the workflow has changed, except for white space, comments and trailing commas, and for
  ///   workflows built in Swift.
  /// - Throws: ``WorkflowError``, or ``RunStoreError`` if there is no such run, another engine has it, or its journal
  ///   is damaged.
  public func changes(
    to workflow: Workflow, since run: RunID, in store: any RunStore
  ) throws -> WorkflowChanges? {
    let plan = try plan(workflow)
    let previous = try PreviousRun(run, in: store)
    defer { previous.journal.releaseHold() }
    return try previous.compare(with: plan).changes
  }

  /// Checks everything about a run to resume that can be wrong before it takes its turn, and terminates its orphans.
  ///
  /// - Parameters:
  ///   - changes: The accepted changes of the workflow.
  ///   - store: A path in it is relative to the current directory.
  package func prepare(
    _ plan: Plan, _ inputs: InputValues, after previous: PreviousRun, _ changes: WorkflowChanges?,
    _ resuming: ResumeOptions, in store: any RunStore,
    notify: (PreviousRun.Notice) -> Void = { _ in }
  ) throws(StartError) -> PreparedRun {
    guard !previous.opening.withholdsArguments else {
      throw .workflow(WorkflowError(diagnostics: [.argumentsNotRecorded(of: previous.id)]))
    }
    var inputs = inputs
    inputs.arguments = previous.opening.arguments
    let placed = try placed(plan, on: options.runner ?? previous.run.lastOpening?.runner)
    let bound = try bound(placed, inputs, previous.id, in: store)
    var previous = previous
    var rerunning = try previous.rerunSelection(resuming, in: bound)
    // A step that is named runs even if the run began without it.
    let skipped = Set(previous.opening.excluded)
    let excluded = bound.stepsExcluded(
      Set(bound.steps.indices.filter { skipped.contains(bound.steps[$0].address) }),
      except: rerunning.steps)
    let relisted = rerunning.addElements(
      of: changes?.relisted ?? [], in: bound, after: previous.run)
    let recomputed = changes?.recomputed ?? []
    rerunning.addresses.formUnion(bound.groups(recomputedWith: recomputed))
    for group in relisted.compared + recomputed {
      rerunning.steps.formUnion(try bound.steps(after: group.text))
    }
    let changed = ((changes?.rerunning ?? []) + relisted.unknown).map(\.text)
    rerunning.steps.formUnion(try bound.steps(from: changed))
    rerunning.addMembers(
      added: changes?.added ?? [], moved: changes?.moved ?? [], in: bound, after: previous.run)
    rerunning.leaveOutCleanups(of: bound, except: resuming.rerunning + resuming.from)
    let interrupted = rerunning.interrupted(of: previous.run, in: bound)
    if !interrupted.isEmpty {
      switch resuming.interrupted {
      case .fail: break
      case .rerun: rerunning.addresses.formUnion(interrupted)
      case .skip: rerunning.accepted.formUnion(interrupted)
      }
      let unrecorded = interrupted.filter { previous.run.steps[$0]?.wasDone ?? false }
      let unknown = interrupted.filter { !unrecorded.contains($0) }
      if !unknown.isEmpty { notify(.interrupted(unknown, resuming.interrupted)) }
      if !unrecorded.isEmpty { notify(.valuesNotRecorded(unrecorded, resuming.interrupted)) }
    }
    previous.contents.run.request(rerunOf: rerunning.addresses(in: bound))
    let changedFiles = OutputVerification(of: bound, recorded: previous.run, rerunning: rerunning)
      .changes(in: options.startDirectory)
    if !changedFiles.isEmpty {
      guard resuming.acceptsChangedFiles else { throw .changedFiles(changedFiles) }
      notify(.changedFiles(changedFiles))
    }
    try previous.terminateOrphans(notify: notify, adoptedBy: bound)
    TemporaryRemains.remove(of: previous.id)
    return PreparedRun(
      id: previous.id, plan: bound, inputs: inputs, excluded: excluded, store: store,
      isRecorded: true, resumed: (previous, rerunning),
      answers: resuming.answers,
      secrets: SecretReader(
        bound.excluding(excluded).usedSecrets, startDirectory: options.startDirectory))
  }
}

/// A recorded run that is about to be resumed, with its journal, which this process holds.
package struct PreviousRun: Sendable {
  /// Findings to show before the run is resumed.
  package enum Notice {
    case interrupted([StepAddress], Engine.ResumeOptions.Interrupted)
    /// Steps that an earlier engine left in doubt because a value of them that others read is not recorded.
    case valuesNotRecorded([StepAddress], Engine.ResumeOptions.Interrupted)
    case changedFiles([OutputVerification.Change])
    /// These have been asked to end, and have not yet.
    case waitsForOrphans([ProcessRecord])
    case orphansTerminated([ProcessRecord])
  }

  package let id: RunID
  package let journal: RunJournal
  package fileprivate(set) var contents: JournalContents
  /// The opening record of the last engine.
  package let opening: RecordOpening
  let salvages: Bool

  package var run: RunState { contents.run }
  package var hasSucceeded: Bool { run.end?.outcome == .success }

  /// Holds and reads the journal.
  ///
  /// - Parameter salvages: Whether a damaged journal counts up to its damage.
  /// - Throws: If there is no such run, another engine holds it, or its journal is damaged.
  package init(
    _ run: RunID, in store: any RunStore, salvaging salvages: Bool = false
  ) throws(RunStoreError) {
    id = run
    self.salvages = salvages
    journal = try store.take(run)
    do throws(RunStoreError) {
      contents = try journal.contents(of: run, salvaging: salvages)
      guard let opening = contents.run.lastOpening else { throw RunStoreError(.empty(run)) }
      self.opening = opening
    } catch {
      journal.releaseHold()
      throw error
    }
  }

  /// Writes the report of an ended run whose engine ended before it could.
  ///
  /// - Parameter plan: The plan of the run, for a run whose file is not recorded.
  /// - Returns: Whether the report was missing or damaged.
  @discardableResult
  package func writeMissingReport(
    unlessRecorded plan: Plan? = nil
  ) throws(RunFolderError) -> Bool {
    guard let folder = journal.folder else { return false }
    return try folder.writeMissingReport { () throws(RunFolderError) -> Plan in
      let texts = folder.texts(of: opening)
      let recorded = RecordedPlan(id, opening, texts, in: folder.path).plan
      guard let plan = recorded ?? plan else { throw .missing(RunFolder.workflowName, id) }
      return plan
    }
  }

  /// Returns the workflow file as the run began with it; `nil` if it is not recorded.
  ///
  /// - Throws: If it is missing, or does not match the journal.
  package func recordedFile() throws(RunStoreError) -> [UInt8]? {
    guard let folder = journal.folder else { return nil }
    do throws(RunFolderError) {
      let recorded = try folder.workflow()
      guard opening.file != nil else { return recorded }
      guard let recorded else { throw .missing(RunFolder.workflowName, id) }
      // An engine killed while it accepted changes leaves the hash of one version and the content of an earlier one.
      guard run.numbers[RecordedFile.hash(of: recorded)] != nil else {
        throw .altered("\(folder.directory.path)/\(RunFolder.workflowName)")
      }
      return recorded
    } catch {
      throw RunStoreError(error)
    }
  }

  /// Returns the steps to rerun that the options name, with the dependents of those in `from`.
  fileprivate func rerunSelection(
    _ resuming: Engine.ResumeOptions, in plan: Plan
  ) throws(StartError) -> RerunSelection {
    var rerunning = RerunSelection(steps: try plan.steps(from: resuming.from))
    do throws(StepChoiceError) {
      for name in resuming.rerunning {
        let named = StepAddress(parsing: name)
        let inside = run.steps.addresses.filter { step in
          named.map(step.isInside) ?? false && !run.isFormer(step)
        }
        if named?.hasElement == true, !inside.isEmpty {
          rerunning.addresses.formUnion(inside)
        } else {
          rerunning.steps.formUnion(try plan.stepsExcluded(by: StepChoice(skip: [name])))
        }
      }
      return rerunning
    } catch {
      guard case .element(let name, _) = error else { throw .choice(error) }
      // Elements can be chosen, too: this one does not exist.
      throw .choice(.unknown(name, nearest: nil))
    }
  }

  /// Terminates the orphans of a killed engine: a step must never run twice at the same time. The next one adopts some.
  fileprivate func terminateOrphans(
    notify: (Notice) -> Void, adoptedBy plan: Plan
  ) throws(StartError) {
    defer { RunSearch.clear() }
    let orphans = OrphanedProcesses(of: id, recorded: run, adoptedBy: plan)
    guard !orphans.processes.isEmpty else { return }
    let end = orphans.end { notify(.waitsForOrphans($0)) }
    if !end.ended.isEmpty { notify(.orphansTerminated(end.ended)) }
    let left = end.orphans + (end.orphans.isEmpty ? orphans.processes.map(\.record) : [])
    guard left.isEmpty else { throw .orphans(of: id, left) }
  }
}

extension Plan {
  /// The named steps and groups, and their dependents.
  fileprivate func steps(from names: [String]) throws(StartError) -> Set<Int> {
    if names.isEmpty { return [] }
    do throws(StepChoiceError) {
      return Set(steps.indices).subtracting(try stepsExcluded(by: StepChoice(from: names)))
    } catch {
      throw .choice(error)
    }
  }
}

extension Plan {
  /// The dependents of a step or group, without itself and its members.
  fileprivate func steps(after name: String) throws(StartError) -> Set<Int> {
    let all = try steps(from: [name])
    do throws(StepChoiceError) {
      return all.subtracting(try stepsExcluded(by: StepChoice(skip: [name])))
    } catch {
      throw .choice(error)
    }
  }
}

extension Diagnostic {
  fileprivate static func argumentsNotRecorded(of run: RunID) -> Diagnostic {
    Diagnostic(
      .error, code: "W0430",
      message: "the arguments of run \(run) contain a secret, and are not recorded", place: nil,
      help: "start a new run; to resume one, declare an input with \"secret\": true instead")
  }
}
