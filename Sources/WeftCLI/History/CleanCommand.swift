import WeftEvents
import WeftPlatform
import WeftRecord
import WeftReporting

/// `weft clean`: removes old runs.
struct CleanCommand {
  private let invocation: CleanInvocation
  private let console: Console

  init(_ invocation: CleanInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      guard let state = try RecordedRuns.all(in: invocation.stateDirectory) else {
        console.output.write("nothing to remove\n")
        return .success
      }
      let now = WallTime(nanoseconds: WallClock.now.nanoseconds)
      if !invocation.isDryRun { state.removeRemnants(now: now) }
      let all = state.candidates()
      let decision = invocation.policy.decision(on: all, now: now)
      let code = remove(decision.removed, in: state)
      report(unknownsAmong: all)
      if !decision.spared.isEmpty {
        console.output.write(
          "kept \(Count.runs(decision.spared.count)) that could still be resumed; --unfinished takes"
            + " them too\n")
      }
      return code
    } catch {
      return console.refuse(error)
    }
  }

  private func remove(
    _ runs: [CleaningPolicy.Candidate], in state: StateDirectory
  ) -> ExitCode {
    var (count, bytes, code) = (0, 0, ExitCode.success)
    let verb = invocation.isDryRun ? "would remove" : "removed"
    for candidate in runs {
      do throws(RunFolderError) {
        if !invocation.isDryRun {
          guard try state.remove(candidate.run, retention: candidate.retention) else { continue }
        }
        count += 1
        bytes += candidate.bytes
        console.output.write("\(verb) \(candidate.run)  \(ShownSize.text(candidate.bytes))\n")
      } catch {
        console.complain(
          CommandError("run \(candidate.run) could not be removed: \(error.message)"))
        code = .broken
      }
    }
    console.output.write(
      count == 0
        ? "nothing to remove\n" : "\(verb) \(Count.runs(count)), \(ShownSize.text(bytes))\n")
    return code
  }

  private func report(unknownsAmong all: [CleaningPolicy.Candidate]) {
    for candidate in all {
      guard case .unknown(let reason) = candidate.retention else { continue }
      console.errors.write("weft: warning: left alone: \(CommandError(reason).harmlessMessage)\n")
    }
  }
}

/// Formats `1 run`, `2 runs`.
private enum Count {
  static func runs(_ count: Int) -> String { count == 1 ? "1 run" : "\(count) runs" }
}

extension StateDirectory {
  /// Returns all runs with their sizes, the newest first.
  fileprivate func candidates() -> [CleaningPolicy.Candidate] {
    newestFirst().compactMap { run in
      retention(of: run).map { CleaningPolicy.Candidate(run, $0, bytes: byteCount(of: run)) }
    }
  }
}
