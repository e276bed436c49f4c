import Weft
import WeftEvents
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
    let now = WallTime.now
    if !isDryRun { state.removeLeftoverFiles(now: now) }
    let all = state.candidates()
    let decision = policy.decision(on: all, now: now)
    let code = remove(decision.removed, in: state, console)
    report(unknownsAmong: all, console)
    if !decision.resumable.isEmpty {
      console.output.write(
        "kept \(Count(decision.resumable.count, "run")) that could still be resumed; use "
          + "--unfinished to remove them too\n")
    }
    return code
  }

  private func remove(
    _ runs: [CleaningPolicy.Candidate], in state: StateDirectory, _ console: Console
  ) -> ExitCode {
    var (count, bytes, code) = (0, 0, ExitCode.success)
    let verb = isDryRun ? "would remove" : "removed"
    for candidate in runs {
      do throws(RunFolderError) {
        if !isDryRun {
          guard try state.remove(candidate.run, retention: candidate.retention) else { continue }
        }
        count += 1
        bytes += candidate.bytes
        console.output.write("\(verb) \(candidate.run)  \(ShownSize.text(candidate.bytes))\n")
      } catch {
        console.report(
          CommandError("run \(candidate.run) could not be removed: \(error.message)"))
        code = .broken
      }
    }
    console.output.write(
      count == 0
        ? "nothing to remove\n" : "\(verb) \(Count(count, "run")), \(ShownSize.text(bytes))\n")
    return code
  }

  private func report(unknownsAmong all: [CleaningPolicy.Candidate], _ console: Console) {
    for candidate in all {
      guard case .unknown(let reason) = candidate.retention else { continue }
      console.errors.write("weft: warning: left alone: \(CommandError(reason).harmlessMessage)\n")
    }
  }
}

extension StateDirectory {
  /// Returns all runs with their sizes, the newest first.
  fileprivate func candidates() -> [CleaningPolicy.Candidate] {
    newestFirst().compactMap { run in
      retention(of: run).map { CleaningPolicy.Candidate(run, $0, bytes: byteCount(of: run)) }
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
