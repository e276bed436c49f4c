import CWeftPlatform
import Synchronization
import WeftEncoding

/// The source of the engine's time; tests replace it with a clock that they advance by hand.
package protocol TimeSource: Sendable {
  /// The time since an arbitrary moment; never goes back.
  var now: Duration { get }

  /// Calls `action` once `delay` has passed, immediately if that is not positive, on a thread that must not be blocked.
  /// Actions due at the same time are called in the order in which they were scheduled.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> TimerToken
}

/// Cancels one scheduled action.
package struct TimerToken: Sendable {
  private let onCancel: @Sendable () -> Void

  package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Keeps the action from starting; does not wait for one that has started. A second call has no effect.
  package func cancel() { onCancel() }
}

/// Time that only moves forward, whatever happens to the wall clock.
package enum MonotonicClock {
  /// The time since an arbitrary moment before this process started.
  package static var now: Duration { .nanoseconds(weft_monotonic_nanoseconds()) }
}

/// The time of day, for people and journals; it may jump.
package enum WallClock {
  package static var now: Timestamp { Timestamp(nanoseconds: weft_wall_nanoseconds()) }
}

/// A moment in UTC.
package struct Timestamp: Hashable, Comparable, Sendable {
  /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func < (one: Timestamp, other: Timestamp) -> Bool {
    one.nanoseconds < other.nanoseconds
  }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 with milliseconds, truncated: "2026-11-20T23:36:05.123Z".
  package var description: String {
    let (days, time) = Self.floorDivide(nanoseconds, by: 86_400_000_000_000)
    let date = CivilDate(daysSince1970: days)
    let milliseconds = time / 1_000_000
    let seconds = milliseconds / 1000
    var text = Array("0000-00-00T00:00:00.000Z".utf8)
    func write(_ number: Int64, upTo end: Int) {
      var (rest, index) = (number, end)
      while rest > 0 {
        index -= 1
        text[index] += UInt8(rest % 10)
        rest /= 10
      }
    }
    write(date.year, upTo: 4)
    write(date.month, upTo: 7)
    write(date.day, upTo: 10)
    write(seconds / 3600, upTo: 13)
    write(seconds / 60 % 60, upTo: 16)
    write(seconds % 60, upTo: 19)
    write(milliseconds % 1000, upTo: 23)
    return String(decoding: text, as: UTF8.self)
  }

  private static func floorDivide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension Timestamp {
  /// The moment that is `duration` later, clamped to the first or last one that can be represented.
  package func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    guard overflows else { return Timestamp(nanoseconds: sum) }
    return Timestamp(nanoseconds: nanoseconds < 0 ? .min : .max)
  }
}

extension Duration {
  /// Whole nanoseconds, truncated, and clamped to 292 years, the most that `Int64` holds.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, alsoOverflows) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    guard overflows || alsoOverflows else { return sum }
    return seconds < 0 ? .min : .max
  }
}

extension TimeSource {
  /// Suspends the task until `duration` has passed.
  ///
  /// - Throws: When the task is cancelled.
  package func sleep(for duration: Duration) async throws(CancellationError) {
    let sleeper = Sleeper()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleeper.begin(continuation) {
          schedule(after: duration) { sleeper.end(.success(())) }
        }
      }
    } onCancel: {
      sleeper.end(.failure(CancellationError()))
    }
    try result.get()
  }
}

/// One suspended task: resumed by its timer or by its cancellation, whichever is first.
private final class Sleeper: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Result<Void, CancellationError>, Never>?
    var timer: TimerToken?
    var result: Result<Void, CancellationError>?
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<Result<Void, CancellationError>, Never>,
    _ schedule: () -> TimerToken
  ) {
    let early = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let early { return continuation.resume(returning: early) }
    let timer = schedule()
    let isOver = state.withLock { state in
      state.timer = timer
      return state.result != nil
    }
    if isOver { timer.cancel() }
  }

  func end(_ result: Result<Void, CancellationError>) {
    let (continuation, timer) = state.withLock { state in
      guard state.result == nil else {
        return (nil, nil)
          as (CheckedContinuation<Result<Void, CancellationError>, Never>?, TimerToken?)
      }
      state.result = result
      defer { (state.continuation, state.timer) = (nil, nil) }
      return (state.continuation, state.timer)
    }
    timer?.cancel()
    continuation?.resume(returning: result)
  }
}
