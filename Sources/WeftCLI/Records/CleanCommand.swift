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
      console.report(
        CommandError("run \(run) could not be removed: \(error.message)", help: error.help))
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
      help: "a whole number with its unit: B, KB, MB, GB, TB, or KiB, MiB, GiB, TiB", command)
  }
}
