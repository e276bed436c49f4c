package import WeftCaching
package import WeftDefinition
import WeftDiagnostics
import WeftEvents
package import WeftExecution
package import WeftPlanning
package import WeftPlatform
package import WeftRecord

/// A run that is ready to start: its inputs and its selection are checked, and nothing but the journal of a run to
/// resume has been opened.
package struct PreparedRun {
  package let id: RunID
  /// The plan with all values that are known before the start.
  package let plan: Plan
  var inputs: InputValues
  /// The indices of the steps that are not selected.
  let excluded: [Int]
  /// The store of the journal; also the place where the run learns durations and waits for its turn.
  let store: (any RunStore)?
  let isRecorded: Bool
  var resumed: (run: PreviousRun, rerunning: RerunSelection)?
  /// The answers that the caller gives to steps with `approve` before the start.
  var answers: [StepAddress: Bool] = [:]
  /// Claims the descriptors of secrets when it is made.
  let secrets: SecretReader
}

/// The reason why a run was not started. Nothing of it is running.
package enum StartError: Error {
  /// The options, the inputs, the values that are known before the start, or the secrets.
  case workflow(WorkflowError)
  case choice(StepChoiceError)
  /// Files that reusable steps made are missing or changed.
  case changedFiles([OutputVerification.Change])
  /// Processes of the previous engine that could not be terminated.
  case orphans(of: RunID, [ProcessRecord])
  /// The caller gave up waiting for this key.
  case givenUp(key: String)
  /// A later run has replaced this one while it waited for the key.
  case superseded(key: String, by: RunID)
  case turn(RunStoreError)
  case journal(RunStoreError)
  /// The kept state of the workflow cannot be read.
  case state(RunStoreError)
  case containment(ContainmentError)
}

/// The surroundings of a run: those that a program gives to its only run, or those of a library.
package struct RunSurroundings {
  /// Asks for approval, unless the engine has a callback for it.
  package var approver: (any Approver)?
  package var terminal: (any TerminalAccess)?
  /// Whether a display asks for lines of output that have not ended: ``RunEngine/openLine(of:)``.
  package var tracksOpenLines = false
  /// Learns which files the cached steps read and make.
  package var cachedFiles: (@Sendable (CachedFiles) -> Void)?
  /// Whether the process serves this run only. If so, its memory is hidden when there are secrets, it adopts the
  /// orphans of steps, and it takes slots from a jobserver in `MAKEFLAGS`.
  package var ownsProcess = false
  /// Ends the wait for a turn, and the reading of secrets.
  package var stop = StopSwitch()
  /// Ends the wait for a turn, too.
  package var isGivenUp: () -> Bool = { false }
  package var notify: (Notice) -> Void = { _ in }
  /// Called with the run before its first event.
  package var subscribe: (RunEngine) -> Void = { _ in }
  /// Replaces the world around the engine.
  package var simulation: SimulatedWorld?

  package init() {}

  /// Progress to show before the first event.
  package enum Notice {
    case turn(ConcurrencyTurn.Notice, key: String)
    /// The journal of the previous engine is continued.
    case continued(PreviousRun)
  }

  /// The surroundings of runs inside another program: an engine waits until its task is cancelled.
  static var embedding: RunSurroundings {
    var surroundings = RunSurroundings()
    surroundings.isGivenUp = { Task.isCancelled }
    return surroundings
  }
}

extension Engine {
  /// Checks everything about a new run that can be wrong before it takes its turn.
  ///
  /// - Parameters:
  ///   - store: See ``PreparedRun/store``.
  ///   - isRecorded: Whether the store, if there is one, keeps a journal of the run.
  ///   - id: The run's; a new one by default.
  package func prepare(
    _ plan: Plan, _ inputs: InputValues, in store: (any RunStore)?, isRecorded: Bool = true,
    id: RunID = RunID.make(at: WallClock.now)
  ) throws(StartError) -> PreparedRun {
    let placed = try placed(plan, on: options.runner)
    let bound = try bound(placed, inputs, id, in: isRecorded ? store : nil)
    let excluded: [Int]
    do { excluded = try bound.stepsSkipped(by: options.choice) } catch {
      throw .choice(error)
    }
    return PreparedRun(
      id: id, plan: bound, inputs: inputs, excluded: excluded, store: store, isRecorded: isRecorded,
      secrets: SecretReader(
        bound.excluding(excluded).usedSecrets, startDirectory: options.startDirectory))
  }

  func placed(_ plan: Plan, on runner: String?) throws(StartError) -> Plan {
    guard let runner else { return plan }
    var placed = plan
    if let problem = placed.choose(runner: runner) {
      throw .workflow(WorkflowError(diagnostics: [problem]))
    }
    return placed
  }

