import Weft
import WeftEvents
import WeftExecution
import WeftPlatform
import WeftReporting

/// `weft clean`: removes old runs.
struct CleanCommand: Subcommand {
  private let policy: CleaningPolicy
  private let isDryRun: Bool
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    var policy = CleaningPolicy(
      count: try parsed.count(of: .keep, in: 0...1_000_000),
      age: try parsed.age(of: .olderThan), bytes: try parsed.size(of: .cleanSize)?.bytes,
      removesUnfinished: parsed.isGiven(.unfinished))
    if policy.count == nil, policy.age == nil, policy.bytes == nil {
      policy.count = CleaningPolicy.defaultCount
    }
    self.policy = policy
    isDryRun = parsed.isGiven(.cleanDryRun)
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    guard let state = try RecordedRuns.all(in: place) else {
      console.output.write("nothing to remove\n")
      return .success
    }
    let result: CleaningResult
    do {
      result = try FileRunStore(directory: state.path).clean(policy, isDryRun: isDryRun)
    } catch {
      throw CommandFailure(error)
    }
    report(result, console)
    return result.failures.isEmpty ? .success : .broken
  }

  private func report(_ result: CleaningResult, _ console: Console) {
    let verb = isDryRun ? "would remove" : "removed"
    for run in result.removed {
      console.output.write("\(verb) \(run.run)  \(ShownSize.text(run.bytes))\n")
    }
    let count = Count(result.removed.count, "run")
    let bytes = result.removed.reduce(0) { $0 + $1.bytes }
    console.output.write(
      result.removed.isEmpty
        ? "nothing to remove\n" : "\(verb) \(count), \(ShownSize.text(bytes))\n")
    for (run, error) in result.failures {
      console.report(CommandError("run \(run) could not be removed: \(error.message)"))
    }
    for reason in result.unknown {
      console.errors.write("weft: warning: left alone: \(CommandError(reason).harmlessMessage)\n")
    }
    if !result.resumable.isEmpty {
      console.output.write(
        "kept \(Count(result.resumable.count, "run")) that could still be resumed; use "
          + "--unfinished to remove them too\n")
    }
  }
}

extension ParsedArguments {
  fileprivate func age(of option: Option) throws(UsageError) -> Duration? {
    guard let found = value(of: option) else { return nil }
    if let age = try? DurationText.duration(from: found, allowsZero: true) { return age }
    throw .wrongValue(
      of: "\"\(option.name)\"", found: found, wanted: "a duration such as 30d or 12h",
      help: "whole numbers, each with its unit, the largest first: d, h, m, s, ms", command)
  }

  fileprivate func size(of option: Option) throws(UsageError) -> ByteCount? {
    guard let found = value(of: option) else { return nil }
    if let size = try? SizeText.size(from: found) { return size }
    throw .wrongValue(
      of: "\"\(option.name)\"", found: found, wanted: "a size such as 500MB or 2GiB",
      help: "a whole number with its unit: B, KB, MB, GB, or KiB, MiB, GiB", command)
  }
}

/// `weft reap`: terminates processes left behind by a killed weft.
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

  /// Terminates the orphans of all runs recorded here, and lists those of other runs.
  private func reapAll(_ console: Console) throws(CommandFailure) -> ExitCode {
    let claims = RunSearch(membership: RunCookie.membership).claims()
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
