import Weft
import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftReporting

/// `weft show`: shows one recorded run.
struct ShowCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run.
  private let run: String?
  private let format: RunDetailFormat
  /// Whether to follow it in progress.
  private let follows: Bool
  /// The display of step output, when following.
  private let output: OutputMode
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    run = parsed.operands.first
    format = try parsed.word(of: .runDetailFormat) ?? .text
    follows = parsed.isGiven(.followRun)
    output = try parsed.outputMode
    if !follows, let option = [.output, .quiet].first(where: parsed.isGiven) {
      throw .dependent(option, on: .followRun, .show)
    }
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(run)
    if follows {
      var session = FollowSession(run, in: runs.state, place, output, console)
      return try session.follow()
    }
    let detail: RunDetail
    do { detail = try runs.state.detail(of: run) } catch { throw CommandFailure(error) }
    let plan = RecordedPlan(run, detail.recorded.lastOpening, in: runs.state).plan
    switch format {
    case .json: console.output.write(RunDetailJSON.rendered(detail, plan))
    case .text:
      let text = RunDetailText(
        console.output.displaySettings, run: place.words(for: run), now: .now)
      console.output.write(text.rendered(detail, plan))
    }
    // The output was shown; the exit code says that it is incomplete.
    return detail.damage == nil ? .success : .broken
  }
}

/// Displays a run of another process, as that process does, until it ends.
struct FollowSession {
  private let run: RunID
  private let state: StateDirectory
  private let console: Console
  private let place: RecordDirectory
  private let output: OutputMode
  private let wakeup = Wakeup()
  private var display: (RunDisplay, start: WallTime)?

  init(
    _ run: RunID, in state: StateDirectory, _ place: RecordDirectory, _ output: OutputMode,
    _ console: Console
  ) {
    self.place = place
    self.output = output
    self.run = run
    self.state = state
    self.console = console
  }

  mutating func follow() throws(CommandFailure) -> ExitCode {
    var poller: RunPoller
    do { poller = RunPoller(try FollowedRun(run, in: state)) } catch { throw CommandFailure(error) }
    // Stops when the output is no longer read.
    while !console.output.isClosed {
      if poller.isIdle { wakeup.wait(atMost: RunPoller.pause) }
      switch poller.poll({ show($0) }) {
      case .continues:
        handle([])
        display?.0.flush()
      case .ended(let end): return ExitCode(of: end, keptPromises: true)
      case .waits(let pause): return ExitCode(of: pause, keptPromises: true)
      case .abandoned:
        display?.0.withdraw()
        throw .abandoned(run)
      }
    }
    return .success
  }

  private mutating func show(_ update: FollowedRun.Update) {
    switch update {
    case .began(let opening, let moment):
      display?.0.withdraw()
      let recorded = RecordedPlan(run, opening, in: state)
      let labels =
        recorded.plan.map { StepLabels($0, mask: recorded.secrets.mask) } ?? StepLabels()
      display = (
        RunDisplay(labels, console, output: output, run: place.reference(to: run)), moment
      )
    case .happened(let events): handle(events)
    }
  }

  private mutating func handle(_ events: [RunEvent]) {
    guard let start = display?.start else { return }
    // Needs no logs: all output arrives as events.
    display?.0.show(events, at: max(.zero, WallTime.now.since(start)), log: { _, _ in [] })
  }
}

extension CommandFailure {
  /// Returns the refusal for a run whose engine is gone.
  static func abandoned(_ run: RunID) -> CommandFailure {
    CommandFailure(
      .broken, "the weft of run \(run) is gone, and the run has not ended",
      help: "to continue: weft resume \(run)")
  }
}
