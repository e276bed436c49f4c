import WeftPlanning

/// The counts of a cleanup step inside of a group that may be tried again. They outlive the attempt, and those of its next
/// run take their place: a step counts once.
struct CountedCleanup {
  /// Those of the groups around, from the innermost on.
  let attempts: [Int]
  var counts = OutcomeCounts()
}

extension LiveRun.State {
  /// Counts how a step has ended.
  mutating func count(_ task: StepTask, _ add: (inout OutcomeCounts) -> Void) {
    scopes.count(in: task.scope, add)
    guard task.isCleanup, let attempts = task.frame.attempts else { return }
    var known = countedCleanups[task.address] ?? CountedCleanup(attempts: attempts)
    if known.attempts != attempts {
      // What cleans up counts in the run once its group has ended.
      scopes.count(in: 0) { $0.remove(known.counts) }
      known = CountedCleanup(attempts: attempts)
    }
    add(&known.counts)
    countedCleanups[task.address] = known
  }
}

extension Frame {
  /// The attempts of the groups around, from the innermost on; `nil` if no group around is tried again.
  fileprivate var attempts: [Int]? {
    var found: [Int] = []
    var next: Frame? = self
    while let frame = next {
      if case .attempt(let number) = frame.kind { found.append(number) }
      next = frame.parent
    }
    return found.isEmpty ? nil : found
  }
}
