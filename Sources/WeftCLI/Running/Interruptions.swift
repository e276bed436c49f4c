/// What each signal does that asks the program to end: the first ends the run gracefully, the second
/// kills what still runs, the third leaves at once. After the run, the first leaves.
struct Interruptions: Sendable, Hashable {
  enum Action: Sendable, Hashable {
    case cancel
    case kill
    case leave
  }

  private var count = 0
  /// Set when nothing is running any more, and only output is still to be written.
  var runIsOver = false

  /// What the next signal does.
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
