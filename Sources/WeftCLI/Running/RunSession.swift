import Weft
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftReporting

/// One run from start to exit code: the engine works on its own threads, and this thread displays the run.
struct RunSession {
  private let engine: Engine
  private let prepared: PreparedRun
  private let settings: RunSettings
  private let console: Console
  private let events: EventsWriter?
  private let telemetry: RunTelemetry
  private let control: RunControl
  private var displayLock: DisplayLock { control.displayLock }
  private var arbiter: TerminalArbiter { control.arbiter }
  /// Whether the run has a journal of an earlier engine.
  private let isResumed: Bool

  /// - Parameter watch: The watch with several runs to which this one belongs.
  /// - Throws: If the events cannot be written; nothing has started then.
  init(
    _ engine: Engine, _ prepared: PreparedRun, _ settings: RunSettings, _ telemetry: RunTelemetry,
    _ console: Console, isResumed: Bool = false, in watch: WatchSession? = nil
  ) throws(CommandFailure) {
    self.engine = engine
    self.prepared = prepared
    self.settings = settings
    self.telemetry = telemetry
    self.console = console
    self.isResumed = isResumed
    control = watch?.control ?? RunControl(settings, console)
    try settings.check(against: prepared.plan)
    guard let target = settings.events else {
      events = nil
      return
    }
    do { events = try EventsWriter(target, isContinued: watch?.hasRun == true) } catch {
      throw CommandFailure(isResumed ? .broken : .usage, error.message, help: error.help)
    }
  }

  /// The output buffered for the display; anything beyond is read from the logs.
  private static let displayLimitBytes = 512 << 10
  /// The waiting steps among which the display looks for those to show.
  private static let waitingLimit = 100

  /// Runs the plan to its end.
  ///
  /// - Parameter watch: The watch to which the run belongs.
  func follow(for watch: WatchSession? = nil) throws(CommandFailure) -> ExitCode {
    try checkDescriptors()
    try control.start()
    let signals = control.signals
    var (pump, start) = (EventPump?.none, Duration.zero)
    var surroundings = surroundings(signals)
    surroundings.cachedFiles = watch?.cachedFiles
    if watch != nil {
      let stop = StopSwitch()
      signals.stop.whenRequested { stop.request(.graceful) }
      surroundings.stop = stop
    }
    surroundings.subscribe = { run in
      start = MonotonicClock.now
      pump = EventPump(
        run.subscribe(outputLimitBytes: RunSession.displayLimitBytes), wakeup: displayLock.wakeup)
      events?.start(run.subscribe(), on: engine.threads)
    }
    let run: Run
    do {
      watch?.attach(waiting: surroundings.stop)
      run = try engine.launch(prepared, surroundings)
    } catch {
      if case .givenUp = error, watch?.hasCancelledRun == true { return .failure }
      throw CommandFailure(
        error, isResumed ? .resumed(prepared.id) : .new, first: signals.first)
    }
    signals.attach(run)
    watch?.attach(run.live)
    show(run.live, pump!, since: start)
    return end(run)
  }

  private func checkDescriptors() throws(CommandFailure) {
    ThisProcess.raiseDescriptorLimit()
    let budget = DescriptorBudget.ofThisProcess
    guard budget.limit < budget.fewest else { return }
    throw CommandFailure(
      .broken,
      "the limit of open files is \(budget.limit), and \(budget.open) are already open: a run "
        + "needs a limit of at least \(budget.fewest)",
      help: "raise the limit first: ulimit -n 256")
  }

  /// The port of the display.
  private var display: OutputPort {
    settings.events == .standardOutput ? console.errors : console.output
  }

  private func surroundings(_ signals: SignalHandling) -> RunSurroundings {
    var surroundings = RunSurroundings()
    surroundings.ownsProcess = true
    surroundings.stop = signals.stop
    surroundings.terminal = arbiter
    if settings.mayPrompt {
      surroundings.approver = TerminalApprover(arbiter: arbiter, threads: engine.threads)
    }
    surroundings.tracksOpenLines = display.displaySettings.mode == .live
    surroundings.notify = { notice in
      switch notice {
      case .turn(.waits(let run), let key):
        say("waiting for run \(run), which holds the key \(shown(key)), to end")
      case .turn(.cancels(let run), let key):
        say("cancelling run \(run), which holds the key \(shown(key)), and waiting for it to end")
      case .continued(let previous): reportSalvage(previous)
      }
    }
    return surroundings
  }

  private func shown(_ key: String) -> String { "\"\(TerminalText.harmless(key))\"" }

  private func say(_ text: String) {
    console.errors.write("weft: \(text)\n")
    console.errors.flush()
  }

  /// Reports the part of the journal that was put aside.
  private func reportSalvage(_ previous: PreviousRun) {
    guard previous.contents.tornBytes > 0, let folder = previous.journal.folder else { return }
    let what = previous.contents.damage == nil ? "are incomplete" : "follow a damaged record"
    console.errors.write(
      "weft: warning: the last \(previous.contents.tornBytes) bytes of the journal \(what), and "
        + "are saved in \"\(folder.directory.path)/\(RunFolder.tornName)\"\n")
  }

