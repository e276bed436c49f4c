import Synchronization
import WeftDefinition
package import WeftEvents
package import WeftPlanning

/// Publishes the warnings of a run.
package final class RunWarnings: Sendable {
  private let reported = Mutex<Set<RunWarning.Kind>>([])
  private let unmatched = Mutex<Set<UnmatchedInput>>([])
  private let events: EventStream

  init(_ events: EventStream) {
    self.events = events
  }

  /// Publishes only the first warning of its kind, because many steps may run into the same problem. Not to be
  /// called before the run's start; ignored after its end.
  package func reportOnce(_ warning: RunWarning) {
    guard reported.withLock({ $0.insert(warning.kind).inserted }) else { return }
    report(warning)
  }

  /// Publishes that a pattern matches no files, once per step: in a loop all elements have the same pattern, unless it
  /// is computed.
  func reportUnmatchedInput(_ pattern: String, of step: StepAddress) {
    let input = UnmatchedInput(step: step, pattern: pattern)
    guard unmatched.withLock({ $0.insert(input).inserted }) else { return }
    report(.unmatchedInput(of: step, pattern: pattern))
  }

  private struct UnmatchedInput: Hashable {
    let step: StepAddress
    let pattern: String
  }

  /// Publishes a warning that is about one step alone. Ignored after the run's end.
  func report(_ warning: RunWarning) { events.publishUnlessFinished(.runWarning(warning)) }
}

extension RunWarning {
  static let processesNotSeen = RunWarning(
    kind: .processesNotSeen,
    message: "processes that leave their step's process group cannot be tracked: /proc belongs "
      + "to another PID namespace",
    help: "mount it (unshare --mount-proc), or make a cgroup v2 tree writable")

  static func actionLeftBehind(by step: StepAddress) -> RunWarning {
    RunWarning(
      kind: .actionLeftBehind,
      message: "the action of step \"\(step)\" did not end when it was cancelled,"
        + " and keeps its thread until it does",
      help: "let the action check Task.isCancelled")
  }

  static func requestLeftBehind(by step: StepAddress) -> RunWarning {
    RunWarning(
      kind: .actionLeftBehind,
      message: "the request of step \"\(step)\" did not end when it was cancelled,"
        + " and may still be running",
      help: "let the transport settle a future that is cancelled")
  }

  static func notCached(_ step: StepAddress, because reason: String) -> RunWarning {
    RunWarning(
      kind: .notCached, message: "step \"\(step)\" is not cached: \(reason)")
  }

  /// - Parameter paths: The paths of the files, at least one.
  static func earlierOutput(of step: StepAddress, paths: [String]) -> RunWarning {
    let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
    return RunWarning(
      kind: .earlierOutput,
      message:
        "the cached output of step \"\(step)\" keeps files of an earlier result that it did not "
        + "write this time: \"\(paths[0])\"\(more)",
      help:
        "they belong to the result if the step builds on what is there; if not, let it remove its "
        + "outputs first")
  }

  /// - Parameter paths: The paths of the files, at least one.
  static func foreignOutput(of step: StepAddress, paths: [String]) -> RunWarning {
    let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
    return RunWarning(
      kind: .foreignOutput,
      message: "the cached output of step \"\(step)\" contains files that it is not known to have "
        + "created, which are left alone: \"\(paths[0])\"\(more)",
      help:
        "keep other files elsewhere, or remove the output once, so that the step creates all of it")
  }

  static func unmatchedInput(of step: StepAddress, pattern: String) -> RunWarning {
    RunWarning(
      kind: .unmatchedInput,
      message:
        "the cache input \"\(pattern)\" of step \"\(step)\" matches no files",
      help: pattern.utf8.contains(UInt8(ascii: "\\"))
        ? "the value of an expression is no pattern: write * and ? outside of ${{ … }}"
        : "correct the pattern, or remove it from \"inputs\"")
  }

  static func progressIgnored(of step: StepAddress) -> RunWarning {
    RunWarning(
      kind: .progressIgnored,
      message:
        "step \"\(step)\" wrote a line to $WEFT_PROGRESS that is not \"n/m text\"",
      help: "write lines such as: echo \"3/10 linking\" >> \"$WEFT_PROGRESS\"")
  }

  package static func noCache(because reason: String) -> RunWarning {
    RunWarning(kind: .notCached, message: "no step is cached: \(reason)")
  }

  /// - Parameter reads: At least one.
  package static func unselectedValues(_ reads: [UnselectedRead]) -> RunWarning {
    let others =
      reads.count == 1
      ? "" : "; \(reads.count - 1) more such read\(reads.count == 2 ? "" : "s")"
    return RunWarning(
      kind: .unselectedValues,
      message: "step \"\(reads[0].reader)\" reads values of \"\(reads[0].source)\", which is not "
        + "selected: they are null\(others)",
      help:
        "select it too, or keep the values of an earlier run: weft resume RUN --from \(reads[0].reader)"
    )
  }

  package static let stateReplaced = RunWarning(
    kind: .stateReplaced,
    message: "another run has replaced the state since this run began: this run reads the values "
      + "with which it began, and keeps none",
    help: "start a new run to continue from the present values")

  static func outputTruncated(of step: StepAddress, at limit: ByteCount) -> RunWarning {
    RunWarning(
      kind: .outputTruncated,
      message:
        "step \"\(step)\" wrote more than \(limit); the rest is neither stored nor shown",
      help: "raise its \"logLimit\", or let it write to a file")
  }
}
