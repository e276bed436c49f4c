/// Decides when a run is idle: nothing can proceed, and nothing has happened between two checks. The second
/// check covers work that is passing from one step to the next, which no counter shows.
struct IdleDetector: Sendable, Hashable {
  enum Verdict: Sendable, Hashable {
    case atRest
    /// To be checked again after this delay.
    case again(after: Duration)
  }

  static let shortest = Duration.milliseconds(25)
  static let longest = Duration.seconds(1)

  private var wait = IdleDetector.shortest
  /// The number of events when nothing could last proceed.
  private var stillSince: UInt64?

  /// - Parameters:
  ///   - isIdle: Whether nothing runs, and nothing waits for a slot or a point in time.
  ///   - happened: The number of events so far.
  mutating func look(isIdle: Bool, happened: UInt64) -> Verdict {
    if isIdle, stillSince == happened { return .atRest }
    stillSince = isIdle ? happened : nil
    // A run that seems idle is checked again soon; one that runs for hours costs one check per second.
    wait = isIdle ? IdleDetector.shortest : min(wait * 2, IdleDetector.longest)
    return .again(after: wait)
  }
}
