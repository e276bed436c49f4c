import Synchronization
import WeftPlatform

/// A clock that only a test advances: nothing that waits for it takes any time.
///
/// ```swift
/// let clock = TestClock()
/// let nap = Task { try await clock.sleep(for: .seconds(3600)) }
/// while clock.sleeperCount == 0 { await Task.yield() }
/// clock.advance(by: .seconds(3600))
/// try await nap.value
/// ```
///
/// ``TestRun`` has one; operators of streams, and other code that takes `some Clock<Duration>`, accept it as well.
public final class TestClock: Clock {
  /// A time of the clock: how far it has been advanced.
  public struct Instant: InstantProtocol {
    /// Since the clock was made.
    public let offset: Duration

    /// The time after another duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The duration until another time; negative if that is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one time is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  let time = ManualTime()

  /// Creates a clock that stands at zero.
  public init() {}

  /// The current time; it stands still between two calls of ``advance(by:)``.
  public var now: Instant { Instant(offset: time.now) }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of tasks and timers that wait for the clock.
  public var sleeperCount: Int { time.scheduledCount }

  /// Advances the clock. Everything that becomes due happens at its own time, in order, on the calling thread; resumed
  /// tasks continue on their own executors.
  public func advance(by duration: Duration) { time.advance(by: duration) }

  /// Advances the clock to the next time at which something is due.
  ///
  /// - Returns: Whether there was such a time.
  @discardableResult
  public func advanceToNext() -> Bool {
    guard let due = time.nextDue else { return false }
    time.advance(by: max(.zero, due - time.now))
    return true
  }

  /// Suspends the task until the clock has been advanced to `deadline`.
  ///
  /// - Parameter tolerance: Ignored.
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let sleeper = Sleeper()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        sleeper.begin(continuation) {
          time.schedule(after: deadline.offset - time.now) { sleeper.end(.success(())) }
        }
      }
    } onCancel: {
      sleeper.end(.failure(CancellationError()))
    }
  }
}

/// One suspended task: resumed by the clock or by its cancellation, whichever is first.
private final class Sleeper: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Void, any Error>?
    var timer: TimerToken?
    var result: Result<Void, any Error>?
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<Void, any Error>, _ schedule: () -> TimerToken
  ) {
    let early = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let early { return continuation.resume(with: early) }
    let timer = schedule()
    let isOver = state.withLock { state in
      state.timer = timer
      return state.result != nil
    }
    if isOver { timer.cancel() }
  }

  func end(_ result: Result<Void, any Error>) {
    let (continuation, timer) = state.withLock { state in
      guard state.result == nil else {
        return (nil, nil) as (CheckedContinuation<Void, any Error>?, TimerToken?)
      }
      state.result = result
      defer { (state.continuation, state.timer) = (nil, nil) }
      return (state.continuation, state.timer)
    }
    timer?.cancel()
    continuation?.resume(with: result)
  }
}
