/// Decides when the state of a line that writes over itself is shown: not at each change, and no change
/// stays unshown for long. It has no clock, it is told the time.
struct ProgressPace {
  /// At most one state in this time, of each stream: 20 a second.
  static let interval = Duration.milliseconds(50)

  /// When the next state is to be shown; `nil`: there is none that has not been shown.
  private(set) var due: Duration?
  private var shownAt: Duration?

  /// The line has changed: shown at once, unless a state has been shown a moment ago.
  mutating func changed(at now: Duration) {
    due = due ?? shownAt.map { max(now, $0 + ProgressPace.interval) } ?? now
  }

  /// Whether a state is to be shown now; then it counts as shown.
  mutating func show(at now: Duration) -> Bool {
    guard let due, due <= now else { return false }
    self.due = nil
    shownAt = now
    return true
  }

  /// There is nothing more to show of the line.
  mutating func lineEnded() { due = nil }
}
