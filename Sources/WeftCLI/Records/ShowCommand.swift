import Weft
import WeftEvents
import WeftPlatform
import WeftReporting

/// `weft show`: shows one recorded run.
struct ShowCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run.
  private let run: String?
  private let format: RunDetailFormat
  /// Whether to follow it in progress.
  private let follows: Bool
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    run = parsed.operands.first
    format = try parsed.word(of: .runDetailFormat) ?? .text
    follows = parsed.isGiven(.followRun)
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(run)
    if follows {
      var session = FollowSession(run, in: runs.state, place, console)
      return try session.follow()
    }
    let detail: RunDetail
    do { detail = try runs.state.detail(of: run) } catch { throw CommandFailure(error) }
    switch format {
    case .json: console.output.write(RunDetailJSON.rendered(detail))
    case .text:
      console.output.write(
        RunDetailText(console.output.displaySettings, run: place.words(for: run)).rendered(detail))
    }
    // The output was shown; the exit code says that it is incomplete.
    return detail.damage == nil ? .success : .broken
  }
}

enum RunDetailFormat: String, CaseIterable {
  case text, json
}

/// Displays a run of another process, as that process does, until it ends.
struct FollowSession {
  private let run: RunID
  private let state: StateDirectory
  private let console: Console
  private let place: RecordDirectory
  private var display: (RunDisplay, start: WallTime)?

  init(_ run: RunID, in state: StateDirectory, _ place: RecordDirectory, _ console: Console) {
    self.place = place
    self.run = run
    self.state = state
    self.console = console
  }

  mutating func follow() throws(CommandFailure) -> ExitCode {
    var poller: RunPoller
    do { poller = RunPoller(try FollowedRun(run, in: state)) } catch { throw CommandFailure(error) }
    // Stops when the output is no longer read.
    while !console.output.isClosed {
      switch poller.next({ show($0) }) {
      case .continues:
        handle([])
        display?.0.flush()
      case .ended(let end): return ExitCode(of: end, isStrict: false, keptPromises: true)
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
      display = (RunDisplay(labels, console, moreHint: place.logsHint(of: run)), moment)
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

/// Polls a run until it cannot produce anything more.
struct RunPoller {
  enum Finding {
    case continues
    case ended(RunEnd)
    /// Its engine has suspended it until a pending approval is answered.
    case waits(RunPause)
    /// No engine holds it, and its end is not recorded.
    case abandoned
  }

  private var followed: FollowedRun
  private let wakeup = Wakeup()
  private var isFirst = true
  /// Whether no engine held it at the last poll.
  private var isFree = false

  /// The delay between polls without news.
  private static let pause = Duration.milliseconds(50)

  init(_ followed: FollowedRun) {
    self.followed = followed
  }

  /// Waits for the next poll, and reports new events.
  mutating func next(_ report: FollowedRun.Handler) -> Finding {
    if !isFirst, !isFree { wakeup.wait(atMost: RunPoller.pause) }
    isFirst = false
    let hasChanges = followed.poll(report)
    if let end = followed.end { return .ended(end) }
    if let pause = followed.pause { return .waits(pause) }
    if hasChanges {
      isFree = false
    } else if isFree {
      return .abandoned
    } else {
      // Records from before this check are read by one more poll.
      isFree = !followed.isHeld
    }
    return .continues
  }
}
