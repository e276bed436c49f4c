import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step in one frame, from the moment when it is its turn until it has ended.
///
/// Whoever waits for something of the step holds a copy: a large one would be most of what a step costs.
struct StepTask: Sendable {
  private let instanceOfStep: StepInstance
  var shelter = Shelter.none
  /// The attempt that is next, or under way.
  var attempt = 1
  private var knownPlace: Int32 = -1
  private var boxedCourse: Boxed<Course>?

  init(
    _ index: Int, of plan: Plan, in frame: Frame, scope: Int? = nil, isCleanup: Bool = false,
    after results: NodeResults
  ) {
    instanceOfStep = StepInstance(
      index, plan.steps[index], in: frame, scope: scope, isCleanup: isCleanup,
      failedBefore: results.contains(where: \.hasFailed))
  }

  var frame: Frame { instanceOfStep.frame }
  /// In the plan.
  var index: Int { instanceOfStep.index }
  var step: PlannedStep { instanceOfStep.step }
  var address: StepAddress { instanceOfStep.address }
  /// Its number in the run.
  var instance: Int { instanceOfStep.number }
  var scope: Int { instanceOfStep.scope }
  /// Whether it cleans up after another.
  var isCleanup: Bool { instanceOfStep.isCleanup }
  /// Whether something above it has failed.
  var failedBefore: Bool { instanceOfStep.failedBefore }

  /// By what its result will be found again; `nil` if it is not kept.
  var ticket: CacheTicket? { boxedCourse?.value.ticket }

  func holding(_ ticket: CacheTicket) -> StepTask {
    var task = self
    task.course.ticket = ticket
    return task
  }

  /// Where the report has the step; `nil` of one that the plan does not know by its address, and that has not
  /// been looked for.
  var place: Int? { knownPlace < 0 ? (frame.isInElement ? nil : index) : Int(knownPlace) }

  /// Where the report has the step of an element.
  mutating func note(place: Int) { knownPlace = Int32(clamping: place) }

  /// Whether the plan says what its scope is.
  var isWhereThePlanHasIt: Bool { frame.parent == nil && scope == step.group }
}

extension StepTask {
  /// What only steps have that are tried again, ask again, or may be found to have been made before.
  private struct Course: Sendable {
    var ticket: CacheTicket?
    var ledger: RetryLedger?
    /// When the first attempt began.
    var began: Duration?
    /// How the attempt before the next one ended.
    var lastEnd: StepEnd?
    var partial: PartialDownload?
    var polling: Polling?
  }

  /// What only a request has that asks again and again, as one attempt.
  struct Polling: Sendable {
    /// How often.
    var asked: Int
    /// When it asked for the first time.
    let since: Duration
  }

  private var course: Course {
    get { boxedCourse?.value ?? Course() }
    set { boxedCourse = .holding(newValue) }
  }

  /// `nil` of a step that is not tried again.
  var ledger: RetryLedger? { boxedCourse?.value.ledger }

  /// Whether there is one, without a copy.
  var mayBeTriedAgain: Bool { boxedCourse != nil && ledger != nil }

  /// When the first attempt of a step began that may be tried again.
  var began: Duration? { boxedCourse?.value.began }

  /// An attempt begins.
  mutating func begin(at now: Duration) {
    if mayBeTriedAgain, began == nil { course.began = now }
  }

  /// What the attempt before has saved of a file.
  var partial: PartialDownload? { boxedCourse?.value.partial }

  /// Of an attempt that has asked already.
  var polling: Polling? { boxedCourse?.value.polling }

  /// How the attempt before the next one ended.
  var lastEnd: StepEnd? { boxedCourse?.value.lastEnd }

  /// What is known of its attempts when one of them begins or has ended.
  mutating func keep(
    _ ledger: RetryLedger, lastEnd: StepEnd? = nil, partial: PartialDownload? = nil
  ) {
    var course = course
    course.ledger = ledger
    course.lastEnd = lastEnd
    course.partial = partial
    if lastEnd != nil { course.polling = nil }
    self.course = course
  }

  /// The attempt goes on, and asks once more.
  mutating func asksAgain(since began: Duration) {
    let before = polling
    course.polling = Polling(asked: (before?.asked ?? 0) + 1, since: before?.since ?? began)
  }
}

/// What of a step in one frame stays the same, however often it is tried.
private final class StepInstance: Sendable {
  let frame: Frame
  let index: Int
  let step: PlannedStep
  let address: StepAddress
  let number: Int
  let scope: Int
  let isCleanup: Bool
  let failedBefore: Bool

  init(
    _ index: Int, _ step: PlannedStep, in frame: Frame, scope: Int?, isCleanup: Bool,
    failedBefore: Bool
  ) {
    self.frame = frame
    self.index = index
    self.step = step
    address = frame.address(of: step.address)
    number = frame.instance(ofStep: index)
    self.scope = scope ?? frame.scope(ofGroup: step.group)
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
  /// What does not cut it short.
  let shelter: Shelter
  var timer: TimerToken?
  let promise: Promise<End, Never>
}
