import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform

/// A step in one instance, from the moment when its dependencies have settled until it ends.
///
/// Every closure that waits for the step holds a copy. It is small for that reason: a large one would be most of a
/// step's cost.
struct StepTask: Sendable {
  private let instanceOfStep: StepInstance
  var immunity = Immunity.none
  /// The number of the next attempt, or of the current one.
  var attempt = 1
  private var knownIndex: Int32 = -1
  private var boxedCourse: Boxed<AttemptHistory>?

  init(
    _ index: Int, of plan: Plan, in instance: Instance, scope: Int? = nil, isCleanup: Bool = false,
    after results: NodeResults
  ) {
    instanceOfStep = StepInstance(
      index, plan.steps[index], in: instance, scope: scope, isCleanup: isCleanup,
      failedBefore: results.contains(where: \.hasFailed))
  }

  var instance: Instance { instanceOfStep.instance }
  /// Index in the plan.
  var index: Int { instanceOfStep.index }
  var step: PlannedStep { instanceOfStep.step }
  var address: StepAddress { instanceOfStep.address }
  /// Its instance number in the run.
  var instanceNumber: Int { instanceOfStep.number }
  var scope: Int { instanceOfStep.scope }
  /// Whether it is a cleanup step.
  var isCleanup: Bool { instanceOfStep.isCleanup }
  /// Whether a direct or indirect dependency failed.
  var failedBefore: Bool { instanceOfStep.failedBefore }

  /// The cache key of its result; `nil` if the step is not cached.
  var ticket: CacheTicket? { boxedCourse?.value.ticket }

  func holding(_ ticket: CacheTicket) -> StepTask {
    var task = self
    task.history.ticket = ticket
    return task
  }

  /// Its position in the report; `nil` for a step of an element whose position has not been looked up.
  var place: Int? { knownIndex < 0 ? (instance.isInElement ? nil : index) : Int(knownIndex) }

  /// Sets the position in the report of a step of an element.
  mutating func record(place: Int) { knownIndex = Int32(clamping: place) }

  /// Whether its scope is the one that the plan has for it.
  var isAtPlannedPosition: Bool { instance.parent == nil && scope == step.group }
}

extension StepTask {
  /// The state of steps that are retried, poll, or are cached; no other step needs it.
  private struct AttemptHistory: Sendable {
    var ticket: CacheTicket?
    var ledger: RetryLedger?
    /// The start of the first attempt.
    var began: Duration?
    /// The end of the previous attempt.
    var lastEnd: StepEnd?
    var partial: PartialDownload?
    var polling: Polling?
  }

  /// The progress of a request that is sent repeatedly within one attempt.
  struct Polling: Sendable {
    /// The number of requests so far.
    var asked: Int
    /// The time of the first request.
    let since: Duration
  }

  private var history: AttemptHistory {
    get { boxedCourse?.value ?? AttemptHistory() }
    set { boxedCourse = .holding(newValue) }
  }

  /// `nil` for a step that is not retried.
  var ledger: RetryLedger? { boxedCourse?.value.ledger }

  /// Whether there is a ledger; does not copy it.
  var mayBeTriedAgain: Bool { boxedCourse != nil && ledger != nil }

  /// The start of the first attempt; `nil` for a step that is not retried.
  var began: Duration? { boxedCourse?.value.began }

  /// Records the start of an attempt.
  mutating func begin(at now: Duration) {
    if mayBeTriedAgain, began == nil { history.began = now }
  }

  /// The part of a file that the previous attempt downloaded.
  var partial: PartialDownload? { boxedCourse?.value.partial }

  /// `nil` before the first repetition of the request.
  var polling: Polling? { boxedCourse?.value.polling }

  /// The end of the previous attempt.
  var lastEnd: StepEnd? { boxedCourse?.value.lastEnd }

  /// Stores what the step's next attempt needs to know of the previous ones.
  mutating func keep(
    _ ledger: RetryLedger, lastEnd: StepEnd? = nil, partial: PartialDownload? = nil
  ) {
    var history = history
    history.ledger = ledger
    history.lastEnd = lastEnd
    history.partial = partial
    if lastEnd != nil { history.polling = nil }
    self.history = history
  }

  /// Records that the attempt continues with another request.
  mutating func pollsAgain(since began: Duration) {
    let before = polling
    history.polling = Polling(asked: (before?.asked ?? 0) + 1, since: before?.since ?? began)
  }
}

/// The properties of a step in one instance that are the same for all attempts.
private final class StepInstance: Sendable {
  let instance: Instance
  let index: Int
  let step: PlannedStep
  let address: StepAddress
  let number: Int
  let scope: Int
  let isCleanup: Bool
  let failedBefore: Bool

  init(
    _ index: Int, _ step: PlannedStep, in instance: Instance, scope: Int?, isCleanup: Bool,
    failedBefore: Bool
  ) {
    self.instance = instance
    self.index = index
    self.step = step
    address = instance.address(of: step.address)
    number = instance.instanceNumber(ofStep: index)
    self.scope = scope ?? instance.scope(ofGroup: step.group)
    self.isCleanup = isCleanup
    self.failedBefore = failedBefore
  }
}

/// One execution of a loop: a step or a group that is run once for each element, each in an instance of its own.
///
/// ``RunEngine`` makes one when the dependencies of the loop have settled.
struct LoopTask: Sendable {
  let member: PlanMember
  let instance: Instance
  let region: PlanRegion
  let address: StepAddress
  /// The node of the step, or of the start of the group.
  let node: Plan.NodeIndex
  /// The group that contains the loop.
  let group: Int
  /// The enclosing scope, and the loop's own, which is opened when the loop starts.
  let outerScope: Int
  var scope = 0
  let fanOut: FanOut
  let failedBefore: Bool
  /// The result of a dependency that blocks dependents. Elements get it as a dependency of their own, for those that
  /// start in spite of a failure.
  let blockingResult: NodeResult?

