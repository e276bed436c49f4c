import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReporting

/// One run from start to exit code: the engine works on its own threads, and this thread displays the run.
struct RunSession {
  private let plan: Plan
  private let invocation: RunInvocation
  private let inputs: InputValues
  private let selection: Selection
  private let id: RunID
  private let console: Console
  private let events: EventsWriter?
  private let displayLock = DisplayLock()
  private let arbiter: TerminalArbiter
  private let secretReader: SecretReader
  /// For a resumed run, its recorded state and the steps to rerun.
  private let past: (run: RecordedRun, rerunning: RerunSelection)?
  private let earlierRuns: EarlierRuns

  /// - Throws: If the events cannot be written; nothing has started then.
  init(
    _ plan: Plan, _ id: RunID, _ invocation: RunInvocation, _ inputs: InputValues,
    _ selection: Selection, _ console: Console, _ secrets: SecretReader,
    learningFrom earlierRuns: EarlierRuns,
    after past: (run: RecordedRun, rerunning: RerunSelection)? = nil
  ) throws(CommandError) {
    self.past = past
    self.earlierRuns = earlierRuns
    self.plan = earlierRuns.expected(plan)
    self.inputs = inputs
    self.selection = selection
    self.id = id
    secretReader = secrets
    self.invocation = invocation
    self.console = console
    let ports = [console.errors] + (invocation.events == .standardOutput ? [] : [console.output])
    arbiter = TerminalArbiter(
      displayLock, isShownOnTerminal: ports.contains { $0.descriptor.isTerminal })
    guard let target = invocation.events else {
      events = nil
      return
    }
    events = try EventsWriter(target)
  }

  /// The output buffered for the display; anything beyond is read from the logs.
  private static let displayLimitBytes = 512 << 10

  /// Runs the plan to its end.
  ///
  /// - Parameter begin: Opens the journal once everything needed from outside is available; receives the secrets,
  ///   which must not be written.
  func follow(
    recording begin: (RunSecrets) throws(CommandError) -> RunRecording?
  ) throws(CommandError) -> ExitCode {
    ThisProcess.raiseDescriptorLimit()
    let budget = DescriptorBudget.ofThisProcess
    guard budget.limit >= budget.fewest else {
      console.complain(
        CommandError(
          "the limit of open files is \(budget.limit), and \(budget.open) are open already: a run needs "
            + "a limit of \(budget.fewest) at least",
          help: "raise the limit first: ulimit -n 256"))
      return .broken
    }
    let signals = SignalHandling(Suspension(displayLock: displayLock, arbiter: arbiter))
    if let complaint = signals.start() {
      console.complain(complaint)
      return .broken
    }
    let turn: HeldKey?
    do {
      switch try waitForTurn(signals) {
      case nil: turn = nil
      case .begins(let key)?: turn = key
      case .givenUp?: return signals.first.map { .signal($0.rawValue) } ?? .usage
      }
    } catch {
      return console.refuse(error)
    }
    defer { withExtendedLifetime(turn) {} }
    let secrets: RunSecrets
    do { secrets = try readSecrets(signals) } catch {
      console.errors.write(error.diagnostics)
      return signals.first.map { .signal($0.rawValue) } ?? .usage
    }
    let recording: RunRecording?
    do { recording = try begin(secrets) } catch {
      console.complain(error)
      return .broken
    }
    // Programs that print secrets may leave an agent behind, which must not be adopted.
    if invocation.containment != .groupAndCookie {
      // If this fails, the run's first event reports the available level.
      try? ChildProcesses.adoptOrphans()
    }
    let threads = BlockingThreads()
    let start = MonotonicClock.now
    var pump: EventPump?
    let run: RunEngine
    do throws(ContainmentError) {
      run = try RunEngine.start(
        plan, configuration: configuration(secrets, threads, recording), threads: threads
      ) {
        run in
        pump = EventPump(
          run.subscribe(outputLimitBytes: RunSession.displayLimitBytes), wakeup: displayLock.wakeup)
        events?.start(run.subscribe(), on: threads)
      }
    } catch {
      throw CommandError(
        "--containment \(error.level.rawValue) cannot be had: \(error.message)",
        help: "without the option, the surest that there is will be taken")
    }
    signals.attach(run)
    show(run, pump!, since: start)
    let report = run.report
    let unrecorded = recording?.end(report)
    earlierRuns.add(run)
    let broken = run.engineFault.flatMap { $0 == unrecorded?.message ? nil : CommandError($0) }
    let faults = [unrecorded, broken, events?.finish()].compactMap(\.self)
    for fault in faults { console.complain(fault.masked(by: secrets.mask)) }
    guard let end = report.end else {
      tellHowToGoOn(report.pause)
      return ExitCode(of: report.pause, keptPromises: faults.isEmpty)
    }
    if invocation.isStrict, end.outcome == .success, end.counts.tolerated > 0 {
      console.complain(CommandError("--strict counts tolerated failures as failures"))
    }
    return ExitCode(of: end, isStrict: invocation.isStrict, keptPromises: faults.isEmpty)
  }

