import Weft
import WeftCaching
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftReporting
import WeftTelemetry

/// `weft run`: checks the file, runs it, displays it, and reports how it ended.
struct RunCommand: Subcommand {
  private let file: FileOperand
  private let settings: RunSettings
  private let choice: StepChoice
  private let isDryRun: Bool
  /// The number of runs to keep.
  private let keptRuns: Int
  /// `nil` to run once.
  private let watching: WatchSettings?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    settings = try RunSettings(parsed)
    keptRuns =
      try parsed.count(of: .keepAfterRun, in: 1...1_000_000) ?? CleaningPolicy.defaultCount
    file = try FileOperand(parsed)
    watching = try WatchSettings(parsed, file.inputs, besides: settings.writtenFiles)
    choice = parsed.choice
    isDryRun = parsed.isGiven(.dryRun)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    if isDryRun {
      let preview = try file.preview(console, choosing: choice, isStrict: settings.isStrict)
      console.output.write(preview.plan, as: .tree)
      return .success
    }
    let reports = try settings.reports.checked(isRecorded: settings.durability != nil)
    guard let watching else { return try run(reports, console) }
    let control = RunControl(settings, console)
    try control.start()
    let watch = try WatchSession(watching, of: file.path, settings.place.path, control, console)
    return try watch.follow { () throws(CommandFailure) in try run(reports, console, watch) }
  }

  /// Runs the file once.
  ///
  /// - Parameter watch: The watch to which the run belongs.
  private func run(
    _ reports: ReportTargets, _ console: Console, _ watch: WatchSession? = nil
  ) throws(CommandFailure) -> ExitCode {
    let (plan, inputs) = try file.planned(
      console, isStrict: settings.isStrict, allowsMissing: false
    ) { (file) throws(CommandFailure) in try watch?.begin(file) }
    var options = settings.options(in: settings.place.path)
    options.only = choice.only
    options.skip = choice.skip
    options.from = choice.from
    options.keptRuns = keptRuns
    let telemetry = RunTelemetry(settings.collector, console)
    let engine = Engine(options: options, tracer: telemetry.tracer)
    let prepared: PreparedRun
    do {
      prepared = try engine.prepare(
        plan, inputs, in: settings.store(in: settings.place.path),
        isRecorded: settings.durability != nil)
    } catch {
      throw CommandFailure(error, .new)
    }
    // Shows warnings before the steps' output.
    console.errors.flush()
    let session = try RunSession(
      engine, prepared, settings, telemetry, console, in: watch)
    let code = try session.follow(for: watch)
    return reports.write(prepared.id, settings.place, console, after: code)
  }
}

