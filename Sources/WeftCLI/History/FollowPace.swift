import WeftEvents
import WeftPlatform
import WeftRecord

/// Polls a run until it cannot produce anything more.
struct FollowPace {
  enum Finding {
    case goesOn
    case ended(RunEnd)
    /// Its engine has suspended it until a pending approval is answered.
    case waits(RunPause)
    /// No engine holds it, and its end is not recorded.
    case abandoned
  }

  private var followed: FollowedRun
  private let wakeup = Wakeup()
  private var isFirst = true
  /// Whether no engine held it at the last poll.
  private var isFree = false

  /// The delay between polls without news.
  private static let pause = Duration.milliseconds(50)

  init(_ followed: FollowedRun) {
    self.followed = followed
  }

  /// Waits for the next poll, and reports new events.
  mutating func next(_ report: FollowedRun.Tell) -> Finding {
    if !isFirst, !isFree { wakeup.wait(atMost: FollowPace.pause) }
    isFirst = false
    let hasNews = followed.poll(report)
    if let end = followed.end { return .ended(end) }
    if let pause = followed.pause { return .waits(pause) }
    if hasNews {
      isFree = false
    } else if isFree {
      return .abandoned
    } else {
      // Records from before this check are read by one more poll.
      isFree = !followed.isHeld
    }
    return .goesOn
  }
}
