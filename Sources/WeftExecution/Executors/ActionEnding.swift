import WeftPlatform

/// The state machine that decides how the attempt of an action or a request ends: the first of its own end, the
/// time limit and a stop counts. An action that does not end when asked is left behind. It has no effects of
/// its own.
struct ActionEnding {
  /// An effect for the caller to carry out.
  enum Decision: Hashable {
    case nothing
    /// Asks the action to end; the caller reports back when the grace period has passed.
    case cancel
    /// Ends the attempt.
    case end(AttemptEnd.Status, isAbandoned: Bool)
  }

  private enum Phase {
    case running
    /// Asked to end; the attempt will end with this status.
    case ending(AttemptEnd.Status)
    case over
  }

  private var phase = Phase.running

  var isOver: Bool {
    if case .over = phase { true } else { false }
  }

  /// The status that the attempt will end with, once it has been asked to end.
  var reason: AttemptEnd.Status? {
    if case .ending(let status) = phase { status } else { nil }
  }

  /// Records that the action has returned or thrown. Its status counts only if it was not asked to end before.
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
    return end(status, isAbandoned: true)
  }

  private mutating func ask(_ status: AttemptEnd.Status) -> Decision {
    guard case .running = phase else { return .nothing }
    phase = .ending(status)
    return .cancel
  }

  private mutating func end(_ status: AttemptEnd.Status, isAbandoned: Bool = false) -> Decision {
    phase = .over
    return .end(status, isAbandoned: isAbandoned)
  }
}
