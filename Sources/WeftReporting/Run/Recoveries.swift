import WeftEvents
import WeftPlanning

/// Steps that succeeded only after retries, which may be unreliable.
struct Recoveries: Sendable {
  static let nameLimit = 5

  private(set) var count = 0
  /// The first of them, with their numbers of attempts.
  private(set) var first: [(step: StepAddress, attempts: Int)] = []

  mutating func add(_ step: StepAddress, _ end: StepEnd) {
    guard end.outcome == .success, end.attempts > 1 else { return }
    count += 1
    if first.count < Recoveries.nameLimit { first.append((step, end.attempts)) }
  }

  /// The sentence `2 steps succeeded only after further attempts: fetch (3), upload[4] (2)`; `nil` if there are none.
  var sentence: String? {
    guard count > 0 else { return nil }
    let names = first.map { "\($0.step) (\($0.attempts))" }.joined(separator: ", ")
    let rest = count > first.count ? " and \(count - first.count) more" : ""
    return "\(counted(count, "step")) succeeded only after retries: \(names)\(rest)"
  }
}
