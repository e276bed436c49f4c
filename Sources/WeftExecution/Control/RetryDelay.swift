import WeftDefinition
import WeftPlatform

/// The backoff before a further attempt: it grows exponentially up to a limit.
///
/// Computed in whole nanoseconds; no factor and no number of attempts overflows.
struct RetryDelay {
  private let policy: RetryPolicy

  init(_ policy: RetryPolicy) {
    self.policy = policy
  }

  /// The longest backoff before the policy's further attempt of this number, counted from 1.
  func longest(before attempt: Int) -> Duration { .nanoseconds(nanoseconds(before: attempt)) }

  /// The backoff before the policy's further attempt of this number, counted from 1.
  func wait(before attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
    let longest = nanoseconds(before: attempt)
    return switch policy.jitter {
    case .none: .nanoseconds(longest)
    case .full: .nanoseconds(Int64.random(in: 0...longest, using: &random))
    }
  }

  private func nanoseconds(before attempt: Int) -> Int64 {
    let limit = max(0, policy.maxDelay.wholeNanoseconds)
    var delay = max(0, policy.delay.wholeNanoseconds)
    // A `Double` only once the delay grows, so that the first delays of long backoffs are exact.
    if attempt > 1, delay > 0, delay < limit {
      var grown = Double(delay)
      for _ in 1..<attempt where grown < Double(limit) { grown *= policy.factor }
      delay = grown < Double(limit) ? Int64(grown.rounded()) : limit
    }
    return min(delay, limit)
  }
}
