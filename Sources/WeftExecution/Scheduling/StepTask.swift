import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step in one frame, from the moment when it is its turn until it has ended.
struct StepTask: Sendable {
  let frame: Frame
  /// In the plan.
  let index: Int
  let step: PlannedStep
  let address: StepAddress
  /// Its number in the run.
  let instance: Int
  let scope: Int
  /// Whether something above it has failed.
  let failedBefore: Bool
  var shelter = Shelter.none
  /// Whether it cleans up after another.
  var isCleanup = false
  /// The attempt that is next, or under way.
  var attempt = 1
  var ledger: RetryLedger?
  /// How the attempt before the next one ended.
  var lastEnd: StepEnd?
  /// When its first attempt began.
  var began: Duration?

  init(_ index: Int, of plan: Plan, in frame: Frame, scope: Int? = nil, after results: [NodeResult])
  {
    self.frame = frame
    self.index = index
    step = plan.steps[index]
    address = frame.address(of: step.address)
    instance = frame.instance(ofStep: index)
    self.scope = scope ?? frame.scope(ofGroup: step.group)
    failedBefore = results.contains(where: \.hasFailed)
  }

  /// Where the report has the step; `nil` of one that the plan does not know by its address.
  var place: Int? { frame.isInElement ? nil : index }

  /// Whether the plan says what its scope is.
  var isWhereThePlanHasIt: Bool { frame.parent == nil && scope == step.group }
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
