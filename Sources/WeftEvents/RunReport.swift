public import WeftPlanning

/// The state of a run while it is running, or when it has ended.
public struct RunReport: Sendable, Hashable {
  public package(set) var start: RunStart
  /// Every step of the plan, in file order, and then those of elements, in the order of their first events. A
  /// loop is among the groups once it has started. When the run has ended, steps that never started because
  /// something that contains them was skipped as a whole are absent.
  public package(set) var steps: [StepReport]
  /// Every group and loop that has started, in the order of first starts.
  public package(set) var groups: [GroupReport] = []
  /// Warnings in the order in which they were found; only the first ``warningLimit``.
  public package(set) var warnings: [RunWarning] = []
  /// `nil` while the run is running, and for a suspended run.
  public package(set) var end: RunEnd?
  /// The approvals that a suspended run waits for; `nil` for every other run.
  public package(set) var pause: RunPause?

  /// The time of its last event, since this engine started.
  package var elapsed = Duration.zero

  /// The report of a run with these steps, and nothing else so far.
  package init(start: RunStart, steps: [StepReport] = [], end: RunEnd? = nil) {
    (self.start, self.steps, self.end) = (start, steps, end)
  }

  /// The maximum number of warnings in a report.
  public static let warningLimit = 100

  /// Whether the run has ended and everything in it succeeded or was tolerated.
  public var succeeded: Bool { end?.outcome == .success }

  /// Whether a step, or a group for a reason of its own, failed and that was tolerated.
  public var hasToleratedFailures: Bool {
    if let end, end.counts.tolerated > 0 { return true }
    return groups.contains { group in
      guard case .finished(let end) = group.state else { return false }
      return end.outcome == .failure && end.conclusion == .success
    }
  }
}

extension RunReport: Payload {
  package static var blank: RunReport { RunReport(start: .blank, steps: []) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try start.code(&coder)
    try coder.code("startedAt", &start.startedAt)
    try coder.code("states", &steps)
    try coder.codeIfAny("groupStates", &groups)
    try coder.codeIfAny("warnings", &warnings)
    try coder.code("end", &end)
    try coder.code("waiting", &pause)
  }
}

/// The state of one step.
public struct StepReport: Sendable, Hashable {
  public package(set) var address: StepAddress
  public package(set) var state: StepState
}

extension StepReport: Payload {
  package static var blank: StepReport { StepReport(address: .blank, state: .pending) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("step", &address)
    try state.code(&coder)
  }
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

extension StepState: Payload {
  package static var blank: StepState { .pending }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var name = name
    try coder.code("state", &name)
    if Coder.isReading {
      guard let blank = StepState.blanks.first(where: { $0.name == name }) else {
        throw coder.unfit("\"\(name)\"")
      }
      self = blank
    }
    switch self {
    case .pending, .queued: break
    case .running(var since, var attempt):
      try coder.code("sinceUs", &since)
      try coder.count("attempt", &attempt)
      self = .running(since: since, attempt: attempt)
    case .asking(var since, var message):
      try coder.code("sinceUs", &since)
      try coder.code("message", &message)
      self = .asking(since: since, message: message)
    case .waiting(var since, var until):
      try coder.code("sinceUs", &since)
      try coder.code("untilUs", &until)
      self = .waiting(since: since, until: until)
    case .retrying(var attempt, var until):
      try coder.count("attempt", &attempt)
      try coder.code("untilUs", &until)
      self = .retrying(after: attempt, until: until)
    case .skipped(var reason):
      try reason.code(&coder)
      self = .skipped(reason)
    case .finished(var end):
      try end.code(&coder)
      self = .finished(end)
    case .restored(var end):
      try end.code(&coder)
      self = .restored(end)
    case .cached(var end):
      try end.code(&coder)
      self = .cached(end)
    }
  }

  private static let blanks: [StepState] = [
    .pending, .queued, .running(since: .zero, attempt: 1), .asking(since: .zero, message: ""),
    .waiting(since: .zero, until: .zero), .retrying(after: 1, until: .zero), .skipped(.blank),
    .finished(.blank), .restored(.blank), .cached(.blank),
  ]

