import WeftEvents
import WeftRecord
import WeftReporting

/// `weft show`: shows one recorded run.
struct ShowCommand {
  private let invocation: ShowInvocation
  private let console: Console

  init(_ invocation: ShowInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      let runs = try RecordedRuns(in: RecordPlace.path(invocation.stateDirectory))
      let run = try runs.chosen(invocation.run)
      if invocation.follows {
        let words = RecordPlace.words(for: run, stateDirectory: invocation.stateDirectory)
        var session = FollowSession(run, in: runs.state, words: words, console)
        return try session.follow()
      }
      return try show(run, runs)
    } catch {
      return console.refuse(error)
    }
  }

  private func show(_ run: RunID, _ runs: RecordedRuns) throws(Refusal) -> ExitCode {
    let detail: RunDetail
    do { detail = try runs.state.detail(of: run) } catch { throw Refusal(error) }
    switch invocation.format {
    case .json: console.output.write(RunDetailJSON.rendered(detail))
    case .text:
      let name = RecordPlace.words(for: run, stateDirectory: invocation.stateDirectory)
      console.output.write(
        RunDetailText(console.output.displaySettings, run: name).rendered(detail))
    }
    // The output was shown; the exit code says that it is incomplete.
    return detail.damage == nil ? .success : .broken
  }
}
