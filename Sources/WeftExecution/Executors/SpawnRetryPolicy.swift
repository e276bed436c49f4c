/// The backoff for starts that fail by resource exhaustion: it doubles from ``firstPause`` up to
/// ``longestPause``. Starts are given up after ``total``. The time while other programs of the run are running
/// does not count, because they will end and free resources.
package struct SpawnRetryPolicy: Sendable, Hashable {
  package var firstPause = Duration.milliseconds(50)
  package var longestPause = Duration.seconds(5)
  package var total = Duration.seconds(60)

  private var lastPause: Duration?
  private var spent = Duration.zero

  package init() {}

  /// The delay before the next try; `nil` to give up.
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