  private var name: String {
    switch self {
    case .pending: "pending"
    case .queued: "queued"
    case .running: "running"
    case .asking: "asking"
    case .waiting: "waiting"
    case .retrying: "retrying"
    case .skipped: "skipped"
    case .finished: "finished"
    case .restored: "restored"
    case .cached: "cached"
    }
  }
}

/// The state of one group or loop.
public struct GroupReport: Sendable, Hashable {
  public package(set) var address: StepAddress
  /// The start of its last attempt.
  public package(set) var start: GroupStart
  public package(set) var state: GroupState
}

extension GroupReport: Payload {
  package static var blank: GroupReport {
    GroupReport(address: .blank, start: GroupStart(), state: .running(since: .zero))
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var (attempt, elements, isRestored) = (start.attempt, start.elements, start.isRestored)
    try coder.code("group", &address)
    try state.code(&coder, attempt: &attempt)
    try coder.number("elements", &elements, in: RecordLimits.counts, "a count")
    try coder.flag("restored", &isRestored)
    start = GroupStart(attempt: attempt, elements: elements, isRestored: isRestored)
  }
}

/// The progress of a group that has started.
public enum GroupState: Sendable, Hashable {
  /// The last attempt has been running since this time after the run's start.
  case running(since: Duration)
  /// The attempt of the whole group has failed; the next is due at this time after the run's start.
  case retrying(until: Duration)
  indirect case finished(GroupEnd)
}

extension GroupState {
  fileprivate mutating func code<Coder: EventCoder>(
    _ coder: inout Coder, attempt: inout Int
  ) throws(Coder.Failure) {
    var name = name
    try coder.code("state", &name)
    switch Coder.isReading ? GroupState.blanks[name] : self {
    case .running(var since)?:
      try coder.code("sinceUs", &since)
      try coder.count("attempt", &attempt)
      self = .running(since: since)
    case .retrying(var until)?:
      try coder.count("attempt", &attempt)
      try coder.code("untilUs", &until)
      self = .retrying(until: until)
    case .finished(var end)?:
      try end.code(&coder)
      self = .finished(end)
      attempt = end.attempts
    case nil: throw coder.unfit("\"\(name)\"")
    }
  }

  private static let blanks: [String: GroupState] = [
    "running": .running(since: .zero), "retrying": .retrying(until: .zero),
    "finished": .finished(.blank),
  ]

  private var name: String {
    switch self {
    case .running: "running"
    case .retrying: "retrying"
    case .finished: "finished"
    }
  }
}

/// A suspended run: it waits for approvals, without an engine.
public struct RunPause: Sendable, Hashable {
  /// The open approval requests, in the order of asking.
  public package(set) var requests: [ApprovalRequest]
  /// Measured as ``RunEnd/duration`` is.
  public package(set) var duration: Duration
  public package(set) var counts: OutcomeCounts
  /// Orphans of steps, terminated when the engine suspended the run.
  public package(set) var leftovers: [LeftoverProcess]
  /// Processes of any step that are still alive because they could not be killed.
  public package(set) var unkillable: [LeftoverProcess]

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

extension RunPause: Payload {
  package static var blank: RunPause {
    RunPause(requests: [], duration: .zero, counts: OutcomeCounts())
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("requests", &requests)
    try coder.code("durationUs", &duration)
    try coder.code("counts", &counts)
    try coder.codeIfAny("leftovers", &leftovers)
    try coder.codeIfAny("unkillable", &unkillable)
  }
}

/// A question to an approver.
public struct ApprovalRequest: Sendable, Hashable {
  /// The step that waits for the answer.
  public package(set) var step: StepAddress
  public package(set) var message: String

  package init(step: StepAddress, message: String) {
    self.step = step
    self.message = message
  }
}

extension ApprovalRequest: Payload {
  package static var blank: ApprovalRequest { ApprovalRequest(step: .blank, message: "") }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("step", &step)
    try coder.code("message", &message)
  }
}

