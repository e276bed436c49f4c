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
  /// What the step hands on.
  public internal(set) var outputs: [HandedOn]
  // A report keeps the ends of very many steps, most of which have met no trouble.
  private let boxedUsage: Boxed<ResourceUsage>?
  private var boxedHTTP: Boxed<HTTPSummary>?
  private var boxedTrouble: Boxed<Trouble>?

  package init(
    outcome: Outcome, conclusion: Outcome, attempts: Int, exit: ProgramExit?,
    failure: StepFailure? = nil, cancellation: CancelReason? = nil, duration: Duration,
    usage: ResourceUsage? = nil, outputBytes: UInt64 = 0, outputTruncated: Bool = false,
    logBytes: UInt64? = nil, outputs: [HandedOn] = [], leftovers: [LeftoverProcess] = [],
    unkillable: [LeftoverProcess] = [], http: HTTPSummary? = nil
  ) {
    self.outcome = outcome
    self.conclusion = conclusion
    self.attempts = attempts
    self.exit = exit
    self.duration = duration
    self.outputBytes = outputBytes
    self.outputTruncated = outputTruncated
    self.logBytes = logBytes ?? outputBytes
    self.outputs = outputs
    boxedUsage = usage.map { .holding($0) }
    boxedHTTP = http.map { .holding($0) }
    if failure != nil || cancellation != nil || !leftovers.isEmpty || !unkillable.isEmpty {
      boxedTrouble = .holding(
        Trouble(
          failure: failure, cancellation: cancellation, leftovers: leftovers,
          unkillable: unkillable))
    }
  }

  /// What the kernel counted for the program and all its waited-for children; `nil` if there was none.
  public var usage: ResourceUsage? { boxedUsage?.value }

  /// What its requests came to; `nil` if it has sent none.
  public internal(set) var http: HTTPSummary? {
    get { boxedHTTP?.value }
    set { boxedHTTP = newValue.map { .holding($0) } }
  }
}

extension StepEnd {
  private struct Trouble: Sendable, Hashable {
    var failure: StepFailure?
    var cancellation: CancelReason?
    var notRetried: String?
    var leftovers: [LeftoverProcess] = []
    var unkillable: [LeftoverProcess] = []
  }

  private var trouble: Trouble {
    get { boxedTrouble?.value ?? Trouble() }
    set { boxedTrouble = newValue == Trouble() ? nil : .holding(newValue) }
  }

  /// Why it failed; `nil` unless the outcome is `failure`.
  public internal(set) var failure: StepFailure? {
    get { boxedTrouble?.value.failure }
    set { trouble.failure = newValue }
  }

  /// Why it was cancelled; `nil` unless the outcome is `cancelled`.
  public var cancellation: CancelReason? { boxedTrouble?.value.cancellation }

  /// Why it is not tried again though it has `retry`, in a sentence without its subject.
  public internal(set) var notRetried: String? {
    get { boxedTrouble?.value.notRetried }
    set { trouble.notRetried = newValue }
  }

  package mutating func noteNotRetried(_ reason: String) { notRetried = reason }

  /// Processes of the step that were still alive after its program had ended, and were ended.
  public internal(set) var leftovers: [LeftoverProcess] {
    get { boxedTrouble?.value.leftovers ?? [] }
    set { trouble.leftovers = newValue }
  }

  /// Processes of the step that are still alive: they could not be killed.
  public internal(set) var unkillable: [LeftoverProcess] {
    get { boxedTrouble?.value.unkillable ?? [] }
    set { trouble.unkillable = newValue }
  }
}
