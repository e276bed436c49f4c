import WeftEvents
import WeftExecution
import WeftPlatform
import WeftRecord

/// `weft cancel`: cancels a run from another terminal, and waits until it has ended.
struct CancelCommand {
  private let invocation: CancelInvocation
  private let console: Console

  init(_ invocation: CancelInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  /// The polling interval while waiting for the end of a run.
  private static let attention = Duration.milliseconds(50)

  func execute() -> ExitCode {
    do throws(Refusal) {
      let runs = try RecordedRuns(in: RecordPlace.path(invocation.stateDirectory))
      return try end(try chosen(from: runs), runs)
    } catch {
      return console.refuse(error)
    }
  }

  private func chosen(from runs: RecordedRuns) throws(Refusal) -> RunID {
    guard invocation.run == nil else { return try runs.chosen(invocation.run) }
    let latest = runs.state.newestFirst().first { run in
      runs.state.glance(at: run).map { $0.state == .running || $0.state == .waiting } ?? false
    }
    guard let latest else {
      throw Refusal(.usage, "no run in \"\(runs.state.path)\" is under way")
    }
    return latest
  }

  private func end(_ run: RunID, _ runs: RecordedRuns) throws(Refusal) -> ExitCode {
    guard let glance = runs.state.glance(at: run) else {
      throw Refusal(.unknown(run, in: runs.state.path))
    }
    let words = RecordPlace.words(for: run, stateDirectory: invocation.stateDirectory)
    switch glance.state {
    case .success, .failure, .cancelled:
      console.output.write("run \(run) has ended already: \(glance.state.rawValue)\n")
    case .interrupted:
      console.output.write(
        "run \(run) is not under way: its weft was killed; \"weft reap \(run)\" ends what it has left\n"
      )
    case .damaged:
      throw Refusal(.broken, "run \(run) is damaged: \(glance.damage ?? "")")
    case .waiting:
      try ask(of: run, runs)
      console.output.write(
        "run \(run) waits for approval, without its weft: \"weft resume \(words)\" cleans up and ends it\n"
      )
    case .running:
      try ask(of: run, runs)
      console.errors.write("weft: run \(run) has been asked to end\n")
      console.errors.flush()
      wait(for: run, runs)
    }
    return .success
  }

  private func ask(of run: RunID, _ runs: RecordedRuns) throws(Refusal) {
    do {
      try RunFolder.leave(
        invocation.isNow ? .kill : .cancel, for: run, in: runs.state,
        at: WallTime(nanoseconds: WallClock.now.nanoseconds))
    } catch {
      throw Refusal(error)
    }
  }

  private func wait(for run: RunID, _ runs: RecordedRuns) {
    let pause = Wakeup()
    while runs.state.isHeld(run) { pause.wait(atMost: CancelCommand.attention) }
    guard let glance = runs.state.glance(at: run) else { return }
    console.output.write("run \(run) has ended: \(glance.state.rawValue)\n")
  }
}