/// The end of a run.
public struct RunEnd: Sendable, Hashable {
  /// `success`, `failure`, or `cancelled`.
  public package(set) var outcome: Outcome
  /// The cause of the run's failure: its first untolerated failure. `nil` if nothing failed.
  public package(set) var firstFailure: StepAddress?
  /// The reason why the run was cancelled; `nil` if it was not.
  public package(set) var cancellation: CancelReason?
  /// The reason why the run failed though every step succeeded or was tolerated: an output of the workflow
  /// could not be evaluated.
  public package(set) var failure: StepFailure?
  /// The outputs of the run; empty if it did not succeed.
  public package(set) var outputs: [ReportedOutput]
  /// The time for which an engine executed the run: for a resumed run, the sum over all its engines.
  public package(set) var duration: Duration
  public package(set) var counts: OutcomeCounts
  /// Orphans of steps, terminated at the end of the run.
  public package(set) var leftovers: [LeftoverProcess]
  /// Processes of any step that are still alive because they could not be killed.
  public package(set) var unkillable: [LeftoverProcess]

  package init(
    outcome: Outcome, firstFailure: StepAddress?, cancellation: CancelReason?, duration: Duration,
    counts: OutcomeCounts, failure: StepFailure? = nil, outputs: [ReportedOutput] = [],
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

extension RunEnd: Payload {
  package static var blank: RunEnd {
    RunEnd(
      outcome: .success, firstFailure: nil, cancellation: nil, duration: .zero,
      counts: OutcomeCounts())
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("outcome", &outcome)
    try coder.code("firstFailure", &firstFailure)
    try coder.code("cancellation", &cancellation)
    try coder.code("failure", &failure)
    try coder.code("durationUs", &duration)
    try coder.code("counts", &counts)
    try coder.outputs(&outputs)
    try coder.codeIfAny("leftovers", &leftovers)
    try coder.codeIfAny("unkillable", &unkillable)
  }
}

/// The numbers of steps by outcome.
public struct OutcomeCounts: Sendable, Hashable {
  /// Succeeded.
  public package(set) var succeeded = 0
  /// Failed untolerated.
  public package(set) var failed = 0
  /// Failed, and tolerated.
  public package(set) var tolerated = 0
  /// Cancelled, before their start or after.
  public package(set) var cancelled = 0
  /// Never started, for a reason other than cancellation.
  public package(set) var skipped = 0
  /// Among all of these, those that ended under a previous engine.
  public package(set) var restored = 0
  /// Among the successes, those restored from the cache.
  public package(set) var cached = 0

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

extension OutcomeCounts {
  /// The number of steps with a final outcome.
  package var done: Int { succeeded + failed + tolerated + cancelled + skipped }

  package mutating func add(_ outcome: Outcome, steps: Int = 1) {
    switch outcome {
    case .success: succeeded += steps
    case .failure: failed += steps
    case .cancelled: cancelled += steps
    case .skipped: skipped += steps
    }
  }

  package mutating func add(_ end: StepEnd) {
    if end.outcome == .failure, end.conclusion == .success {
      tolerated += 1
    } else {
      add(end.outcome)
    }
  }

  package mutating func add(_ other: OutcomeCounts) {
    succeeded += other.succeeded
    failed += other.failed
    tolerated += other.tolerated
    cancelled += other.cancelled
    skipped += other.skipped
  }

  /// Takes back the counts of an attempt.
  package mutating func remove(_ other: OutcomeCounts) {
    succeeded -= other.succeeded
    failed -= other.failed
    tolerated -= other.tolerated
    cancelled -= other.cancelled
    skipped -= other.skipped
  }

  /// Turns `count` failures into tolerated ones.
  package mutating func tolerate(_ count: Int) {
    failed -= count
    tolerated += count
  }
}

extension OutcomeCounts: Payload {
  package static var blank: OutcomeCounts { OutcomeCounts() }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.count("succeeded", &succeeded, from: 0)
    try coder.count("failed", &failed, from: 0)
    try coder.count("tolerated", &tolerated, from: 0)
    try coder.count("cancelled", &cancelled, from: 0)
    try coder.count("skipped", &skipped, from: 0)
    try coder.countIfAny("restored", &restored)
    try coder.countIfAny("cached", &cached)
  }
}
