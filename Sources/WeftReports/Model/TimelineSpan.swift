package import WeftEvents
import WeftExecution

/// The state of a step for a reader: one word for its outcome, whatever the record calls it.
package enum Verdict: String, Sendable, Hashable, CaseIterable {
  case succeeded, failed, tolerated, cancelled, skipped, cached
  /// Its engine was gone before it ended.
  case interrupted
  case running
  /// Waits for an approval.
  case waiting
  /// No engine has started it.
  case notStarted = "not started"
  /// A service that its engine has terminated, because the run is suspended.
  case terminated

  /// Whether it counts against the run.
  package var isFailure: Bool { self == .failed || self == .interrupted }
}

extension Verdict {
  init(_ end: StepEnd) {
    self =
      switch end.outcome {
      case .success: .succeeded
      case .failure where end.conclusion == .success: .tolerated
      case .failure: .failed
      case .cancelled: .cancelled
      case .skipped: .skipped
      }
  }

  private init(_ service: ReadyService) {
    self =
      switch service {
      case .ready: .running
      case .terminated: .terminated
      case .interrupted: .interrupted
      }
  }

  init(_ group: GroupEnd) {
    self =
      switch group.outcome {
      case .success: .succeeded
      case .failure: group.conclusion == .success ? .tolerated : .failed
      case .cancelled: .cancelled
      case .skipped: .skipped
      }
  }

  /// - Parameter run: The state of the run.
  init(_ step: RecordedStep, in run: RecordedState) {
    self =
      switch step.state {
      case .queued: .notStarted
      case .started where step.isAsking: .waiting
      case .started, .retrying: run == .running ? .running : .interrupted
      case .skipped(let reason): reason.outcome == .cancelled ? .cancelled : .skipped
      case .finished where step.isCached: .cached
      case .finished where step.isLeftInDoubt: .interrupted
      case .finished where step.isServing: Verdict(ReadyService(in: run))
      case .finished(let end, _): Verdict(end)
      }
  }
}

/// Something that a step did for some time: it waited, or an attempt of it ran.
///
/// Times are microseconds since the run began, without the time between its engines. Starts are as exact as the
/// journal, in milliseconds; durations of attempts are those of the events, in microseconds.
package struct TimelineSpan: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Its dependencies are done; it waits for a slot.
    case slot
    /// An enclosing group runs as many of its members as it may at once.
    case group
    /// It waits for slots of a pool more than for one of the run.
    case pool
    /// It waits until the rate of a pool allows another start.
    case rate
    /// Its job waits in the queue of a cluster.
    case cluster
    /// An attempt, which holds a slot; of a service until it is ready.
    case running
    /// A service that is ready, without a slot: the rest of its attempt.
    case serving
    /// The delay before the next attempt.
    case backoff
    /// It waits for an approval, without a slot.
    case asking
    /// It waits for a time, without a slot.
    case sleeping
    /// Its result was restored from the cache: a moment.
    case cached

    /// Whether it belongs to an attempt; otherwise it is a wait before one.
    package var isAttempt: Bool {
      switch self {
      case .running, .serving, .asking, .sleeping, .cached: true
      case .slot, .group, .pool, .rate, .cluster, .backoff: false
      }
    }
  }

  package internal(set) var kind: Kind
  package internal(set) var start: Int
  package internal(set) var end: Int
  /// The number of the attempt, or of the one that it precedes; counts from 1 under each engine.
  package internal(set) var attempt: Int
  /// The lane of an attempt that holds a slot, from 0.
  package internal(set) var lane: Int?
  /// The result of an attempt; `nil` for a wait.
  package internal(set) var verdict: Verdict?
  /// The reason why the attempt failed.
  package internal(set) var failure: StepFailure?
  /// The step that used the lane before, as an index into ``RunTimeline/steps``.
  var predecessor: Int?

  init(_ kind: Kind, from start: Int, attempt: Int = 1) {
    (self.kind, self.start, self.attempt) = (kind, start, attempt)
    end = start
  }

  package var duration: Int { end - start }

  /// Whether an attempt begins with it.
  package var beginsAttempt: Bool { kind.isAttempt && kind != .serving }

  /// Whether it is a wait that ends once there are slots and time.
  var isForSlots: Bool {
    switch kind {
    case .slot, .group, .pool, .rate: true
    case .cluster, .running, .serving, .backoff, .asking, .sleeping, .cached: false
    }
  }
}

extension TimelineSpan.Kind {
  /// The wait for what a step lacked when it was queued; for a slot if that is not recorded.
  init(_ reason: WaitReason?) {
    self =
      switch reason {
      case .pool: .pool
      case .rate: .rate
      case .group: .group
      case .slot, nil: .slot
      }
  }
}