  /// The position of the loop in the report; `nil` for a group, and for a loop inside an element, which is not in the
  /// plan by its address.
  var place: Int? {
    guard case .step(let index) = member, !instance.isInElement else { return nil }
    return index
  }

  init(_ member: PlanMember, of plan: Plan, in instance: Instance, after results: NodeResults) {
    guard let fanOut = plan.fanOut(of: member) else {
      preconditionFailure("a loop has no elements")
    }
    self.member = member
    self.fanOut = fanOut
    self.instance = instance
    failedBefore = results.contains(where: \.hasFailed)
    blockingResult = results.first(where: \.blocksDependents)
    region = PlanRegion(member, of: plan)
    node = plan.node(of: member)
    group = plan.group(around: node)
    address = instance.address(of: plan.address(of: node))
    outerScope = instance.scope(ofGroup: group)
  }
}

/// One execution of a group in one instance, from its start to its end.
struct GroupTask: Sendable {
  let instance: Instance
  /// Index in the plan.
  let index: Int
  let address: StepAddress
  let scope: Int
  var attempt = 1

  init(_ index: Int, of plan: Plan, in instance: Instance, attempt: Int = 1) {
    guard let address = plan.groups[index].address else {
      preconditionFailure("the top level is not a node")
    }
    self.instance = instance
    self.index = index
    self.address = instance.address(of: address)
    self.attempt = attempt
    scope = instance.scope(ofGroup: index)
  }
}

/// The end of a group, before it is reported.
struct GroupOutcome: Sendable {
  var verdict: Scopes.Verdict
  var outputs: [OutputValue] = []
  var duration = Duration.zero
  /// Whether a direct or indirect dependency of the group had failed.
  var failedBefore: Bool
  /// The reason why it is not retried.
  var notRetried: String?

  var result: NodeResult {
    NodeResult(
      conclusion: verdict.conclusion, causingStep: verdict.causingStep, failedBefore: failedBefore)
  }
}

/// A group from its start to its end.
struct RunningGroup: Sendable {
  /// The identity of one execution of a group with a time limit. A scope's number is reused by later groups, which a
  /// timer of this one must not reach.
  final class Clock: Sendable {}

  let since: Duration
  /// `nil` if there is no time limit, or its members have ended.
  fileprivate(set) var clock: Clock?
  fileprivate(set) var timer: TimerToken?
  /// Whether a direct or indirect dependency had failed.
  let failedBefore: Bool
  /// Whether it succeeded under an earlier engine: its decision then is not made again, so it cancels nothing. Services
  /// start in it for the pending cleanups of its members, losers included.
  let isRestored: Bool
  /// The members that have succeeded, in a race or join.
  fileprivate var successes: Set<Plan.NodeIndex> = []
  fileprivate(set) var success: GroupSuccess?
  /// The member that won the race.
  fileprivate(set) var winner: Plan.NodeIndex?
  /// The verdict on a group that failed at its start; its members are being skipped.
  private(set) var verdict: Scopes.Verdict?

  init(since: Duration, limit: Duration?, failedBefore: Bool, isRestored: Bool) {
    self.since = since
    self.isRestored = isRestored
    clock = limit.map { _ in Clock() }
    self.failedBefore = failedBefore
  }

  init(since: Duration, failing verdict: Scopes.Verdict, failedBefore: Bool) {
    self.init(since: since, limit: nil, failedBefore: failedBefore, isRestored: false)
    self.verdict = verdict
  }
}

/// The running groups of a run, by their scopes.
struct RunningGroups: Sendable {
  private var groups: [Int: RunningGroup] = [:]

  mutating func add(_ group: RunningGroup, _ scope: Int) { groups[scope] = group }

  mutating func remove(_ scope: Int) -> RunningGroup? { groups.removeValue(forKey: scope) }

  func isRunning(_ scope: Int, _ clock: RunningGroup.Clock) -> Bool {
    groups[scope]?.clock === clock
  }

  /// - Returns: Whether the group is still running.
  mutating func setTimer(_ timer: TimerToken, _ scope: Int, _ clock: RunningGroup.Clock) -> Bool {
    guard isRunning(scope, clock) else { return false }
    groups[scope]?.timer = timer
    return true
  }

  /// Ends the time limit of a group whose members have ended.
  ///
  /// - Returns: The timer to cancel.
  mutating func endTimeLimit(_ scope: Int) -> TimerToken? {
    groups[scope]?.clock = nil
    return groups[scope]?.timer
  }

  /// Counts a success of a member.
  ///
  /// - Returns: The number of successes; `nil` if the group is not running, or decided.
  mutating func memberSucceeded(_ member: Plan.NodeIndex, _ scope: Int) -> Int? {
    groups[scope]?.successes.insert(member)
    guard let group = groups[scope], group.success == nil else { return nil }
    return group.successes.count
  }

  /// Whether a race or join was decided without this member.
  func hasLost(_ member: Plan.NodeIndex, in scope: Int) -> Bool {
    guard let group = groups[scope], group.success != nil else { return false }
    return !group.successes.contains(member)
  }

  /// Decides a group before all its members have ended.
  ///
  /// - Returns: Whether the other members are to be cancelled.
  mutating func decide(
    _ scope: Int, _ success: GroupSuccess, _ winner: Plan.NodeIndex?
  ) -> Bool {
    groups[scope]?.success = success
    groups[scope]?.winner = winner
    return groups[scope]?.isRestored == false
  }
}
