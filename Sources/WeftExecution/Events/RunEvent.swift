public import WeftDefinition
public import WeftPlanning
import WeftPlatform

/// Something that happened during a run, in the order in which it happened.
///
/// The order is the same for every subscriber:
/// * `runStarted` is first, exactly once; last, exactly once, is `runFinished`, or `runWaiting` if the run is
///   suspended for another engine to resume;
/// * for one step `stepQueued` < `stepStarted` < `stepAsking`, `stepWaiting`, `stepOutput`… < `stepFinished`; an
///   attempt that is followed by another ends with `stepRetrying` instead, so that each start has one end; a step
///   that never starts has one `stepSkipped` instead of start and finish, one `stepCached` if it is restored from
///   the cache, after a `stepOutput` for each line of its cached log, or one `stepRestored` if it ended under a
///   previous engine;
/// * the dependencies of a step have finished or been skipped before the step is queued;
/// * for one group `groupStarted` < everything inside < `groupFinished`; a group whose dependencies did not succeed
///   has neither, its steps are skipped;
/// * sequence numbers have no gaps except those that ``Kind/outputDropped(_:)`` and ``Kind/snapshot(_:)`` name.
public struct RunEvent: Sendable, Hashable {
  /// Counts from 1.
  public let sequence: UInt64
  /// Time since the run started, by a monotonic clock.
  public let elapsed: Duration
  public let kind: Kind

  package init(sequence: UInt64, elapsed: Duration, kind: Kind) {
    self.sequence = sequence
    self.elapsed = elapsed
    self.kind = kind
  }

  /// The payload of an event. The rarer and larger cases are boxed, so that a line of output stays small.
  public enum Kind: Sendable, Hashable {
    indirect case runStarted(RunStart)
    /// The step's dependencies are done; it waits for a slot of the run, and for these slots of pools.
    case stepQueued(StepAddress, waitingFor: [PoolRequest] = [])
    /// Attempts count from 1. Reported before the program starts.
    case stepStarted(StepAddress, attempt: Int)
    /// The step waits for an approval, with this message to the approver.
    indirect case stepAsking(StepAddress, message: String)
    /// The step only waits, for this long from now.
    indirect case stepWaiting(StepAddress, for: Duration)
    /// One line, or a part of a very long one.
    case stepOutput(StepAddress, StepOutput)
    /// The attempt has failed and another follows. Replaces `stepFinished` for this attempt.
    indirect case stepRetrying(StepAddress, Retry)
    indirect case stepFinished(StepAddress, StepEnd)
    /// In a resumed run: the step ended this way under a previous engine. Replaces all its other events.
    indirect case stepRestored(StepAddress, StepEnd)
    /// The step was restored from the cache instead of running. It counts as a success; `duration` is that of
    /// the cached run.
    indirect case stepCached(StepAddress, StepEnd)
    /// The step never starts.
    indirect case stepSkipped(StepAddress, SkipReason)
    case groupStarted(StepAddress, GroupStart)
    /// The attempt of the whole group has failed and another follows.
    indirect case groupRetrying(StepAddress, Retry)
    indirect case groupFinished(StepAddress, GroupEnd)
    /// A problem that does not stop the run.
    indirect case runWarning(RunWarning)
    /// The run as a whole is being cancelled: running steps are stopped, no others start.
    indirect case runCancelling(CancelReason)
    /// Always last, also after cancellation; only ``runWaiting(_:)`` replaces it.
    indirect case runFinished(RunEnd)
    /// The run is suspended: nothing can proceed without an approval, and no approver can be asked here. Always
    /// last. A resumed run continues from here.
    indirect case runWaiting(RunPause)
    /// Replaces output events that a slow subscriber did not take in time.
    case outputDropped(OutputGap)
    /// First for a subscriber that came too late for the beginning: the state of the run so far. Its sequence
    /// number is that of the last event it includes.
    indirect case snapshot(RunReport)
  }
}

/// The start of a run.
public struct RunStart: Sendable, Hashable {
  public let run: RunID
  /// The workflow's name; `nil` if it has none.
  public internal(set) var workflow: String?
  /// The path of the workflow file as it was given; `nil` for a workflow built in Swift.
  public internal(set) var file: String?
  public let startedAt: WallTime
  public let stepCount: Int
  public let groupCount: Int
  /// The maximum number of attempts that run at once.
  public let maxParallel: Int
  /// The process that runs the engine.
  public let engineProcess: Int32
  /// The containment of the steps' processes; `nil` if the steps start none.
  public let containment: ContainmentLevel?
  /// The number of times that the run was resumed; 0 for a new run.
  public let resumption: Int

  package init(
    run: RunID, workflow: String?, file: String?, startedAt: WallTime, stepCount: Int,
    groupCount: Int, maxParallel: Int, engineProcess: Int32, containment: ContainmentLevel?,
    resumption: Int
  ) {
    self.run = run
    self.workflow = workflow
    self.file = file
    self.startedAt = startedAt
    self.stepCount = stepCount
    self.groupCount = groupCount
    self.maxParallel = maxParallel
    self.engineProcess = engineProcess
    self.containment = containment
    self.resumption = resumption
  }
}

/// A point in time by the wall clock, which may jump: for display, never for measuring.
public struct WallTime: Sendable, Hashable {
  /// Since 1970-01-01T00:00:00Z.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The time after a duration; saturates at the first and last representable time.
  public func advanced(by duration: Duration) -> WallTime {
    WallTime(nanoseconds: Timestamp(nanoseconds: nanoseconds).advanced(by: duration).nanoseconds)
  }

  /// The time that has passed since another point; negative if that is later.
  package func since(_ other: WallTime) -> Duration {
    .nanoseconds(nanoseconds) - .nanoseconds(other.nanoseconds)
  }
}

/// The identity of a run: its start time (UTC) and six random hexadecimal digits, so that ids sort by time:
/// `20261120-233012-4f2a9c`.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
  public let text: String

  package init(_ text: String) {
    self.text = text
  }

  public var description: String { text }
}

/// Output events that one subscriber missed because it did not keep up.
public struct OutputGap: Sendable, Hashable {
  /// The first and last sequence numbers of the dropped events. Events of other kinds between them are still
  /// delivered.
  public var sequences: ClosedRange<UInt64>
  /// The number of dropped events.
  public var count: Int
  /// The bytes of output in them.
  public var bytes: Int
}
