import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step in one frame, from the moment when its dependencies have settled until it ends.
///
/// Every closure that waits for the step holds a copy. It is small for that reason: a large one would be most of a
/// step's cost.
struct StepTask: Sendable {
  private let instanceOfStep: StepInstance
  var immunity = Immunity.none
  /// The number of the next attempt, or of the current one.
  var attempt = 1
  private var knownPlace: Int32 = -1
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
  var place: Int? { knownPlace < 0 ? (instance.isInElement ? nil : index) : Int(knownPlace) }

  /// Sets the position in the report of a step of an element.
  mutating func note(place: Int) { knownPlace = Int32(clamping: place) }

  /// Whether its scope is the one that the plan has for it.
  var isWhereThePlanHasIt: Bool { instance.parent == nil && scope == step.group }
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
  mutating func asksAgain(since began: Duration) {
    let before = polling
    history.polling = Polling(asked: (before?.asked ?? 0) + 1, since: before?.since ?? began)
  }
}

/// The properties of a step in one frame that are the same for all attempts.
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

/// A step that waits for a time and holds nothing meanwhile.
struct Pause: Sendable {
  enum End: Sendable {
    case over
    /// The run, or a scope around the step, lets nothing new start.
    case cutShort
  }

  let scope: Int
  /// The immunity that keeps the pause from being cut short.
  let immunity: Immunity
  var timer: TimerToken?
  let promise: Promise<End, Never>
}
