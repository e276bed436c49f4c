/// How long a step took in earlier runs. A plan has it once, be it run for many elements.
package struct MeasuredStep: Sendable, Hashable {
  /// Microseconds of one time, in each of the last runs in which it succeeded, the newest last; where it was
  /// run for many elements, their mean.
  package let recent: [Int]
  /// How many times it ended in the last run that succeeded; 0 if its condition left it out there.
  package let times: Int

  /// How many runs are remembered.
  package static let recentLimit = 5
  /// What lasts longer counts as long as this, so that no sum over a plan exceeds its type: twelve days.
  package static let longest = 1 << 40

  /// - Returns: `nil` where nothing was measured, or it is nothing that can have been.
  package init?(recent: [Int], times: Int) {
    guard !recent.isEmpty, recent.allSatisfy({ $0 >= 0 }), times >= 0 else { return nil }
    self.recent = recent.suffix(MeasuredStep.recentLimit).map { min($0, MeasuredStep.longest) }
    self.times = times
  }

  /// The median, so that one run on a busy machine, or one with a cold cache, does not count for much.
  package var typical: Int { recent.sorted()[recent.count / 2] }
}
