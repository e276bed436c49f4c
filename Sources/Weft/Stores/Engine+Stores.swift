public import WeftDefinition
import WeftEvents
import WeftExecution
public import WeftJSON
import WeftPlanning
import WeftPlatform
public import WeftRecord

/// Runs with a journal.
extension Engine {
  /// Checks a workflow and starts it, with a journal in a store.
  ///
  /// A record is in the store before the action that it announces. If one cannot be written, nothing new starts,
  /// running steps finish, and ``Run/recordFault`` says why. A run that can only proceed with an answer, and has
  /// no approver, is suspended (``RunReport/pause``); another engine can resume it.
  ///
  /// `concurrency` serializes a workflow with other runs of its key: with a ``FileRunStore`` with all runs whose
  /// journals are in its directory, including those of `weft` and of other processes; with another store with
  /// runs of this process. With the policies `wait` and `cancelPrevious` this blocks until such a run has ended,
  /// or the calling task is cancelled.
  ///
  /// - Parameters:
  ///   - inputs: Values by name, in upper or lower case; inputs with a default may be omitted. Inputs that are
  ///     not secret are recorded.
  ///   - store: The store for the journal.
  /// - Throws: ``WorkflowError``, or ``RunStoreError`` if the journal cannot be created, or another run has the
  ///   key of the workflow's `concurrency` and its policy is `refuse`; nothing has been started then.
  public func start(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:], in store: any RunStore
  ) throws -> Run {
    let id = RunID.make(at: WallClock.now)
    let made = try prepare(
      try plan(workflow), id, inputs: inputs,
      directory: (store as? FileRunStore)?.folderPath(of: id))
    let beginning = RunBeginning(
      RunFolder.Contents(
        of: made.plan, made.run, made.configuration.inputs, leavingOut: made.leftOut,
        hiding: made.configuration.secrets))
    let key = try waitForTurn(of: made, in: try place(of: store))
    let journal = try store.begin(beginning)
    do {
      let recorder = try journal.recorder(for: beginning, startedAt: .now)
      return start(made, journal, beginning, recorder, store, holding: key)
    } catch {
      journal.letGo()
      throw error
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
  /// - Throws: ``WorkflowError``, or ``RunStoreError`` if there is no such run, another engine has it, it has
  ///   succeeded (a missing report in its directory is written then), its journal is damaged, or the workflow or
  ///   a file made by a step has changed; nothing has been started then.
  public func resume(
    _ run: RunID, _ workflow: Workflow, inputs: [String: JSONValue] = [:],
    rerunning steps: [String] = [], rerunningInterrupted rerunsInterrupted: Bool = false,
    skippingInterrupted skipsInterrupted: Bool = false,
    acceptingChangedFiles acceptsChangedFiles: Bool = false,
    in store: any RunStore
  ) throws -> Run {
    let plan = try plan(workflow)
    let journal = try store.take(run)
    do {
      let contents = try journal.contents(of: run)
      do { try refuse(contents.run, run, plan) } catch {
        if contents.run.end?.outcome == .success { try writeMissingReport(of: plan, in: journal) }
        throw error
      }
      var made = try prepare(
        plan, run, inputs: inputs, after: contents.run.lastOpening,
        directory: (store as? FileRunStore)?.folderPath(of: run))
      made.configuration.past = contents.run
      made.configuration.rerunning = try rerunSelection(steps, in: made.plan)
      if rerunsInterrupted || skipsInterrupted {
        let interrupted = made.configuration.rerunning.interrupted(of: contents.run, in: made.plan)
        if rerunsInterrupted {
          made.configuration.rerunning.addresses.formUnion(interrupted)
        } else {
          made.configuration.rerunning.accepted.formUnion(interrupted)
        }
      }
      if !acceptsChangedFiles {
        try refuseChanges(
          OutputVerification(
            of: made.plan, past: contents.run, rerunning: made.configuration.rerunning
          )
          .changes(in: made.configuration.startDirectory))
      }
      let key = try waitForTurn(of: made, in: try place(of: store))
      try terminateOrphans(of: run, contents.run)
      var next = RunFolder.Contents(
        of: made.plan, run, made.configuration.inputs, leavingOut: made.leftOut,
        rerunning: made.configuration.rerunning, hiding: made.configuration.secrets)
      next.opening.resumption = contents.run.resumptions + 1
      let beginning = RunBeginning(next)
      let recorder = try journal.recorder(for: beginning, after: contents, startedAt: .now)
      return start(made, journal, beginning, recorder, store, holding: key)
    } catch {
      journal.letGo()
      throw error
    }
  }

  private func start(
    _ made: Preparation, _ journal: RunJournal, _ beginning: RunBeginning,
    _ recorder: any RunRecorder, _ store: any RunStore, holding turn: HeldKey?
  ) -> Run {
    var configuration = made.configuration
    configuration.cookie = beginning.contents.opening.cookie
    configuration.recorder = recorder
    configuration.leavesWhileWaiting = true
    if let folder = journal.folder {
      configuration.inbox = folder.control
      configuration.logFolder = folder.logs
    }
    let key = WorkflowKey(made.plan)
    configuration.measuresDurations = key != nil
    let wanted = made.plan.leavingOut(made.leftOut)
    let plan = key.map { wanted.expecting(store.history(of: $0)) } ?? wanted
    let run = launch(plan, configuration, holding: turn)
    run.keepUntilItEnds(journal)
    if let key { run.keepDurations(in: store, of: key) }
    return run
  }

  /// The set of runs with which `concurrency` serializes those of a store.
  private func place(of store: any RunStore) throws(RunStoreError) -> ConcurrencyTurn.Place {
    try (store as? FileRunStore)?.concurrencyPlace ?? .process
  }

  private func refuse(_ past: RecordedRun, _ run: RunID, _ plan: Plan) throws(RunStoreError) {
    if past.end?.outcome == .success {
      throw RunStoreError(
        message: "run \(run) has succeeded", help: "there is nothing to go on with")
    }
    let now = RunFolder.Contents(of: plan, run, .none).opening
    guard past.lastOpening?.hash == now.hash, past.lastOpening?.nested == now.nested else {
      throw RunStoreError(
        message: "the workflow of run \(run) is another than it was",
        help:
          "read it as it was when the run began; \"weft resume --accept-changes\" goes on with a changed file"
      )
    }
  }

  private func writeMissingReport(
    of plan: Plan, in journal: RunJournal
  ) throws(RunStoreError) {
    do { try journal.folder?.writeMissingReport { plan } } catch { throw RunStoreError(error) }
  }

  private func rerunSelection(_ names: [String], in plan: Plan) throws(RunStoreError)
    -> RerunSelection
  {
    var rerunning = RerunSelection()
    for name in names {
      do { rerunning.steps.formUnion(try plan.stepsLeftOut(by: StepChoice(skip: [name]))) } catch {
        throw RunStoreError(message: "\"\(name)\" is not a step of the workflow")
      }
    }
    return rerunning
  }

  private func refuseChanges(_ changes: [OutputVerification.Change]) throws(RunStoreError) {
    guard let first = changes.first else { return }
    let more = changes.count > 1 ? ", and \(changes.count - 1) more are not as they were" : ""
    throw RunStoreError(
      message: first.message + more,
      help: "name the step in `rerunning`, or accept changed files")
  }

  /// Terminates orphans, so that no step ever runs twice at the same time.
  private func terminateOrphans(of run: RunID, _ past: RecordedRun) throws(RunStoreError) {
    defer { RunSearch.clear() }
    let orphans = OrphanedProcesses(of: run, past: past)
    guard !orphans.processes.isEmpty else { return }
    _ = orphans.end()
    guard let one = orphans.processes.first else { return }
    throw RunStoreError(
      message: "run \(run) cannot be gone on with while process \(one.id) of it is alive",
      help: OrphanedProcesses.help)
  }
}

extension WallTime {
  fileprivate static var now: WallTime { WallTime(nanoseconds: WallClock.now.nanoseconds) }
}
