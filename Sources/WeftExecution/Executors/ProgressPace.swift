/// Decides when the state of a progress line is shown: not at each change, but no change stays unshown for
/// long. It has no clock; callers pass the time.
struct ProgressPace {
  /// At most one state in this time for each stream: 20 per second.
  static let interval = Duration.milliseconds(50)

  /// The time at which the next state is to be shown; `nil` if all have been shown.
  private(set) var due: Duration?
  private var shownAt: Duration?

  /// Records a change of the line. It is due immediately, unless a state was shown a moment ago.
  mutating func changed(at now: Duration) {
    due = due ?? shownAt.map { max(now, $0 + ProgressPace.interval) } ?? now
  }

  /// Whether a state is to be shown now; it then counts as shown.
  mutating func show(at now: Duration) -> Bool {
    guard let due, due <= now else { return false }
    self.due = nil
    shownAt = now
    return true
  }

  /// Records the end of the line, after which there is no further state to show.
  mutating func lineEnded() { due = nil }
}
