import WeftDefinition
import WeftPlanning

/// A problem that does not stop a run.
///
/// It changes no outcome and no exit code. One problem is reported once in a run, however many steps it
/// affects.
public struct RunWarning: Sendable, Hashable {
  /// The subject of the warning. The raw value is the code in JSON.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The limit of open files allows fewer concurrent programs than requested.
    case fewDescriptors = "few-descriptors"
    /// A program or its thread could not be started for lack of descriptors, processes or memory, and waits for
    /// them.
    case scarceResources = "scarce-resources"
    /// The jobserver of an enclosing `make`, or one to be offered to a step, cannot be used.
    case jobserver
    /// A step wrote more than its log holds. Reported for each such step.
    case outputTruncated = "output-truncated"
    /// Processes cannot be inspected, so those that leave their step's process group are not found.
    case processesNotSeen = "processes-not-seen"
    /// An action or a request did not end when asked to, and its step has ended without it. Reported for each
    /// such step.
    case actionLeftBehind = "action-left-behind"
    /// The result of a step could not be stored in the cache or looked up. Reported for each such step.
    case notCached = "not-cached"
    /// An output of a cached step has files that the step is not known to have made. Reported for each such
    /// step.
    case foreignOutput = "foreign-output"
    /// A pattern of a cached step's inputs matches no file. Reported for each such step.
    case unmatchedInput = "unmatched-input"
  }

  public let kind: Kind
  /// The problem as one sentence without a full stop.
  public let message: String
  /// The suggested remedy, if there is one.
  public let help: String?

  package init(kind: Kind, message: String, help: String? = nil) {
    self.kind = kind
    self.message = message
    self.help = help
  }
}

extension RunWarning {
  static let processesNotSeen = RunWarning(
    kind: .processesNotSeen,
    message: "what leaves its step's process group cannot be found: /proc is not that of this"
      + " namespace of process ids",
    help: "mount it (unshare --mount-proc), or make a cgroup v2 tree writable")

  static func actionLeftBehind(by step: StepAddress) -> RunWarning {
    RunWarning(
      kind: .actionLeftBehind,
      message: "the action of step \"\(step)\" did not end when it was cancelled,"
        + " and keeps its thread until it does",
      help: "let the action look at Task.isCancelled")
  }

  static func requestLeftBehind(by step: StepAddress) -> RunWarning {
    RunWarning(
      kind: .actionLeftBehind,
      message: "the request of step \"\(step)\" did not end when it was cancelled,"
        + " and may still be going on",
      help: "let the transport settle a future that is cancelled")
  }

  static func notCached(_ step: StepAddress, because reason: String) -> RunWarning {
    RunWarning(
      kind: .notCached, message: "step \"\(step)\" is not cached: \(reason)")
  }

  /// - Parameter paths: The paths of the files, at least one.
  static func foreignOutput(of step: StepAddress, paths: [String]) -> RunWarning {
    let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
    return RunWarning(
      kind: .foreignOutput,
      message: "\"\(paths[0])\"\(more) in the cached output of step \"\(step)\" was not made by it,"
        + " as far as weft knows, and stays as it is",
      help:
        "keep other files elsewhere, or remove the output once, so that the step makes all of it")
  }

  static func unmatchedInput(of step: StepAddress, pattern: String) -> RunWarning {
    RunWarning(
      kind: .unmatchedInput,
      message:
        "step \"\(step)\" is cached by files that \"\(pattern)\" matches, and there are none",
      help: "correct the pattern, or take it out of \"inputs\"")
  }

  package static func noCache(because reason: String) -> RunWarning {
    RunWarning(kind: .notCached, message: "no step is cached: \(reason)")
  }

  static func outputTruncated(of step: StepAddress, at limit: ByteCount) -> RunWarning {
    RunWarning(
      kind: .outputTruncated,
      message:
        "step \"\(step)\" has written more than \(limit); the rest is neither kept nor shown",
      help: "raise its \"logLimit\", or let it write into a file")
  }
}