  private func configuration(
    _ secrets: RunSecrets, _ threads: BlockingThreads, _ recording: RunRecording?
  ) -> EngineConfiguration {
    var configuration = EngineConfiguration()
    configuration.secrets = secrets
    configuration.maxParallel = invocation.maxParallel
    configuration.onFailure = invocation.onFailure
    configuration.timeout = invocation.timeout
    configuration.inputs = inputs
    configuration.selection = selection
    if let percent = invocation.retryBudgetPercent { configuration.retryBudgetPercent = percent }
    configuration.run = id
    configuration.recorder = recording?.journal
    configuration.cookie = recording?.cookie
    configuration.past = past?.run
    if let past { configuration.rerunning = past.rerunning }
    configuration.runDirectory = recording?.directory
    configuration.logFolder = recording?.logs
    configuration.inbox = recording?.control
    configuration.leavesWhileWaiting = recording != nil
    configuration.measuresDurations = recording != nil
    let cache = RunCache.open(for: plan, invocation)
    configuration.cache = cache.access
    configuration.earlyWarnings += [cache.warning].compactMap(\.self)
    configuration.terminal = arbiter
    configuration.approver = TerminalApprover(arbiter: arbiter, threads: threads)
    if invocation.maxParallel == nil { joinJobserver(&configuration) }
    configuration.containment = invocation.containment.request
    return configuration
  }

  /// Prints the commands that answer a suspended run.
  private func tellHowToGoOn(_ pause: RunPause?) {
    let words = RecordPlace.words(for: id, stateDirectory: invocation.stateDirectory)
    for request in pause?.requests ?? [] {
      let step = ShellWord.quoted(TerminalText.harmless(request.step.text))
      console.errors.write("weft: answer: weft approve \(words) \(step)  (or with --reject)\n")
    }
    console.errors.write("weft: then: weft resume \(words)\n")
  }

  /// Waits until no other run holds the concurrency key.
  ///
  /// - Returns: `nil` if the run has no key.
  private func waitForTurn(_ signals: SignalHandling) throws(Refusal) -> ConcurrencyTurn.Result? {
    guard let concurrency = plan.workflow.concurrency else { return nil }
    let state: StateDirectory
    do { state = try StateDirectory(invocation.recordDirectory, makes: true) } catch {
      throw Refusal(error)
    }
    let turn = ConcurrencyTurn(concurrency, of: id, in: .directory(state))
    let key = "\"\(TerminalText.harmless(concurrency.key))\""
    do throws(RunStoreError) {
      return try turn.wait(
        stop: signals.stop,
        onNotice: { notice in
          switch notice {
          case .waits(let run): say("waiting for run \(run), which holds the key \(key), to end")
          case .cancels(let run):
            say("cancelling run \(run), which holds the key \(key), and waiting for it to end")
          }
        })
    } catch {
      throw Refusal(.broken, error.message, help: error.help)
    }
  }

  private func say(_ text: String) {
    console.errors.write("weft: \(text)\n")
    console.errors.flush()
  }

  /// Reads the secrets. Memory is hidden from other processes before that.
  private func readSecrets(_ signals: SignalHandling) throws(SecretsReadError) -> RunSecrets {
    let hasSecretInputs = inputs.entries.contains(where: \.isSecret)
    if !plan.usedSecrets.isEmpty || hasSecretInputs { ThisProcess.hideMemory() }
    if plan.usedSecrets.isEmpty { return RunSecrets() }
    return try secretReader.read(stop: signals.stop)
  }

  /// Takes slots from a parent make, unless `-j` sets their number.
  private func joinJobserver(_ configuration: inout EngineConfiguration) {
    guard let flags = ThisProcess.variable("MAKEFLAGS"),
      let address = MakeFlags(flags).jobserver
    else { return }
    do {
      configuration.jobserver = try JoinedJobserver(address)
    } catch {
      configuration.earlyWarnings.append(RunWarning(error))
    }
  }

  /// Displays the run until it ends or is suspended.
  private func show(_ run: RunEngine, _ events: EventPump, since start: Duration) {
    var pump = events
    let port = invocation.events == .standardOutput ? console.errors : console.output
    var settings = port.displaySettings
    if invocation.recording != .none {
      let words = RecordPlace.words(for: id, stateDirectory: invocation.stateDirectory)
      settings.howToSeeMore = RecordPlace.wayToLogs(of: words)
    }
    var reporter = Reporter(settings, labels: StepLabels(plan, mask: run.secrets.mask))
    let write: Reporter.Write = { channel, bytes in
      (channel == .output ? port : console.errors).write(bytes)
    }
    let flush = {
      port.flush()
      console.errors.flush()
    }
    displayLock.open()
    defer { displayLock.close() }
    while let events = pump.next(
      until: reporter.nextRedraw.map { start + $0 }, isWanted: { displayLock.isWanted })
    {
      reporter.handle(
        events, now: MonotonicClock.now - start, size: { port.redrawnSize }, log: run.log(of:in:),
        remaining: { run.remainingTime }, write: write)
      flush()
      guard displayLock.isWanted else { continue }
      reporter.withdraw(isVisible: port.redrawnSize != nil, write: write)
      flush()
      displayLock.yield()
    }
  }
}

extension ContainmentChoice {
  fileprivate var request: ContainmentRequest {
    switch self {
    case .auto: .automatic
    case .cgroup: .exactly(.cgroup)
    case .subreaper: .exactly(.subreaper)
    case .groupAndCookie: .exactly(.groupAndCookie)
    }
  }
}
