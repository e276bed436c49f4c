import WeftEvents
import WeftExecution
import WeftPlatform
import WeftRecord

/// `weft reap`: terminates processes left behind by a killed weft.
///
/// It only acts on runs with a journal, because a process's own claims prove nothing.
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

  /// Terminates the orphans of all runs recorded here, and lists those of other runs.
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
            + "\(OrphanedProcesses.names(claim.processes.map(\.record)))\n")
      }
    }
    if !isAnythingTold { console.output.write("nothing is left of any run\n") }
    return worst
  }

  /// Returns the folder of a run whose engine is gone; `nil` if the engine is alive.
  private func held(_ run: RunID, in state: StateDirectory) throws(Refusal) -> RunFolder? {
    do { return try RunFolder.open(run, in: state) } catch {
      if case .held = error { return nil }
      throw Refusal(error)
    }
  }

  /// - Returns: Whether there was anything to terminate.
  private func reap(_ folder: RunFolder) throws(Refusal) -> (ended: Bool, ExitCode) {
    let past: RecordedRun
    // Damage does not matter: the readable records name the engines whose processes can be identified.
    do { past = try folder.contents().run } catch { throw Refusal(error) }
    let end = OrphanedProcesses(of: folder.run, past: past).end()
    if !end.ended.isEmpty {
      console.output.write("run \(folder.run): ended \(OrphanedProcesses.names(end.ended))\n")
    }
    guard !end.orphans.isEmpty else { return (!end.ended.isEmpty, .success) }
    console.complain(
      CommandError(
        "run \(folder.run): could not end \(OrphanedProcesses.names(end.orphans))",
        help: OrphanedProcesses.help))
    return (!end.ended.isEmpty, .broken)
  }
}

/// The arguments of `weft reap`.
struct ReapInvocation: Sendable, Hashable {
  /// An ID or its beginning; `nil` for all recorded runs.
  let run: String?
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) {
    run = parsed.operands.first
    stateDirectory = parsed.value(of: .records)
  }
}
