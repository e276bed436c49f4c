import WeftPlatform

/// Decides how the attempt of an action or a request ends: the first of what that does, the time limit and a stop
/// counts, and what does not end when asked is left behind. It is told what happens, and does nothing itself.
struct ActionEnding {
  /// What is to be done.
  enum Decision: Hashable {
    case nothing
    /// Asks the action to end, and says so when the grace has passed.
    case cancel
    /// The attempt is over.
    case end(AttemptEnd.Status, isLeftBehind: Bool)
  }

  private enum Phase {
    case running
    /// It has been asked to end, and this is how the attempt will have ended.
    case ending(AttemptEnd.Status)
    case over
  }

  private var phase = Phase.running

  var isOver: Bool {
    if case .over = phase { true } else { false }
  }

  /// How the attempt will have ended, once it has been asked to.
  var reason: AttemptEnd.Status? {
    if case .ending(let status) = phase { status } else { nil }
  }

  /// The action has returned or thrown. What it came to counts only if nobody has asked it to end.
  mutating func actionEnded(_ status: AttemptEnd.Status) -> Decision {
    switch phase {
    case .running: return end(status)
    case .ending(let status): return end(status)
    case .over: return .nothing
    }
  }

  mutating func timeoutPassed(_ limit: Duration) -> Decision {
    ask(.timedOut(after: limit, nil))
  }

  mutating func stopRequested(_ level: StopLevel) -> Decision {
    let decision = ask(.stopped(nil))
    return level == .now ? gracePassed() : decision
  }

  mutating func gracePassed() -> Decision {
    guard case .ending(let status) = phase else { return .nothing }
    return end(status, isLeftBehind: true)
  }

  private mutating func ask(_ status: AttemptEnd.Status) -> Decision {
    guard case .running = phase else { return .nothing }
    phase = .ending(status)
    return .cancel
  }

  private mutating func end(_ status: AttemptEnd.Status, isLeftBehind: Bool = false) -> Decision {
    phase = .over
    return .end(status, isLeftBehind: isLeftBehind)
  }
}
