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
    /// An output of a cached step has files of an earlier result of the step that it did not write this time. Reported for
    /// each such step.
    case earlierOutput = "earlier-output"
    /// A pattern of a cached step's inputs matches no file. Reported for each such step.
    case unmatchedInput = "unmatched-input"
    /// A step wrote something to `$WEFT_PROGRESS` that is not progress.
    case progressIgnored = "progress-ignored"
    /// A selected step reads the values of one that is not selected.
    case unselectedValues = "unselected-values"
    /// A resumed run keeps no state, because another run has replaced the values with which it began.
    case stateReplaced = "state-replaced"
  }

  public package(set) var kind: Kind
  /// The problem as one sentence without a full stop.
  public package(set) var message: String
  /// The suggested remedy, if there is one.
  public package(set) var help: String?

  package init(kind: Kind, message: String, help: String? = nil) {
    self.kind = kind
    self.message = message
    self.help = help
  }
}

extension RunWarning.Kind: CodedValue {
  package static var blank: RunWarning.Kind { .scarceResources }
}

extension RunWarning: Payload {
  package static var blank: RunWarning { RunWarning(kind: .blank, message: "") }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("code", &kind)
    try coder.code("message", &message)
    try coder.code("help", &help)
  }
}
