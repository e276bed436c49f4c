public import WeftPlanning

/// The state of a run while it is running, or when it has ended.
public struct RunReport: Sendable, Hashable {
  public internal(set) var start: RunStart
  /// Every step of the plan, in file order, and then those of elements, in the order of their first events. A
  /// loop is among the groups once it has started. When the run has ended, steps that never started because
  /// something that contains them was skipped as a whole are absent.
  public internal(set) var steps: [StepReport]
  /// Every group and loop that has started, in the order of first starts.
  public internal(set) var groups: [GroupReport] = []
  /// Warnings in the order in which they were found; only the first ``warningLimit``.
  public internal(set) var warnings: [RunWarning] = []
  /// `nil` while the run is running, and for a suspended run.
  public internal(set) var end: RunEnd?
  /// The approvals that a suspended run waits for; `nil` for every other run.
  public internal(set) var pause: RunPause?

  /// The time of its last event, since this engine started.
  package internal(set) var elapsed = Duration.zero

  /// The maximum number of warnings in a report.
  public static let warningLimit = 100

  /// Whether the run has ended and everything in it succeeded or was tolerated.
  public var succeeded: Bool { end?.outcome == .success }
}

/// The state of one step.
public struct StepReport: Sendable, Hashable {
  public let address: StepAddress
  public internal(set) var state: StepState
}

/// The progress of a step.
public enum StepState: Sendable, Hashable {
  /// Waits for other steps.
  case pending
  /// Waits for a slot.
  case queued
  /// Running since this time after the run's start.
  case running(since: Duration, attempt: Int)
  /// Waits for an approval since this time after the run's start.
  case asking(since: Duration, message: String)
  /// Only waits: start and end of the wait, after the run's start.
  case waiting(since: Duration, until: Duration)
  /// The attempt has failed; the next is due at this time after the run's start.
  case retrying(after: Int, until: Duration)
  case skipped(SkipReason)
  case finished(StepEnd)
  /// It ended this way under a previous engine.
  case restored(StepEnd)
  /// It was restored from the cache instead of running.
  case cached(StepEnd)
}

/// The state of one group or loop.
public struct GroupReport: Sendable, Hashable {
  public let address: StepAddress
  /// The start of its last attempt.
  public internal(set) var start: GroupStart
  public internal(set) var state: GroupState
}

/// The progress of a group that has started.
public enum GroupState: Sendable, Hashable {
  /// The last attempt has been running since this time after the run's start.
  case running(since: Duration)
  /// The attempt of the whole group has failed; the next is due at this time after the run's start.
  case retrying(until: Duration)
  indirect case finished(GroupEnd)
}

/// A suspended run: it waits for approvals, without an engine.
public struct RunPause: Sendable, Hashable {
  /// The open approval requests, in the order of asking.
  public internal(set) var requests: [ApprovalRequest]
  /// Measured as ``RunEnd/duration`` is.
  public let duration: Duration
  public let counts: OutcomeCounts
  /// Orphans of steps, terminated when the engine suspended the run.
  public internal(set) var leftovers: [LeftoverProcess]
  /// Processes of any step that are still alive because they could not be killed.
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

/// The end of a run.
public struct RunEnd: Sendable, Hashable {
  /// `success`, `failure`, or `cancelled`.
  public let outcome: Outcome
  /// The cause of the run's failure: its first untolerated failure. `nil` if nothing failed.
  public let firstFailure: StepAddress?
  /// The reason why the run was cancelled; `nil` if it was not.
  public let cancellation: CancelReason?
  /// The reason why the run failed though every step succeeded or was tolerated: an output of the workflow
  /// could not be evaluated.
  public internal(set) var failure: StepFailure?
  /// The outputs of the run; empty if it did not succeed.
  public internal(set) var outputs: [HandedOn]
  /// The time for which an engine executed the run: for a resumed run, the sum over all its engines.
  public let duration: Duration
  public let counts: OutcomeCounts
  /// Orphans of steps, terminated at the end of the run.
  public internal(set) var leftovers: [LeftoverProcess]
  /// Processes of any step that are still alive because they could not be killed.
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

/// The numbers of steps by outcome.
public struct OutcomeCounts: Sendable, Hashable {
  /// Succeeded.
  public internal(set) var succeeded = 0
  /// Failed untolerated.
  public internal(set) var failed = 0
  /// Failed, and tolerated.
  public internal(set) var tolerated = 0
  /// Cancelled, before their start or after.
  public internal(set) var cancelled = 0
  /// Never started, for a reason other than cancellation.
  public internal(set) var skipped = 0
  /// Among all of these, those that ended under a previous engine.
  public internal(set) var restored = 0
  /// Among the successes, those restored from the cache.
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
