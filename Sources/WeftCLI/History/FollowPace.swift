import WeftExecution
import WeftPlatform
import WeftRecord

/// Looks at a run again and again, until nothing more can come of it.
struct FollowPace {
  enum Finding {
    case goesOn
    case ended(RunEnd)
    /// Its engine has left it, until somebody has answered.
    case waits(RunPause)
    /// No engine has it, and its end is not recorded.
    case abandoned
  }

  private var followed: FollowedRun
  private let wakeup = Wakeup()
  private var isFirst = true
  /// Whether no engine had it when it was looked at the last time.
  private var isFree = false

  /// Between two looks, while nothing comes.
  private static let pause = Duration.milliseconds(50)

  init(_ followed: FollowedRun) {
    self.followed = followed
  }

  /// Waits a moment, and tells what has come.
  mutating func next(_ tell: FollowedRun.Tell) -> Finding {
    if !isFirst, !isFree { wakeup.wait(atMost: FollowPace.pause) }
    isFirst = false
    let hasNews = followed.poll(tell)
    if let end = followed.end { return .ended(end) }
    if let pause = followed.pause { return .waits(pause) }
    if hasNews {
      isFree = false
    } else if isFree {
      return .abandoned
    } else {
      // What was recorded before that is looked for once more.
      isFree = !followed.isHeld
    }
    return .goesOn
  }
}
