/// Estimates how fast an amount grows, and when it will have grown to the whole.
///
/// Times come from the caller. Recent growth counts more: what is older than ``memory`` fades. Growth before the first
/// observation does not count, such as the elements that a resumed loop has from an earlier engine.
struct RateEstimate: Sendable {
  /// The growth, and the seconds in which it happened.
  private var growth = 0.0
  private var seconds = 0.0
  private var last: (done: Int, at: Duration)?

  /// The seconds after which an observation counts half.
  private static let memory = 15.0
  /// The seconds that must have been observed before there is an estimate.
  private static let shortest = 1.0
  /// The longest time that is worth showing.
  private static let longest = 100 * 24 * 3600.0

  /// Takes the present amount. An amount that has become smaller starts over.
  mutating func observe(_ done: Int, at now: Duration) {
    guard let last, done >= last.done else {
      (growth, seconds, last) = (0, 0, (done, now))
      return
    }
    let passed = (now - last.at) / .seconds(1)
    guard passed > 0 else { return }
    let share = RateEstimate.memory / (RateEstimate.memory + passed)
    growth = growth * share + Double(done - last.done)
    seconds = seconds * share + passed
    self.last = (done, now)
  }

  /// The growth per second; `nil` while too little is known.
  func perSecond(at now: Duration) -> Double? {
    guard let last, growth > 0 else { return nil }
    let all = seconds + max(0, (now - last.at) / .seconds(1))
    return all < RateEstimate.shortest ? nil : growth / all
  }

  /// The time until the amount is `total`; `nil` while too little is known, or if it is very long.
  func left(until total: Int, at now: Duration) -> Duration? {
    guard let last, let rate = perSecond(at: now) else { return nil }
    let left = Double(max(0, total - last.done)) / rate - (now - last.at) / .seconds(1)
    return left < RateEstimate.longest ? .seconds(max(0, left)) : nil
  }
}