  func bound(
    _ plan: Plan, _ inputs: InputValues, _ run: RunID, in store: (any RunStore)?
  ) throws(StartError) -> Plan {
    let (bound, problems) = plan.bound(
      to: inputs, run: run, in: (store as? FileRunStore)?.folderPath(of: run))
    guard problems.isEmpty else { throw .workflow(WorkflowError(diagnostics: problems)) }
    return bound
  }

  /// Starts a run: it takes its turn, reads the secrets, opens the journal, and starts the engine.
  ///
  /// Blocks while another run has the key of the workflow's `concurrency`, and while the secrets are read.
  package func launch(
    _ checked: PreparedRun, _ surroundings: RunSurroundings
  ) throws(StartError) -> Run {
    var prepared = checked
    var wanted = prepared.plan.excluding(prepared.excluded)
    let turn = try takeTurn(prepared, surroundings)
    let secrets = try readSecrets(of: wanted, prepared, surroundings)
    if surroundings.simulation == nil { wanted.fileVariables = try fileVariables(of: wanted) }
    var configuration = configuration(of: prepared, secrets, surroundings)
    prepared.inputs.state = try state(
      of: prepared, isSimulated: surroundings.simulation != nil, &configuration)
    configuration.inputs = prepared.inputs
    configuration.trace = beginTrace(of: prepared)
    let journal = try openJournal(of: prepared, &configuration)
    if let (previous, _) = prepared.resumed { surroundings.notify(.continued(previous)) }
    // Programs that print secrets may leave an agent behind, which must not be adopted.
    if surroundings.ownsProcess, options.containment != .groupAndCookie {
      // If this fails, the run's first event reports the available level.
      try? ChildProcesses.adoptOrphans()
    }
    openCache(for: wanted, prepared.store, &configuration)
    // Other runs do not know the steps by these numbers.
    let isShared = wanted.numbers.isEmpty
    let history = (isShared ? prepared.store : nil).flatMap { store in
      WorkflowKey(wanted).map { (store: store, key: $0) }
    }
    configuration.measuresDurations = journal != nil && history != nil
    let plan = history.map { wanted.expecting($0.store.history(of: $0.key)) } ?? wanted
    let subscribe = { [trace = configuration.trace, answers = prepared.answers] (run: RunEngine) in
      // Before its first event, and so before it can be suspended.
      for (step, isApproved) in answers { run.answer(step, .ofProgram(isApproved)) }
      surroundings.subscribe(run)
      self.follow(run, trace)
    }
    let live: RunEngine
    do throws(ContainmentError) {
      live =
        if let simulation = surroundings.simulation {
          try simulation.start(plan, configuration, subscribe)
        } else {
          try RunEngine.start(
            plan, configuration: configuration, threads: threads,
            subscribing: subscribe)
        }
    } catch {
      journal?.releaseHold()
      throw .containment(error)
    }
    turn?.onRelease { [weak live] in live?.cancel(.requested) }
    let (store, kept) = (prepared.store as? FileRunStore, options.keptRuns)
    return Run(live) { report in
      var closing = RunClosing(report: report)
      closing.fault = journal?.close(report, after: live.recordFault)
      if let measures = live.measures, let history {
        history.store.add(
          measures, of: live.plan, succeeded: report.succeeded, to: history.key)
      }
      if let kept, journal != nil, let store,
        let state = try? StateDirectory(store.directory, makes: false)
      {
        closing.unremoved = state.removeEndedRuns(keeping: kept, and: live.id)
      }
      turn?.release()
      return closing
    }
  }

  /// - Returns: The key of the workflow's `concurrency`, which is held until the run has ended; `nil` without one.
  private func takeTurn(
    _ prepared: PreparedRun, _ surroundings: RunSurroundings
  ) throws(StartError) -> HeldKey? {
    guard let concurrency = prepared.plan.workflow.concurrency else { return nil }
    let other: StartError
    do throws(RunStoreError) {
      let place = try (prepared.store as? FileRunStore)?.concurrencyPlace ?? .process
      let turn = ConcurrencyTurn(concurrency, of: prepared.id, in: place)
      let result = try turn.wait(
        stop: surroundings.stop, isGivenUp: surroundings.isGivenUp,
        onNotice: { surroundings.notify(.turn($0, key: concurrency.key)) })
      switch result {
      case .begins(let key): return key
      case .givenUp: other = .givenUp(key: concurrency.key)
      case .superseded(let run): other = .superseded(key: concurrency.key, by: run)
      }
    } catch {
      throw .turn(error)
    }
    throw other
  }

