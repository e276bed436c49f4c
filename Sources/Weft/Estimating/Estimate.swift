public import WeftEvents
public import WeftPlanning

/// A prediction of the time that a run takes, and of what decides it.
///
/// Made by running the real engine in virtual time with the durations of earlier runs. Nothing is started.
public struct Estimate: Sendable, Hashable {
  /// The prediction for one maximum number of steps at once.
  public struct Prediction: Sendable, Hashable {
    /// The maximum number of steps at once.
    public let maxParallel: Int
    /// From the start of the run to its end, with the median duration of each step.
    public let duration: Duration
    /// The 10th to the 90th percentile of the predictions with the durations of each earlier run; `nil` unless there
    /// are at least two.
    public let range: ClosedRange<Duration>?
    /// `success`, unless a time limit, a failure that earlier runs tolerated, or one of ``Basis/failures`` ends the run.
    public let outcome: Outcome
    /// The latest run with the same ``maxParallel`` and the same selection of steps that ran every step and succeeded.
    public let earlier: EarlierRun?
  }

  /// A run beside which a prediction can be judged.
  public struct EarlierRun: Sendable, Hashable {
    /// The run's ID.
    public let run: RunID
    /// From its start to its end.
    public let duration: Duration
    /// The part of it in which steps waited for people or a point in time, which a prediction counts as zero. Waits
    /// at the same time are added up.
    public let unforeseeable: Duration
    /// Whether its inputs differ from those of the prediction.
    public let hasOtherInputs: Bool
    /// Whether the workflow file has changed since.
    public let hasOtherFile: Bool
  }

  /// A step of the critical path.
  public struct Link: Sendable, Hashable {
    /// The step, with its key for an element.
    public let step: StepAddress
    /// The time of its attempts.
    public let duration: Duration
    /// The time between the end of the link before, or the start of the run, and the last attempt's start that is not
    /// part of ``duration``: a delay of a retry, a step with `wait`, or the rate of a pool.
    public let delay: Duration
    /// The reason why it did not start earlier.
    public let start: Start
  }

  /// The reason why a step of the critical path did not start earlier.
  public enum Start: Sendable, Hashable {
    /// It starts with the run, or only time passes before it.
    case immediate
    /// It depends on the step before it.
    case dependency
    /// The step before it gave back the slot that it needed.
    case slot
    /// The step before it gave back slots of this pool.
    case pool(String)
    /// The step before it gave back processors or memory that it needed.
    case resources
    /// The step before it left a group or loop with `maxParallel`.
    case limit
    /// Both are cleanups, which run one at a time.
    case cleanup
    /// It was asked to end when the step before it had ended, as a service that nothing needs any more, or as a loser of
    /// a race or join; ``Link/duration`` is the time that it took to end.
    case stopping
  }

  /// A limit that makes the run longer.
  public struct Limit: Sendable, Hashable {
    /// The limits that there are.
    public enum Kind: Sendable, Hashable {
      /// The maximum number of steps at once.
      case slots(Int)
      /// The slots or the rate of a pool.
      case pool(String)
      /// The processors and the memory of the machine, which `resources` requests.
      case resources
      /// The `maxParallel` of a group or loop.
      case maxParallel(of: StepAddress)
      /// All limits together, if none of them makes the run longer by itself.
      case all
    }

    /// The limit.
    public let kind: Kind
    /// The prediction without it.
    public let without: Duration
  }

  /// The effect of a faster step.
  public struct SpeedUp: Sendable, Hashable {
    /// A step of the plan; in a loop, the step of every element.
    public let step: StepAddress
    /// The prediction if it took half the time.
    public let duration: Duration
  }

  /// The sources of a prediction, and what had to be assumed.
  public struct Basis: Sendable, Hashable {
    /// The runs whose durations were used, the newest first. Empty if only their durations are still recorded.
    public internal(set) var runs: [RunID] = []
    /// The steps that were never measured, and would run.
    public internal(set) var unmeasured: [StepAddress] = []
    /// The duration that was assumed for these: the median of the others.
    public internal(set) var assumed = Duration.zero
    /// The steps that wait for people or a point in time: they count as zero.
    public internal(set) var unforeseeable: [StepAddress] = []
    /// The steps that would be restored from the cache.
    public internal(set) var cached: [StepAddress] = []
    /// The steps that have changed since the latest run: their durations are those of before.
    public internal(set) var changed: [StepAddress] = []
    /// The inputs that were not given and have no default: their values are those of the latest run.
    public internal(set) var inputs: [String] = []
    /// The steps, groups and loops whose conditions read a value that only a run yields: they start or not as in the
    /// latest run that reached them.
    public internal(set) var conditions: [StepAddress] = []
    /// Those among them that no run has reached: they start.
    public internal(set) var openConditions: [StepAddress] = []
    /// The loops whose lists read a value that only a run yields: they have the elements of an earlier run.
    public internal(set) var loops: [StepAddress] = []
    /// Those among them that no run has reached: they have one element.
    public internal(set) var openLoops: [StepAddress] = []
    /// The steps that fail when they are about to start, because they request more `resources` than this machine has.
    public internal(set) var failures: [PredictedFailure] = []
  }

  /// A step that fails in the predicted run, and would in a real one.
  public struct PredictedFailure: Sendable, Hashable {
    /// The step, with its key for an element.
    public let step: StepAddress
    /// The failure.
    public let failure: StepFailure
  }

  /// In the order in which they were asked for; then one for the ``Prediction/maxParallel`` of the latest run that can
  /// be compared, if no other has such a run.
  public let predictions: [Prediction]
  /// The steps that determine when the run of the first prediction ends, in order of time.
  public let criticalPath: [Link]
  /// The time after the last of them: of a step with `wait`.
  public let finalDelay: Duration
  /// The limits that make the run of the first prediction at least 1 % longer, those that cost most first.
  public let limits: [Limit]
  /// The steps whose speed-up shortens the run of the first prediction most, the most effective first; at most five.
  public let speedUps: [SpeedUp]
  /// The sources of the predictions.
  public let basis: Basis

  /// The first prediction.
  public var duration: Duration { predictions[0].duration }
}

/// The reason why a run cannot be predicted.
public enum EstimateError: Error, Sendable, CustomStringConvertible {
  /// The options, the inputs, or the values that are known before a run.
  case workflow(WorkflowError)
  /// The selected steps, or those that are supposed to be faster, are no steps or groups of the workflow.
  case selection(String, help: String?)
  /// No earlier run has measured any step of the workflow.
  case noDurations
  /// The engine came to a standstill; an error of Weft.
  case standstill

  /// The reason as a sentence without a full stop.
  public var description: String {
    switch self {
    case .workflow(let error): error.description
    case .selection(let message, let help): message + (help.map { " (\($0))" } ?? "")
    case .noDurations: "no durations of the workflow's steps are recorded"
    case .standstill: "the predicted run came to a standstill"
    }
  }
}

extension EstimateError {
  init(_ error: StepChoiceError) { self = .selection(error.message, help: error.help) }
}
