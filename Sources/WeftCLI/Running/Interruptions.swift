/// The effects of signals that ask the program to end: the first cancels the run gracefully, the second kills running
/// processes, the third exits at once. After the run, the first one exits.
struct Interruptions: Sendable, Hashable {
  enum Action: Sendable, Hashable {
    case cancel
    case kill
    case leave
  }

  private var count = 0
  /// Set when nothing runs any more, and only output remains to be written.
  var runIsOver = false

  /// Returns the effect of the next signal.
  mutating func next() -> Action {
    count += 1
    switch count {
    case _ where runIsOver: return .leave
    case 1: return .cancel
    case 2: return .kill
    default: return .leave
    }
  }
}
