/// The durations of a step in earlier runs. A plan has one entry per step, also for the steps of loops.
package struct MeasuredStep: Sendable, Hashable {
  /// Microseconds per instance in each of the last runs in which the step succeeded, the newest last; for a step in a
  /// loop, the mean.
  package let recent: [Int]
  /// The number of instances that ended in the last successful run; 0 if its condition skipped it there.
  package let times: Int

  /// The number of runs that are kept.
  package static let recentLimit = 5
  /// The maximum duration, twelve days; longer ones count as this, so that no sum over a plan overflows.
  package static let longest = 1 << 40

  /// - Returns: `nil` if nothing was measured, or the values are impossible.
  package init?(recent: [Int], times: Int) {
    guard !recent.isEmpty, recent.allSatisfy({ $0 >= 0 }), times >= 0 else { return nil }
    self.recent = recent.suffix(MeasuredStep.recentLimit).map { min($0, MeasuredStep.longest) }
    self.times = times
  }

  /// The median, so that one run on a busy machine, or with a cold cache, has little weight.
  package var typical: Int { recent.sorted()[recent.count / 2] }
}