  private func readSecrets(
    of wanted: Plan, _ prepared: PreparedRun, _ surroundings: RunSurroundings
  ) throws(StartError) -> RunSecrets {
    if let simulation = surroundings.simulation { return simulation.secrets }
    let isNeeded = !wanted.usedSecrets.isEmpty
    if surroundings.ownsProcess, isNeeded || prepared.inputs.entries.contains(where: \.isSecret) {
      ThisProcess.hideMemory()
    }
    guard isNeeded else { return RunSecrets() }
    do { return try prepared.secrets.read(stop: surroundings.stop) } catch {
      throw .workflow(WorkflowError(diagnostics: error.diagnostics))
    }
  }

  /// The variables of env files, which a resumed run reads again, as it does secrets.
  private func fileVariables(of plan: Plan) throws(StartError) -> FileVariables {
    let reader = EnvironmentFileReader(
      for: plan, startDirectory: options.startDirectory, inheriting: options.environmentBlock)
    do { return try reader.variables(for: plan) } catch {
      throw .workflow(WorkflowError(diagnostics: error.diagnostics))
    }
  }

  private func configuration(
    of prepared: PreparedRun, _ secrets: RunSecrets, _ surroundings: RunSurroundings
  ) -> EngineConfiguration {
    var configuration = EngineConfiguration()
    configuration.run = prepared.id
    configuration.selection = Selection(excluding: prepared.excluded, of: prepared.plan)
    let reads = prepared.plan.unselectedReads(excluding: prepared.excluded)
    if prepared.resumed == nil, !reads.isEmpty {
      configuration.earlyWarnings.append(.unselectedValues(reads))
    }
    configuration.secrets = secrets
    if let (previous, rerunning) = prepared.resumed {
      configuration.journal.recorded = previous.run
      configuration.journal.rerunning = rerunning
    }
    configuration.maxParallel = options.maxParallel
    configuration.onFailure = options.onFailure
    configuration.timeout = options.timeout
    configuration.retryBudgetPercent = options.retryBudgetPercent
    configuration.startDirectory = options.startDirectory
    configuration.stopPolicy.grace = options.grace
    configuration.resources.approver = approver ?? surroundings.approver
    configuration.resources.terminal = surroundings.terminal
    configuration.resources.containment =
      options.containment.map { .exactly(WeftPlatform.ContainmentLevel($0)) } ?? .automatic
    configuration.resources.tracksOpenLines = surroundings.tracksOpenLines
    configuration.resources.cachedFiles = surroundings.cachedFiles
    configuration.actions = actions
    configuration.commandRunner = commands
    configuration.randomSeed = options.randomSeed
    configuration.environment = options.environmentBlock
    if let time {
      let start = time.now
      let began = WallTime.now
      configuration.time = time
      configuration.wallClock = { began.advanced(by: time.now - start) }
    }
    configuration.resources.transport = transport
    if surroundings.ownsProcess, options.maxParallel == nil { joinJobserver(&configuration) }
    surroundings.simulation?.configure(&configuration)
    return configuration
  }

  /// Creates the journal, or continues that of the previous engine.
  private func openJournal(
    of prepared: PreparedRun, _ configuration: inout EngineConfiguration
  ) throws(StartError) -> RunJournal? {
    guard prepared.isRecorded, let store = prepared.store else { return nil }
    let resumed = prepared.resumed
    var contents = RunFolder.Contents(
      of: prepared.plan, prepared.id, prepared.inputs, excluding: prepared.excluded,
      rerunning: resumed?.rerunning ?? RerunSelection(), hiding: configuration.secrets)
    if let resumed { contents.opening.resumption = resumed.run.run.resumptions + 1 }
    contents.opening.trace = configuration.trace?.context
    contents.opening.onFailure = options.onFailure
    contents.opening.timeout = options.timeout
    let beginning = RunBeginning(contents)
    let journal: RunJournal
    do throws(RunStoreError) {
      if let previous = resumed?.run {
        journal = previous.journal
        configuration.journal.recorder = try journal.recorder(
          for: beginning, after: previous.contents, startedAt: .now, salvaging: previous.salvages)
      } else {
        journal = try store.begin(beginning)
        do {
          configuration.journal.recorder = try journal.recorder(for: beginning, startedAt: .now)
        } catch {
          journal.releaseHold()
          throw error
        }
      }
    } catch {
      throw .journal(error)
    }
    configuration.journal.cookie = contents.opening.cookie
    configuration.journal.suspendsWhileWaiting = true
    configuration.journal.inbox = journal.folder?.control
    configuration.journal.logFolder = journal.folder?.logs
    configuration.journal.runDirectory = journal.folder?.path
    return journal
  }

