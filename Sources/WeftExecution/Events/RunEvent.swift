public import WeftDefinition
public import WeftPlanning
import WeftPlatform

/// Something that happened during a run, in the order in which it happened.
///
/// The order is the same for every subscriber:
/// * `runStarted` is first, exactly once, and last, exactly once, is `runFinished`, or `runWaiting` of a run that
///   another engine goes on with;
/// * of one step `stepQueued` < `stepStarted` < `stepAsking`, `stepWaiting`, `stepOutput`… < `stepFinished`; an attempt that is
///   followed by another has `stepRetrying` in place of the finish, so that each start has one end; a step
///   that never starts has one `stepSkipped` instead of start and finish, one `stepCached` if what it made in an
///   earlier run stands in for running it, after a `stepOutput` for each line that it wrote then, or one `stepRestored` if it has ended
///   in an earlier part of a run that is gone on with;
/// * what a step waits for has finished or been skipped before the step is queued;
/// * of one group `groupStarted` < everything inside < `groupFinished`; a group whose dependencies
///   did not succeed has neither, its steps are skipped;
/// * sequence numbers have no gaps but those that ``Kind/outputDropped(_:)`` and
///   ``Kind/snapshot(_:)`` name.
public struct RunEvent: Sendable, Hashable {
  /// Counts from 1.
  public let sequence: UInt64
  /// Time since the run started, by a clock that does not jump.
  public let elapsed: Duration
  public let kind: Kind

  package init(sequence: UInt64, elapsed: Duration, kind: Kind) {
    self.sequence = sequence
    self.elapsed = elapsed
    self.kind = kind
  }

  /// What happened. The rarer and larger cases are boxed, so that a line of output stays small.
  public enum Kind: Sendable, Hashable {
    indirect case runStarted(RunStart)
    /// Everything the step waits for is done; it waits for a slot of the run, and for these of pools.
    case stepQueued(StepAddress, waitingFor: [PoolRequest] = [])
    /// Attempts count from 1. It precedes the start of the program.
    case stepStarted(StepAddress, attempt: Int)
    /// The step waits for a person, who is asked this.
    indirect case stepAsking(StepAddress, message: String)
    /// The step does nothing but wait, for so long from now.
    indirect case stepWaiting(StepAddress, for: Duration)
    /// One line, or a part of a very long one.
    case stepOutput(StepAddress, StepOutput)
    /// The attempt has failed; another follows. It stands in place of `stepFinished`.
    indirect case stepRetrying(StepAddress, Retry)
    indirect case stepFinished(StepAddress, StepEnd)
    /// In a run that is gone on with, in place of everything else about the step: it ended so before, and that
    /// stands.
    indirect case stepRestored(StepAddress, StepEnd)
    /// The step is not run: it has made the same before. Its outputs are there, and it counts as a success; the
    /// duration is that of then.
    indirect case stepCached(StepAddress, StepEnd)
    /// The step never starts.
    indirect case stepSkipped(StepAddress, SkipReason)
    case groupStarted(StepAddress, GroupStart)
    /// The attempt of the whole group has failed; another follows.
    indirect case groupRetrying(StepAddress, Retry)
    indirect case groupFinished(StepAddress, GroupEnd)
    /// The run goes on in spite of it.
    indirect case runWarning(RunWarning)
    /// The run as a whole is being ended; what runs is stopped, nothing else starts.
    indirect case runCancelling(CancelReason)
    /// Always last, also after cancellation; but for ``runWaiting(_:)``.
    indirect case runFinished(RunEnd)
    /// Last of all where nothing can go on before somebody has answered, who cannot be asked here. Whoever goes
    /// on with the run's record goes on from here.
    indirect case runWaiting(RunPause)
    /// In place of output events that a slow subscriber did not take in time.
    case outputDropped(OutputGap)
    /// First for a subscriber that came too late for the beginning: all that happened up to here.
    /// Its sequence number is that of the last event it stands for.
    indirect case snapshot(RunReport)
  }
}

/// How a run begins.
public struct RunStart: Sendable, Hashable {
  public let run: RunID
  /// The workflow's name; `nil` if it has none.
  public internal(set) var workflow: String?
  /// The path of the workflow file as it was given; `nil` for a workflow built in Swift.
  public internal(set) var file: String?
  public let startedAt: WallTime
  public let stepCount: Int
  public let groupCount: Int
  /// How many attempts may run at once.
  public let maxParallel: Int
  /// The process that runs the engine.
  public let engineProcess: Int32
  /// How surely what steps start is found again; `nil` where they start nothing.
  public let containment: ContainmentLevel?
  /// How often the run has been gone on with; 0 of one that begins.
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

/// A moment by the clock on the wall, which may jump: for people, never for measuring.
public struct WallTime: Sendable, Hashable {
  /// Since 1970-01-01T00:00:00Z.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// This moment plus some time; the first or last moment that there is, where it would lie beyond.
  public func advanced(by duration: Duration) -> WallTime {
    WallTime(nanoseconds: Timestamp(nanoseconds: nanoseconds).advanced(by: duration).nanoseconds)
  }

  /// The time that has passed since another moment; negative if that is later.
  package func since(_ other: WallTime) -> Duration {
    .nanoseconds(nanoseconds) - .nanoseconds(other.nanoseconds)
  }
}

/// Names a run: the time it started (UTC) and six random hexadecimal digits, so that ids sort by
/// time: `20261120-233012-4f2a9c`.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
  public let text: String

  package init(_ text: String) {
    self.text = text
  }

  public var description: String { text }
}

/// Output events that were left out for one subscriber because it did not keep up.
public struct OutputGap: Sendable, Hashable {
  /// The first and last sequence numbers of the dropped events. Events of other kinds between them
  /// are delivered by themselves.
  public var sequences: ClosedRange<UInt64>
  /// How many events were dropped.
  public var count: Int
  /// How many bytes of output they held.
  public var bytes: Int
}
