public import WeftPlanning

/// All that is known of a run: while it goes on, or when it has ended.
public struct RunReport: Sendable, Hashable {
  public internal(set) var start: RunStart
  /// Every step of the plan, in file order, and then those of elements, in the order in which they were
  /// first heard of. A loop is among the groups once it has started; when the run has ended, what never began
  /// because something around it was skipped as a whole is not here.
  public internal(set) var steps: [StepReport]
  /// Every group, and what is run for many elements, that has been started, in the order of their first starts.
  public internal(set) var groups: [GroupReport] = []
  /// What people should know though it stopped nothing, in the order in which it was found; the first
  /// ``warningLimit``.
  public internal(set) var warnings: [RunWarning] = []
  /// `nil` while the run goes on, and of one that waits for somebody.
  public internal(set) var end: RunEnd?
  /// What the run waits for, without its engine; `nil` of every other.
  public internal(set) var pause: RunPause?

  /// When its last event happened, since this part of the run began.
  package internal(set) var elapsed = Duration.zero

  /// How many warnings a report keeps.
  public static let warningLimit = 100

  /// Whether the run has ended and everything in it succeeded or was tolerated.
  public var succeeded: Bool { end?.outcome == .success }
}

/// What is known of one step.
public struct StepReport: Sendable, Hashable {
  public let address: StepAddress
  public internal(set) var state: StepState
}

/// Where a step stands.
public enum StepState: Sendable, Hashable {
  /// Waits for other steps.
  case pending
  /// Waits for a slot.
  case queued
  /// Since how long after the run's start it has been running.
  case running(since: Duration, attempt: Int)
  /// Waits for a person, since so long after the run's start.
  case asking(since: Duration, message: String)
  /// Does nothing but wait: since when and until when after the run's start.
  case waiting(since: Duration, until: Duration)
  /// The attempt has failed; until when after the run's start it waits for the next.
  case retrying(after: Int, until: Duration)
  case skipped(SkipReason)
  case finished(StepEnd)
  /// It has ended so in an earlier part of a run that is gone on with.
  case restored(StepEnd)
  /// It was not run: what it made in an earlier run stands.
  case cached(StepEnd)
}

/// What is known of one group, or of what is run for many elements.
public struct GroupReport: Sendable, Hashable {
  public let address: StepAddress
  /// How its last attempt began.
  public internal(set) var start: GroupStart
  public internal(set) var state: GroupState
}

/// Where a group stands that has been started.
public enum GroupState: Sendable, Hashable {
  /// Since how long after the run's start its last attempt has been under way.
  case running(since: Duration)
  /// The attempt of the whole group has failed; until when after the run's start it waits for the next.
  case retrying(until: Duration)
  indirect case finished(GroupEnd)
}

/// Where a run stands that cannot go on before somebody has answered, and whose engine has gone.
public struct RunPause: Sendable, Hashable {
  /// What people are asked, in the order of asking.
  public internal(set) var requests: [ApprovalRequest]
  /// As ``RunEnd/duration``.
  public let duration: Duration
  public let counts: OutcomeCounts
  /// Processes that had outlived the steps that started them, and were ended with the engine.
  public internal(set) var leftovers: [LeftoverProcess]
  /// Processes, of whatever step, that are still alive: they could not be killed.
  public internal(set) var unkillable: [LeftoverProcess]

  package init(
    requests: [ApprovalRequest], duration: Duration, counts: OutcomeCounts,
    leftovers: [LeftoverProcess] = [], unkillable: [LeftoverProcess] = []
  ) {
    self.requests = requests
    self.duration = duration
    self.counts = counts
    self.leftovers = leftovers
    self.unkillable = unkillable
  }
}

/// How a run has ended.
public struct RunEnd: Sendable, Hashable {
  /// `success`, `failure`, or `cancelled`.
  public let outcome: Outcome
  /// The first untolerated failure: what the run failed of. `nil` if nothing failed.
  public let firstFailure: StepAddress?
  /// Why the run was cancelled; `nil` if it was not.
  public let cancellation: CancelReason?
  /// Why the run failed though every step succeeded or was tolerated: an output of the workflow could not
  /// be computed.
  public internal(set) var failure: StepFailure?
  /// What the run hands on; nothing of one that did not succeed.
  public internal(set) var outputs: [HandedOn]
  /// The time for which an engine had the run: of a run that was resumed, all its parts together.
  public let duration: Duration
  public let counts: OutcomeCounts
  /// Processes that had outlived the steps that started them, and were ended with the run.
  public internal(set) var leftovers: [LeftoverProcess]
  /// Processes, of whatever step, that are still alive: they could not be killed.
  public internal(set) var unkillable: [LeftoverProcess]

  package init(
    outcome: Outcome, firstFailure: StepAddress?, cancellation: CancelReason?, duration: Duration,
    counts: OutcomeCounts, failure: StepFailure? = nil, outputs: [HandedOn] = [],
    leftovers: [LeftoverProcess] = [], unkillable: [LeftoverProcess] = []
  ) {
    self.outcome = outcome
    self.firstFailure = firstFailure
    self.cancellation = cancellation
    self.failure = failure
    self.outputs = outputs
    self.duration = duration
    self.counts = counts
    self.leftovers = leftovers
    self.unkillable = unkillable
  }
}

/// How many steps ended how.
public struct OutcomeCounts: Sendable, Hashable {
  /// Succeeded.
  public internal(set) var succeeded = 0
  /// Failed, and the run with them.
  public internal(set) var failed = 0
  /// Failed, and were allowed to.
  public internal(set) var tolerated = 0
  /// Were cancelled, before their start or after.
  public internal(set) var cancelled = 0
  /// Never started for another reason.
  public internal(set) var skipped = 0
  /// Of all these, those that stand as they ended in an earlier part of a run that is gone on with.
  public internal(set) var restored = 0
  /// Of those that succeeded, those that were not run: what they made in an earlier run stands.
  public internal(set) var cached = 0

  public init() {}

  package init(
    succeeded: Int, failed: Int, tolerated: Int, cancelled: Int, skipped: Int, restored: Int = 0,
    cached: Int = 0
  ) {
    self.succeeded = succeeded
    self.failed = failed
    self.tolerated = tolerated
    self.cancelled = cancelled
    self.skipped = skipped
    self.restored = restored
    self.cached = cached
  }
}
