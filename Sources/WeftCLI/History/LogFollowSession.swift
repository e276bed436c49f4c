import WeftEvents
import WeftPlanning
import WeftRecord

/// Prints logs while they are written, until their steps or the run have ended.
struct LogFollowSession {
  private let choice: LogChoice
  private let logs: RecordedLogs
  private let console: Console
  private var open: [StepAddress: (reader: LogReader, printer: LogPrinter)] = [:]
  /// The steps that may write more.
  private var running: Set<StepAddress> = []
  private var done: Set<StepAddress> = []

  init(_ choice: LogChoice, _ logs: RecordedLogs, _ console: Console) {
    self.choice = choice
    self.logs = logs
    self.console = console
  }

  mutating func follow(_ run: RunID, _ followed: FollowedRun) throws(Refusal) -> ExitCode {
    for step in choice.steps { print(step) }
    var pace = FollowPace(followed)
    while !console.output.isClosed {
      let finding = pace.next { take($0) }
      for step in running { print(step) }
      switch finding {
      case .goesOn: break
      case .ended, .waits: return end()
      case .abandoned:
        _ = end()
        throw .abandoned(run)
      }
      if choice.isAll(done) { return end() }
      console.output.flush()
    }
    return .success
  }

  private mutating func take(_ news: FollowedRun.News) {
    guard case .happened(let events) = news else { return }
    for event in events {
      switch event.kind {
      case .stepStarted(let step, _) where choice.wants(step):
        running.insert(step)
        done.remove(step)
      case .stepFinished(let step, _) where choice.wants(step):
        print(step)
        open[step]?.printer.end()
        open[step]?.reader.close()
        running.remove(step)
        done.insert(step)
      case .stepSkipped(let step, _), .stepRestored(let step, _), .stepCached(let step, _):
        done.insert(step)
      case .groupFinished(let group, _): done.insert(group)
      default: break
      }
    }
  }

  private mutating func print(_ step: StepAddress) {
    var (reader, printer) =
      open[step]
      ?? (
        logs.reader(of: step),
        LogPrinter(console.output, of: step, isSingle: choice.single != nil)
      )
    reader.read { printer.print($0) }
    if !running.contains(step) { reader.close() }
    open[step] = (reader, printer)
  }

  private mutating func end() -> ExitCode {
    for step in running { open[step]?.printer.end() }
    console.output.flush()
    return .success
  }
}
