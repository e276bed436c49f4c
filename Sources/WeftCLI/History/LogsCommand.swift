import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReporting

/// `weft logs`: prints the output of steps: unchanged for one step, line by line for several.
struct LogsCommand {
  private let invocation: LogsInvocation
  private let console: Console

  init(_ invocation: LogsInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      let runs = try RecordedRuns(in: RecordPlace.path(invocation.stateDirectory))
      let run = try runs.chosen(invocation.run)
      let (detail, logs) = try recorded(run, runs.state)
      let choice = try choice(in: detail, runs.state)
      guard invocation.follows else { return print(choice, detail, logs) }
      var session = LogFollowSession(choice, logs, console)
      return try session.follow(run, try followed(run, runs.state))
    } catch {
      return console.refuse(error)
    }
  }
}

extension LogsCommand {
  private func recorded(
    _ run: RunID, _ state: StateDirectory
  ) throws(Refusal) -> (RunDetail, RecordedLogs) {
    do throws(RunFolderError) {
      return (try state.detail(of: run), try RecordedLogs(of: run, in: state))
    } catch {
      throw Refusal(error)
    }
  }

  private func followed(_ run: RunID, _ state: StateDirectory) throws(Refusal) -> FollowedRun {
    do { return try FollowedRun(run, in: state, tellsOutput: false) } catch {
      throw Refusal(error)
    }
  }

  private func choice(
    in detail: RunDetail, _ state: StateDirectory
  ) throws(Refusal) -> LogChoice {
    // The plan is needed only for named steps, which may not be in the journal yet.
    let plan =
      invocation.steps.isEmpty
      ? nil : RecordedPlan(detail.run, detail.past.lastOpening, in: state).plan
    return try LogChoice(invocation.steps, of: detail, plan)
  }

  private func print(
    _ choice: LogChoice, _ detail: RunDetail, _ logs: RecordedLogs
  ) -> ExitCode {
    var isWhole = detail.damage == nil
    for step in choice.single.map({ [$0] }) ?? choice.steps {
      var reader = logs.reader(of: step)
      var printer = LogPrinter(console.output, of: step, isSingle: choice.single != nil)
      reader.read { printer.print($0) }
      printer.end()
      if console.output.isClosed { return .success }
      let note = LogNote(step, in: detail, found: logs.byteCount(of: step))
      guard let note, choice.single != nil || note.isFault else { continue }
      console.output.flush()
      console.errors.write("weft: \(note.sentence)\n")
      isWhole = isWhole && !note.isFault
    }
    if let damage = detail.damage {
      console.complain(CommandError(damage.message))
    }
    return isWhole ? .success : .broken
  }
}
