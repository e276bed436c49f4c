/// Decides when a run has come to rest: nothing of it can go on, and nothing has happened between two looks at
/// it. The second look is for what is on its way from one step to the next, which nobody sees.
struct RestWatch: Sendable, Hashable {
  enum Verdict: Sendable, Hashable {
    case atRest
    /// To be looked at again, after so long.
    case again(after: Duration)
  }

  static let shortest = Duration.milliseconds(25)
  static let longest = Duration.seconds(1)

  private var wait = RestWatch.shortest
  /// What had happened when it was last found still.
  private var stillSince: UInt64?

  /// - Parameters:
  ///   - isStill: Whether nothing runs, and nothing waits for a slot or a time.
  ///   - happened: How many events there were.
  mutating func look(isStill: Bool, happened: UInt64) -> Verdict {
    if isStill, stillSince == happened { return .atRest }
    stillSince = isStill ? happened : nil
    // Who is still is looked at again soon; what runs for hours costs a look a second.
    wait = isStill ? RestWatch.shortest : min(wait * 2, RestWatch.longest)
    return .again(after: wait)
  }
}