/// The options that `weft run` and `weft resume` share.
struct RunSettings: Sendable {
  /// `nil` for the workflow's own value.
  let maxParallel: Int?
  /// `nil` for the workflow's own value.
  let onFailure: FailureResponse?
  let isStrict: Bool
  /// Whether to ask for approvals at a terminal.
  let mayPrompt: Bool
  /// `nil` for the workflow's own value.
  let timeout: Duration?
  let events: EventsTarget?
  /// The display of step output.
  let output: OutputMode
  /// Written when the run has ended.
  let reports: ReportTargets
  /// The collector of traces; `nil` leaves it to the environment.
  let collector: TelemetrySettings?
  /// `nil` for the strongest available.
  let containment: WeftEvents.ContainmentLevel?
  /// `nil` for no journal.
  let durability: RecordDurability?
  let place: RecordDirectory
  /// Whether cached results replace running a step.
  let readsCache: Bool
  /// `nil` for the default.
  let cacheLimit: ByteCount?
  /// `nil` for the engine's default.
  let retryBudgetPercent: Int?
  /// `nil` for the workflow's own.
  let runner: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    maxParallel = try parsed.count(of: .jobs, in: 1...WorkflowLimits.maxParallel)
    onFailure =
      parsed.isGiven(.keepGoing) ? .continue : parsed.isGiven(.failFast) ? .cancel : nil
    isStrict = parsed.isGiven(.strictRun)
    mayPrompt = !parsed.isGiven(.noPrompt)
    timeout = try parsed.duration(of: .timeout)
    events = try parsed.eventsTarget(of: .events)
    output = try parsed.outputMode
    reports = try ReportTargets(parsed)
    collector = try parsed.collector(of: .otlp)
    containment =
      parsed.value(of: .containment) == "auto" ? nil : try parsed.word(of: .containment)
    durability =
      parsed.value(of: .record) == "none" ? nil : try parsed.word(of: .record) ?? .process
    place = RecordDirectory(parsed)
    readsCache = !parsed.isGiven(.noCache)
    cacheLimit = try parsed.cacheLimit()
    retryBudgetPercent = try parsed.count(of: .retryBudget, in: ValueRule.retryBudgetPercent)
    runner = parsed.value(of: .runner)
  }

  /// The files that this program writes besides its record: reports, events, and its output if that is a file.
  var writtenFiles: [String] {
    let streams = [1, 2].compactMap { number -> String? in
      let path = "/proc/self/fd/\(number)"
      guard case .file? = (try? FileStamp(at: path))?.kind else { return nil }
      return try? FileSystem.resolved(path)
    }
    if case .file(let path)? = events { return reports.paths + streams + [path] }
    return reports.paths + streams
  }

  /// Refuses to replace a file of the workflow by events or a report.
  func check(against plan: Plan) throws(CommandFailure) {
    let sources = plan.files.compactMap { $0.workflow.source.value?.path }
    let files = Set(sources.compactMap { try? FileSystem.resolved($0) })
    func check(_ path: String, _ option: String) throws(CommandFailure) {
      guard let resolved = try? FileSystem.resolved(path), files.contains(resolved) else { return }
      throw CommandFailure(
        .usage, "\(option) would overwrite \"\(path)\", a file of the workflow",
        help: "name another file")
    }
    if case .file(let path)? = events { try check(path, "--events") }
    for path in reports.paths { try check(path, "--report") }
  }

  /// Returns the options of the engine.
  ///
  /// - Parameter state: The state directory, which also has the step cache.
  func options(in state: String) -> Engine.Options {
    var options = Engine.Options()
    options.maxParallel = maxParallel
    options.onFailure = onFailure
    options.timeout = timeout
    options.containment = containment
    options.runner = runner
    options.cacheDirectory = StepCache.path(in: state)
    options.readsCache = readsCache
    options.cacheLimitBytes = cacheLimit?.bytes
    if let retryBudgetPercent { options.retryBudgetPercent = retryBudgetPercent }
    return options
  }

  func store(in state: String) -> FileRunStore {
    FileRunStore(directory: state, durability: durability ?? .process)
  }
}

extension CommandFailure {
  enum Start {
    case new
    case resumed(RunID)
  }

  /// - Parameter first: The signal that ended the start.
  init(_ error: StartError, _ start: Start, first: Signal? = nil) {
    switch error {
    case .workflow(let error): self.init(ExitCode(of: first), error.diagnostics)
    case .givenUp: self.init(ExitCode(of: first))
    case .superseded: self.init(.signal(Signal.interrupt.rawValue), error.storeError.message)
    case .choice(let error): self.init(error)
    case .changedFiles(let changes):
      let more = changes.count > 10 ? "; and \(changes.count - 10) more" : ""
      let step = ShellWord.quoted(changes[0].step.text)
      self.init(
        .rejected, changes.prefix(10).map(\.message).joined(separator: "; ") + more,
        help: "use --rerun \(step) to create it again, or --accept-changes to "
          + "continue with what is there")
    case .orphans(let run, let processes):
      self.init(
        .broken,
        "cannot resume run \(run): some of its processes are still running: "
          + OrphanedProcesses.names(processes), help: OrphanedProcesses.help)
    case .turn(let error): self.init(error)
    case .state(let error):
      self.init(
        .broken, "cannot read the state of the workflow: \(error.message)", help: error.help)
    case .journal(let error):
      switch start {
      case .new:
        self.init(
          .broken, "cannot create the journal of the run: \(error.message)",
          help: error.help
            ?? "use --record none to run without a journal, or --state-dir "
            + "DIR to keep it elsewhere")
      case .resumed(let run):
        self.init(
          .broken, "cannot continue the journal of run \(run): \(error.message)",
          help: error.help)
      }
    case .containment(let error):
      let code: ExitCode = if case .new = start { .usage } else { .broken }
      self.init(
        code, "--containment \(error.level.rawValue) is not available: \(error.message)",
        help: "omit --containment to use the strongest available")
    }
  }
}

extension ExitCode {
  /// Returns the code of a run that was not started.
  fileprivate init(of signal: Signal?) { self = signal.map { .signal($0.rawValue) } ?? .usage }
}
