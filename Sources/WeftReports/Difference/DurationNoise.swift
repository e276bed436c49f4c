/// The variation of a duration from run to run, as far as it is known: decides which differences mean something.
///
/// A difference of less than 100 ms never does. If at least three other durations of the step are known, the later one
/// must be outside of their range by more than half of its width. Otherwise the longer one must be at least one and a
/// half times as long as the shorter one.
struct DurationNoise: Sendable, Hashable {
  static let minimum = 100_000
  static let fewestKnown = 3

  /// Microseconds in other runs, in any order; without the two that are compared.
  private let others: [Int]

  init(others: [Int] = []) {
    self.others = others
  }

  /// - Parameter recent: The durations in recent runs, among them perhaps the two that are compared.
  init(recent: [Int], without compared: [Int]) {
    var others = recent
    for duration in compared {
      if let index = others.firstIndex(of: duration) { others.remove(at: index) }
    }
    self.init(others: others)
  }

  /// The range of the other durations and the earlier one; `nil` if too few are known.
  func range(with before: Int) -> ClosedRange<Int>? {
    let known = others + [before]
    guard known.count >= DurationNoise.fewestKnown else { return nil }
    return known.min()!...known.max()!
  }

  func isExceeded(from before: Int, to after: Int) -> Bool {
    guard abs(after - before) >= DurationNoise.minimum else { return false }
    guard let range = range(with: before) else {
      let (shorter, longer) = (min(before, after), max(before, after))
      return longer - shorter >= shorter / 2
    }
    let margin = (range.upperBound - range.lowerBound) / 2
    return after < range.lowerBound - margin || after > range.upperBound + margin
  }
}
