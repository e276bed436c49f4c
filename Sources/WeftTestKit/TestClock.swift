public import Weft
package import WeftPlatform

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
public final class TestClock: Clock, TimeSourceClock {
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
  package var timeSource: any TimeSource { time }

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
    try await time.sleep(for: deadline.offset - time.now)
  }
}
