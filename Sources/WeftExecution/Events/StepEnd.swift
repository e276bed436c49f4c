import WeftDefinition

/// How a step that started has ended.
public struct StepEnd: Sendable, Hashable {
  public let outcome: Outcome
  /// `success` for a tolerated failure, else the outcome.
  public let conclusion: Outcome
  /// Whether it wrote more than its log holds (`logLimit`); what came after that is in no event either.
  public let outputTruncated: Bool
  /// How many attempts there were.
  public let attempts: Int
  /// How the last attempt's program ended; `nil` if it could not be started, or the step has none.
  public let exit: ProgramExit?
  /// From `stepStarted` to `stepFinished`; waiting for a slot is not counted.
  public let duration: Duration
  /// Bytes written to stdout and stderr together.
  public let outputBytes: UInt64
  /// How long the step's log is; with what says that it was cut, if it was.
  package let logBytes: UInt64
  // A report keeps the ends of very many steps, most of which have neither handed on anything nor met trouble.
  fileprivate(set) var boxedUsage: Boxed<ResourceUsage>?
  private var boxedRest: Boxed<Rest>?

  /// What the kernel counted for the program and all its waited-for children; `nil` if there was none.
  public var usage: ResourceUsage? { boxedUsage?.value }
}

extension StepEnd {
  package init(
    outcome: Outcome, conclusion: Outcome, attempts: Int, exit: ProgramExit?,
    failure: StepFailure? = nil, cancellation: CancelReason? = nil, duration: Duration,
    usage: ResourceUsage? = nil, outputBytes: UInt64 = 0, outputTruncated: Bool = false,
    logBytes: UInt64? = nil, outputs: [HandedOn] = [], leftovers: [LeftoverProcess] = [],
    unkillable: [LeftoverProcess] = []
  ) {
    let isPlain =
      failure == nil && cancellation == nil && outputs.isEmpty && leftovers.isEmpty
      && unkillable.isEmpty
    // By the initialiser of all members: see ``ResolvedStep``.
    self.init(
      outcome: outcome, conclusion: conclusion, outputTruncated: outputTruncated,
      attempts: attempts, exit: exit, duration: duration, outputBytes: outputBytes,
      logBytes: logBytes ?? outputBytes, boxedUsage: usage.map { .holding($0) },
      boxedRest: isPlain
        ? nil
        : .holding(
          Rest(
            outputs: outputs, failure: failure, cancellation: cancellation,
            leftovers: leftovers, unkillable: unkillable)))
  }
}

extension StepEnd {
  private struct Rest: Sendable, Hashable {
    var outputs: [HandedOn] = []
    var http: HTTPSummary?
    var failure: StepFailure?
    var cancellation: CancelReason?
    var notRetried: String?
    var approvedBy: String?
    var leftovers: [LeftoverProcess] = []
    var unkillable: [LeftoverProcess] = []
  }

  /// The same of a step whose requests came to this.
  package func having(_ http: HTTPSummary?) -> StepEnd {
    guard let http else { return self }
    var end = self
    end.http = http
    return end
  }

  /// Takes over what is not judged of an attempt.
  mutating func take(from end: AttemptEnd) {
    boxedUsage = end.boxedUsage
    if end.isOfRequest { http = end.request?.summary }
  }

  private var rest: Rest {
    get { boxedRest?.value ?? Rest() }
    set { boxedRest = newValue == Rest() ? nil : .holding(newValue) }
  }

  /// What the step hands on.
  public internal(set) var outputs: [HandedOn] {
    get { boxedRest?.value.outputs ?? [] }
    set { rest.outputs = newValue }
  }

  /// What its requests came to; `nil` if it has sent none.
  public internal(set) var http: HTTPSummary? {
    get { boxedRest?.value.http }
    set { rest.http = newValue }
  }

  /// Why it failed; `nil` unless the outcome is `failure`.
  public internal(set) var failure: StepFailure? {
    get { boxedRest?.value.failure }
    set { rest.failure = newValue }
  }

  /// Why it was cancelled; `nil` unless the outcome is `cancelled`.
  public var cancellation: CancelReason? { boxedRest?.value.cancellation }

  /// Who approved, of a step that asked: the name of a user and the way, or the program that embeds the engine.
  public internal(set) var approvedBy: String? {
    get { boxedRest?.value.approvedBy }
    set { if newValue != nil || approvedBy != nil { rest.approvedBy = newValue } }
  }

  package mutating func noteApproved(by name: String) { approvedBy = name }

  /// Why it is not tried again though it has `retry`, in a sentence without its subject.
  public internal(set) var notRetried: String? {
    get { boxedRest?.value.notRetried }
    set { rest.notRetried = newValue }
  }

  package mutating func noteNotRetried(_ reason: String) { notRetried = reason }

  /// Processes of the step that were still alive after its program had ended, and were ended.
  public internal(set) var leftovers: [LeftoverProcess] {
    get { boxedRest?.value.leftovers ?? [] }
    set { rest.leftovers = newValue }
  }

  /// Processes of the step that are still alive: they could not be killed.
  public internal(set) var unkillable: [LeftoverProcess] {
    get { boxedRest?.value.unkillable ?? [] }
    set { rest.unkillable = newValue }
  }
}