  /// Waits until the journal is closed, and reports everything that is not as it should be.
  private func end(_ run: Run) -> ExitCode {
    let closing = run.waitUntilClosed()
    defer { telemetry.finish(masking: run) }
    let unrecorded = closing.fault.map { CommandError($0.message, help: $0.help) }
    let broken = run.live.engineFault.flatMap {
      $0 == unrecorded?.message ? nil : CommandError($0)
    }
    let faults = [unrecorded, broken, events?.finish()].compactMap(\.self)
    for fault in faults { console.report(fault.masked(by: run.live.secrets.mask)) }
    defer {
      for (old, fault) in closing.unremoved {
        console.errors.write(
          "weft: warning: the record of run \(old) could not be removed: "
            + "\(CommandError(fault.message).harmlessMessage)\n")
      }
    }
    writeStepTable(closing.report, of: run.live)
    guard let end = closing.report.end else {
      reportWayToResume(closing.report.pause)
      return ExitCode(of: closing.report.pause, keptPromises: faults.isEmpty)
    }
    let isRejected = settings.isStrict && closing.report.hasToleratedFailures
    if isRejected, end.outcome == .success {
      console.report(CommandError("--strict counts tolerated failures as failures"))
    }
    return ExitCode(of: end, isRejected: isRejected, keptPromises: faults.isEmpty)
  }

  /// Appends a table of the steps to the job summary of GitHub Actions.
  private func writeStepTable(_ report: RunReport, of run: RunEngine) {
    guard display.displaySettings.annotatesForGitHub,
      let path = ThisProcess.variable("GITHUB_STEP_SUMMARY"), !path.isEmpty
    else { return }
    let table = StepTable(
      report, labels: StepLabels(run.plan, mask: run.secrets.mask),
      run: settings.place.reference(to: prepared.id, isRecorded: settings.durability != nil))
    var reason: String
    do throws(SystemError) {
      let file = try Descriptor.creating(path, .orExtended)
      do throws(WriteError) {
        return try file.writeAll(Array(run.secrets.mask.masked(table.rendered()).utf8))
      } catch {
        reason = error.message
      }
    } catch {
      reason = "\(error)"
    }
    reason = TerminalText.harmless(reason)
    console.errors.write(
      "weft: warning: the table of steps cannot be added to $GITHUB_STEP_SUMMARY: \(reason)\n")
  }

  /// Prints the commands that answer a suspended run.
  private func reportWayToResume(_ pause: RunPause?) {
    let words = settings.place.words(for: prepared.id)
    for request in pause?.requests ?? [] {
      let step = ShellWord.quoted(TerminalText.harmless(request.step.text))
      console.errors.write("weft: answer: weft approve \(words) \(step)  (or with --reject)\n")
    }
    console.errors.write("weft: then: weft resume \(words)\n")
  }

  /// Displays the run until it ends or is suspended.
  private func show(_ run: RunEngine, _ events: EventPump, since start: Duration) {
    var pump = events
    let display = RunDisplay(
      StepLabels(run.plan, mask: run.secrets.mask), console,
      onErrors: settings.events == .standardOutput, output: settings.output,
      run: settings.place.reference(to: prepared.id, isRecorded: settings.durability != nil))
    displayLock.open()
    defer { displayLock.close() }
    while let events = pump.next(
      until: display.nextRedraw.map { start + $0 }, isWanted: { displayLock.isWanted })
    {
      display.show(
        events, at: MonotonicClock.now - start, log: run.log(of:in:),
        remaining: { run.remainingTime },
        waiting: { run.waitingSteps(atMost: RunSession.waitingLimit) },
        openLine: run.openLine(of:))
      display.flush()
      guard displayLock.isWanted else { continue }
      display.withdraw()
      displayLock.yield()
    }
  }
}

/// The signals and the terminal, which the program has only once, even for several runs.
struct RunControl: Sendable {
  let displayLock: DisplayLock
  let arbiter: TerminalArbiter
  let signals: SignalHandling

  init(_ settings: RunSettings, _ console: Console) {
    let ports = [console.errors] + (settings.events == .standardOutput ? [] : [console.output])
    displayLock = DisplayLock()
    arbiter = TerminalArbiter(
      displayLock, isShownOnTerminal: ports.contains { $0.descriptor.isTerminal })
    signals = SignalHandling(Suspension(displayLock: displayLock, arbiter: arbiter))
  }

  /// Listens for signals; must be called first before the program creates a thread.
  func start() throws(CommandFailure) {
    if let commandError = signals.start() {
      throw CommandFailure(.broken, commandError.message, help: commandError.help)
    }
  }
}

/// The display of a run on the program's output.
final class RunDisplay {
  private var reporter: Reporter
  private let console: Console
  private let port: OutputPort

  /// - Parameters:
  ///   - onErrors: Whether the display is on standard error, because standard output has something else.
  ///   - output: The display of step output.
  ///   - run: The run for the commands that the display suggests.
  init(
    _ labels: StepLabels, _ console: Console, onErrors: Bool = false, output: OutputMode,
    run: RunReference
  ) {
    self.console = console
    port = onErrors ? console.errors : console.output
    var settings = port.displaySettings
    settings.run = run
    settings.output = output
    reporter = Reporter(settings, labels: labels)
  }

  /// The time of the next redraw; `nil` if only events matter.
  var nextRedraw: Duration? { reporter.nextRedraw }

  /// Shows events and the passage of time.
  ///
  /// - Parameter now: The time since the start of the engine.
  func show(
    _ events: [RunEvent], at now: Duration, log: @escaping Reporter.ReadLog,
    remaining: @escaping () -> Duration? = { nil },
    waiting: @escaping () -> WaitingSteps = { WaitingSteps() },
    openLine: @escaping (StepAddress) -> [UInt8]? = { _ in nil }
  ) {
    reporter.handle(
      events, now: now, size: { port.redrawnSize }, log: log, remaining: remaining,
      waiting: waiting, openLine: openLine, write: write)
  }

  /// Leaves the screen to other output until the next event.
  func withdraw() {
    reporter.withdraw(isVisible: port.redrawnSize != nil, write: write)
    flush()
  }

  func flush() {
    port.flush()
    console.errors.flush()
  }

  private var write: Reporter.Write {
    { [port] bytes in port.write(bytes) }
  }
}
