/// How long a start for which the system has no room is tried again: pauses that double from
/// ``firstPause`` up to ``longestPause``. It is given up after ``total``, of which the time is not taken
/// during which something else of the run runs: that will end, and leave room.
package struct ShortagePatience: Sendable, Hashable {
  package var firstPause = Duration.milliseconds(50)
  package var longestPause = Duration.seconds(5)
  package var total = Duration.seconds(60)

  private var lastPause: Duration?
  private var spent = Duration.zero

  package init() {}

  /// How long to wait before the next try; `nil`: it is not tried again.
  mutating func nextPause(othersRun: Bool) -> Duration? {
    guard othersRun || spent < total else { return nil }
    var pause = lastPause.map { min($0 * 2, longestPause) } ?? firstPause
    lastPause = pause
    if !othersRun {
      pause = min(pause, total - spent)
      spent += pause
    }
    return pause
  }
}