  /// Opens the step cache if a step may use it.
  private func openCache(
    for plan: Plan, _ store: (any RunStore)?, _ configuration: inout EngineConfiguration
  ) {
    guard let path = options.cacheDirectory, plan.steps.contains(where: \.isCached) else { return }
    var own = path
    if let directory = (store as? FileRunStore)?.directory, path == StepCache.path(in: directory) {
      own = directory
      _ = try? StateDirectory(directory, makes: true)
    }
    do {
      let cache = try StepCache(path, limit: options.cacheLimitBytes ?? StepCache.defaultLimit)
      configuration.cache = CacheAccess(cache, reads: options.readsCache, stateDirectory: own)
    } catch {
      configuration.earlyWarnings.append(.noCache(because: error.message))
    }
  }

  /// Takes slots from a parent make.
  private func joinJobserver(_ configuration: inout EngineConfiguration) {
    guard let flags = ThisProcess.variable("MAKEFLAGS"), let address = MakeFlags(flags).jobserver
    else { return }
    do { configuration.resources.jobserver = try JoinedJobserver(address) } catch {
      configuration.earlyWarnings.append(RunWarning(error))
    }
  }
}

extension StepCache {
  /// The path of the step cache in a state directory.
  package static func path(in state: String) -> String { "\(state)/\(folderName)" }
}

extension RunJournal {
  /// Writes the report of the ended run, and releases the run for other engines.
  ///
  /// - Parameter fault: The reason why the journal is incomplete.
  /// - Returns: The reason why the journal or the report is.
  fileprivate func close(_ report: RunReport, after fault: RecordError?) -> RunStoreError? {
    guard let folder else { return fault.map { RunStoreError(message: $0.message, help: $0.help) } }
    defer { folder.releaseHold() }
    if let fault { return RunStoreError(message: fault.message, help: fault.help) }
    // A suspended run has no end to report yet.
    guard report.end != nil else { return nil }
    do { try folder.write(report) } catch {
      return RunStoreError(message: "the report of the run cannot be written: \(error.message)")
    }
    return nil
  }
}

// MARK: Errors of embedded runs

extension StartError {
  /// The error of a run without a store, all of whose errors are diagnostics.
  var workflowError: WorkflowError {
    switch self {
    case .workflow(let error): return error
    case .choice(let error):
      return WorkflowError(diagnostics: [
        Diagnostic(
          .error, code: "W0226", message: "the engine's options: \(error.message)", place: nil,
          help: error.help)
      ])
    case .changedFiles, .orphans, .givenUp, .superseded, .turn, .journal, .state, .containment:
      let error = storeError
      return WorkflowError(diagnostics: [
        Diagnostic(
          .error, code: "W0229", message: error.message, place: nil, help: error.help,
          key: isAboutContainment ? "options.containment" : "concurrency")
      ])
    }
  }

  private var isAboutContainment: Bool { if case .containment = self { true } else { false } }

  /// The error of a run with a store: a ``WorkflowError`` if the caller has to change the workflow or its values.
  var reported: any Error {
    switch self {
    case .workflow, .choice: workflowError
    case .changedFiles, .orphans, .givenUp, .superseded, .turn, .journal, .state, .containment:
      storeError
    }
  }

  package var storeError: RunStoreError {
    switch self {
    case .workflow(let error): return RunStoreError(message: error.description)
    case .choice(let error): return RunStoreError(message: error.message, help: error.help)
    case .changedFiles(let changes):
      let more = changes.count > 1 ? ", and \(changes.count - 1) more have changed" : ""
      return RunStoreError(
        message: (changes.first?.message ?? "") + more,
        help: "name the step in `rerunning`, or accept changed files")
    case .orphans(let run, let processes):
      let one = processes.first.map { "process \($0.id)" } ?? "something"
      return RunStoreError(
        message: "cannot resume run \(run): \(one) is still running",
        help: OrphanedProcesses.help)
    case .givenUp(let key):
      return RunStoreError(
        message: "cancelled while waiting for the key \"\(key)\"")
    case .superseded(let key, let run):
      return RunStoreError(
        message: "nothing was started: run \(run), which came later, takes the key "
          + "\"\(TerminalText.harmless(key))\"")
    case .turn(let error), .journal(let error), .state(let error): return error
    case .containment(let error):
      return RunStoreError(
        message: "the containment \"\(error.level.rawValue)\" is not available: \(error.message)",
        help: "set no `containment` in the options to use the strongest available")
    }
  }
}
