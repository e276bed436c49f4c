/// Decides when tokens may be taken at a limited rate. The bucket holds as many as may be taken in one period, is
/// refilled evenly, and is full at first. Each pool with a `rate` has one.
///
/// In any time `t` at most `count × (1 + t / period)` tokens are taken. Fractions of tokens are counted as whole
/// parts, so that no rounding error accumulates.
struct TokenBucket {
  /// Parts of a token: as many as the period has nanoseconds. Each nanosecond adds `count` of them.
  private typealias Parts = Int128

  private let count: Int
  private let period: Parts
  private var filling: Parts
  private var filledAt: Duration

  /// - Parameters:
  ///   - count: The number of tokens in a period, and the capacity; at least 1.
  ///   - period: At least one nanosecond.
  init(count: Int, per period: Duration, at now: Duration = .zero) {
    precondition(count > 0 && period >= .nanoseconds(1))
    self.count = count
    self.period = TokenBucket.nanoseconds(period)
    filling = Parts(count) * self.period
    filledAt = now
  }

  /// Takes `tokens` if there are enough.
  mutating func take(_ tokens: Int, at now: Duration) -> Bool {
    fill(at: now)
    guard filling >= Parts(tokens) * period else { return false }
    filling -= Parts(tokens) * period
    return true
  }

  /// Puts back tokens that were not used.
  mutating func giveBack(_ tokens: Int) {
    filling = min(Parts(count) * period, filling + Parts(tokens) * period)
  }

  /// The moment from which `tokens` are available, if none is taken before.
  ///
  /// - Precondition: `tokens` is not larger than the capacity.
  func available(_ tokens: Int) -> Duration {
    precondition(tokens <= count, "\(tokens) are wanted of a bucket that holds \(count)")
    let lacking = Parts(tokens) * period - filling
    guard lacking > 0 else { return filledAt }
    let nanoseconds = (lacking + Parts(count) - 1) / Parts(count)
    return filledAt + .nanoseconds(Int64(clamping: nanoseconds))
  }

  /// Refills the bucket. A remainder of less than a nanosecond is left for later.
  private mutating func fill(at now: Duration) {
    let passed = TokenBucket.nanoseconds(now - filledAt)
    guard passed > 0 else { return }
    filling = min(Parts(count) * period, filling + passed * Parts(count))
    filledAt += .nanoseconds(Int64(clamping: passed))
  }

  private static func nanoseconds(_ duration: Duration) -> Parts {
    let (seconds, attoseconds) = duration.components
    return Parts(seconds) * 1_000_000_000 + Parts(attoseconds / 1_000_000_000)
  }
}
