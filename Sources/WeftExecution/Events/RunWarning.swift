import WeftDefinition
import WeftPlanning

/// Something that a run goes on in spite of, and that people should know.
///
/// It changes no outcome and no exit code. A cause is told once in a run, however many steps it meets.
public struct RunWarning: Sendable, Hashable {
  /// What it is about. The raw value is the code that stands in JSON.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The limit of open files allows fewer programs at once than were wanted.
    case fewDescriptors = "few-descriptors"
    /// A program or its thread could not be started for want of descriptors, processes or memory, and
    /// waits for them.
    case scarceResources = "scarce-resources"
    /// The slots that a `make` above offers, or that a step was to be offered, cannot be shared.
    case jobserver
    /// A step wrote more than its log holds. Each such step is told.
    case outputTruncated = "output-truncated"
    /// Processes cannot be looked at, so those that leave their step's group are not found.
    case processesNotSeen = "processes-not-seen"
    /// An action or a request did not end when it was asked to, and its step has ended without it. Each such step is
    /// told.
    case actionLeftBehind = "action-left-behind"
    /// What a step has made could not be kept, or not be looked for. Each such step is told.
    case notCached = "not-cached"
  }

  public let kind: Kind
  /// What was found, as one sentence without a full stop.
  public let message: String
  /// The cure, where there is one to tell.
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
