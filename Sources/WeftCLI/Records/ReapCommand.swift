import Weft
import WeftEvents
import WeftExecution
import WeftPlatform

/// `weft reap`: terminates processes left behind by a killed weft, and removes its temporary files.
///
/// It only acts on runs with a journal, because a process's own claims prove nothing.
struct ReapCommand: Subcommand {
  /// An ID or its beginning; `nil` for all recorded runs.
  private let run: String?
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) {
    run = parsed.operands.first
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    defer { RunSearch.clear() }
    guard let run else { return try reapAll(console) }
    let runs = try RecordedRuns(in: place)
    let chosen = try runs.chosen(run)
    guard let orphans = try reaped(chosen, in: runs.state) else {
      throw CommandFailure(
        .broken, "run \(chosen) is still running",
        help: "to cancel it: weft cancel \(chosen)")
    }
    let (ended, code) = report(orphans, of: chosen, console)
    if !ended, code == .success {
      console.output.write("run \(chosen): nothing left to end\n")
    }
    return code
  }

  /// Terminates the orphans of all runs recorded here, removes their temporary files, and lists the orphans of other runs.
  private func reapAll(_ console: Console) throws(CommandFailure) -> ExitCode {
    let claims = RunSearch().claims()
    let state = try RecordedRuns.all(in: place)
    let recorded = Set(state?.ids ?? [])
    var (isAnythingTold, worst) = (false, ExitCode.success)
    for claim in claims {
      guard let run = RunID(validating: claim.run) else { continue }
      if let state, recorded.contains(run) {
        guard let orphans = try reaped(run, in: state) else { continue }
        let (ended, code) = report(orphans, of: run, console)
        isAnythingTold = isAnythingTold || ended || code != .success
        if code != .success { worst = code }
      } else if !claim.isEngineAlive {
        isAnythingTold = true
        console.output.write(
          "run \(run) is not recorded in \"\(place.path)\", so it is left alone: "
            + "\(OrphanedProcesses.names(claim.processes.map(\.record)))\n")
      }
    }
    // Those of runs without a process are not among the claims.
    for run in TemporaryRemains.runs() where recorded.contains(run) { _ = try? state?.reap(run) }
    if !isAnythingTold { console.output.write("nothing left to end\n") }
    return worst
  }

  /// Terminates the orphans of a run whose engine is gone; `nil` if the engine is alive.
  private func reaped(_ run: RunID, in state: StateDirectory) throws(CommandFailure) -> OrphansEnd?
  {
    do { return try state.reap(run) } catch {
      if case .held = error { return nil }
      throw CommandFailure(error)
    }
  }

  /// - Returns: Whether there was anything to terminate.
  private func report(
    _ end: OrphansEnd, of run: RunID, _ console: Console
  ) -> (ended: Bool, ExitCode) {
    if !end.ended.isEmpty {
      console.output.write("run \(run): ended \(OrphanedProcesses.names(end.ended))\n")
    }
    guard !end.orphans.isEmpty else { return (!end.ended.isEmpty, .success) }
    console.report(
      CommandError(
        "run \(run): could not end \(OrphanedProcesses.names(end.orphans))",
        help: OrphanedProcesses.help))
    return (!end.ended.isEmpty, .broken)
  }
}

extension OrphanedProcesses {
  /// Returns the processes in a message.
  static func names(_ processes: [ProcessRecord]) -> String {
    processes.map { "\($0.id) (\(TerminalText.harmless($0.command)))" }.joined(separator: ", ")
  }
}
