import WeftEvents
import WeftPlatform
import WeftRecord
import WeftReporting

/// Displays a run of another process, as that process does, until it ends.
struct FollowSession {
  private let run: RunID
  private let state: StateDirectory
  private let console: Console
  /// The arguments that identify the run to a command.
  private let words: String
  private var display: (reporter: Reporter, start: WallTime)?

  init(_ run: RunID, in state: StateDirectory, words: String, _ console: Console) {
    self.words = words
    self.run = run
    self.state = state
    self.console = console
  }

  mutating func follow() throws(Refusal) -> ExitCode {
    var pace: FollowPace
    do { pace = FollowPace(try FollowedRun(run, in: state)) } catch { throw Refusal(error) }
    // Stops when the output is no longer read.
    while !console.output.isClosed {
      switch pace.next({ show($0) }) {
      case .goesOn: redraw()
      case .ended(let end): return ExitCode(of: end, isStrict: false, keptPromises: true)
      case .waits(let pause): return ExitCode(of: pause, keptPromises: true)
      case .abandoned:
        withdraw()
        throw .abandoned(run)
      }
    }
    return .success
  }

  private mutating func show(_ news: FollowedRun.News) {
    switch news {
    case .began(let opening, let moment):
      withdraw()
      let labels = RecordedPlan(run, opening, in: state).labels
      var settings = console.output.displaySettings
      settings.howToSeeMore = RecordPlace.wayToLogs(of: words)
      display = (Reporter(settings, labels: labels), moment)
    case .happened(let events): handle(events)
    }
  }

  private mutating func redraw() {
    handle([])
    console.output.flush()
    console.errors.flush()
  }

  private mutating func handle(_ events: [RunEvent]) {
    guard let start = display?.start else { return }
    let (write, port) = (self.write, console.output)
    let now = WallTime(nanoseconds: WallClock.now.nanoseconds).since(start)
    // Needs no logs: all output arrives as events.
    display?.reporter.handle(
      events, now: max(.zero, now), size: { port.redrawnSize },
      log: { _, _ in [] }, write: write)
  }

  private mutating func withdraw() {
    let write = self.write
    display?.reporter.withdraw(isVisible: console.output.redrawnSize != nil, write: write)
    console.output.flush()
  }

  private var write: Reporter.Write {
    { [console] channel, bytes in
      (channel == .output ? console.output : console.errors).write(bytes)
    }
  }
}

extension Refusal {
  /// Returns the refusal for a run whose engine is gone.
  static func abandoned(_ run: RunID) -> Refusal {
    Refusal(
      .broken, "the weft of run \(run) has gone, and no end of the run is recorded",
      help: "\"weft resume \(run)\" goes on with it")
  }
}
