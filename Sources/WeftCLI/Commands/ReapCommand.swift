import WeftExecution
import WeftPlatform
import WeftRecord

/// `weft reap`: ends what a weft that was killed has left running.
///
/// Only runs with a record are acted on: what a process says of itself proves nothing.
struct ReapCommand {
  private let invocation: ReapInvocation
  private let console: Console

  init(_ invocation: ReapInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    defer { RunSearch.clear() }
    do throws(Refusal) {
      guard let wanted = invocation.run else { return try reapAll() }
      let runs = try RecordedRuns(in: place)
      let run = try runs.chosen(wanted)
      guard let folder = try held(run, in: runs.state) else {
        throw Refusal(
          .broken, "the weft of run \(run) is alive", help: "to end the run: weft cancel \(run)")
      }
      let (ended, code) = try reap(folder)
      if !ended, code == .success {
        console.output.write("run \(run): nothing left to end\n")
      }
      return code
    } catch {
      return console.refuse(error)
    }
  }

  private var place: String { RecordPlace.path(invocation.stateDirectory) }

  /// Ends what is left of all runs that are recorded here, and lists the others.
  private func reapAll() throws(Refusal) -> ExitCode {
    let claims = RunSearch(membership: RunCookie.membership).claims()
    let state = try RecordedRuns.all(in: invocation.stateDirectory)
    let recorded = Set(state?.ids ?? [])
    var (isAnythingTold, worst) = (false, ExitCode.success)
    for claim in claims {
      guard let run = RunID(validating: claim.run) else { continue }
      if let state, recorded.contains(run) {
        guard let folder = try held(run, in: state) else { continue }
        let (ended, code) = try reap(folder)
        isAnythingTold = isAnythingTold || ended || code != .success
        if code != .success { worst = code }
      } else if !claim.isEngineAlive {
        isAnythingTold = true
        console.output.write(
          "run \(run) is not recorded in \"\(place)\", so it is left alone: "
            + "\(Survivors.names(claim.processes.map(\.record)))\n")
      }
    }
    if !isAnythingTold { console.output.write("nothing is left of any run\n") }
    return worst
  }

  /// The folder of a run whose weft has gone; `nil` if it is alive.
  private func held(_ run: RunID, in state: StateDirectory) throws(Refusal) -> RunFolder? {
    do { return try RunFolder.open(run, in: state) } catch {
      if case .held = error { return nil }
      throw Refusal(error)
    }
  }

  /// - Returns: Whether there was something to end.
  private func reap(_ folder: RunFolder) throws(Refusal) -> (ended: Bool, ExitCode) {
    let past: RecordedRun
    // Damaged or not: the engines that can be read are those whose programs can be known.
    do { past = try folder.contents().run } catch { throw Refusal(error) }
    let end = Survivors(of: folder.run, past: past).end()
    if !end.ended.isEmpty {
      console.output.write("run \(folder.run): ended \(Survivors.names(end.ended))\n")
    }
    guard !end.survivors.isEmpty else { return (!end.ended.isEmpty, .success) }
    console.complain(
      Complaint(
        "run \(folder.run): could not end \(Survivors.names(end.survivors))",
        help: Survivors.help))
    return (!end.ended.isEmpty, .broken)
  }
}

/// The run that `weft reap` was given.
struct ReapInvocation: Sendable, Hashable {
  /// An id or the beginning of one; `nil`: all that are recorded.
  let run: String?
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) {
    run = parsed.operands.first
    stateDirectory = parsed.value(of: .records)
  }
}
