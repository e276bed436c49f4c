package import WeftEvents

/// Polls a run of another process until it cannot produce anything more.
package struct RunPoller {
  package enum Finding {
    /// The run may produce more after ``RunPoller/pause``.
    case continues
    case ended(RunEnd)
    /// Its engine has suspended it until a pending approval is answered.
    case waits(RunPause)
    /// No engine holds it, and its end is not recorded.
    case abandoned
  }

  private var followed: FollowedRun
  private var isFirst = true
  /// Whether no engine held it at the last poll.
  private var isFree = false

  /// The delay between polls without news.
  package static let pause = Duration.milliseconds(50)

  package init(_ followed: FollowedRun) {
    self.followed = followed
  }

  /// Whether ``RunPoller/pause`` must pass before the next poll.
  package var isIdle: Bool { !isFirst && !isFree }

  /// Reports new events.
  package mutating func poll(_ report: FollowedRun.Handler) -> Finding {
    isFirst = false
    let hasChanges = followed.poll(report)
    if let end = followed.end { return .ended(end) }
    if let pause = followed.pause { return .waits(pause) }
    if hasChanges {
      isFree = false
    } else if isFree {
      return .abandoned
    } else {
      // Records from before this check are read by one more poll.
      isFree = !followed.isHeld
    }
    return .continues
  }
}
