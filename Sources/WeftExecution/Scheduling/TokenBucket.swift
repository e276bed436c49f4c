/// How often something may be taken: a bucket that holds as much as may be taken in one period, is filled
/// evenly, and is full at first.
///
/// In any time `t` at most `count × (1 + t / period)` are taken. Counted in whole parts of a token, so that
/// nothing is lost to rounding however often it is asked.
struct TokenBucket {
  /// Parts of a token: as many as the period has nanoseconds. Each nanosecond adds `count` of them.
  private typealias Parts = Int128

  private let count: Int
  private let period: Parts
  private var filling: Parts
  private var filledAt: Duration

  /// - Parameters:
  ///   - count: How many there are in a period, and at once; at least 1.
  ///   - period: More than nothing.
  init(count: Int, per period: Duration, at now: Duration = .zero) {
    precondition(count > 0 && period >= .nanoseconds(1))
    self.count = count
    self.period = TokenBucket.nanoseconds(period)
    filling = Parts(count) * self.period
    filledAt = now
  }

  /// Takes `tokens` if there are as many.
  mutating func take(_ tokens: Int, at now: Duration) -> Bool {
    fill(at: now)
    guard filling >= Parts(tokens) * period else { return false }
    filling -= Parts(tokens) * period
    return true
  }

  /// Puts back what was taken for nothing.
  mutating func giveBack(_ tokens: Int) {
    filling = min(Parts(count) * period, filling + Parts(tokens) * period)
  }

  /// The moment from which there are `tokens`, if none is taken before.
  ///
  /// - Precondition: There are not more of them than the bucket holds.
  func available(_ tokens: Int) -> Duration {
    precondition(tokens <= count, "\(tokens) are wanted of a bucket that holds \(count)")
    let lacking = Parts(tokens) * period - filling
    guard lacking > 0 else { return filledAt }
    let nanoseconds = (lacking + Parts(count) - 1) / Parts(count)
    return filledAt + .nanoseconds(Int64(clamping: nanoseconds))
  }

  /// Time that is less than a nanosecond is left for later.
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
