package import WeftExecution

/// Decides which records of runs are taken away.
///
/// A run that could still be gone on with goes only where that is said; one that an engine has, and what is no
/// run's folder, never.
package struct CleaningPolicy: Sendable, Hashable {
  /// What is known of a run.
  package struct Candidate: Sendable, Hashable {
    package var run: RunID
    package var standing: RunStanding
    /// 0 where ``CleaningPolicy/bytes`` does not matter.
    package var bytes: Int

    package init(_ run: RunID, _ standing: RunStanding, bytes: Int = 0) {
      self.run = run
      self.standing = standing
      self.bytes = bytes
    }
  }

  /// How many are kept, the newest; `nil`: their number does not matter.
  package var count: Int?
  /// Those that began longer ago go.
  package var age: Duration?
  /// The oldest go until all of them together have no more; the newest stays.
  package var bytes: Int?
  package var takesUnfinished: Bool

  /// How many runs are kept where nobody says anything.
  package static let defaultCount = 50

  package init(
    count: Int? = nil, age: Duration? = nil, bytes: Int? = nil, takesUnfinished: Bool = false
  ) {
    self.count = count
    self.age = age
    self.bytes = bytes
    self.takesUnfinished = takesUnfinished
  }

  /// What becomes of each.
  package struct Decision: Sendable, Hashable {
    /// The oldest first.
    package var removed: [Candidate] = []
    /// Those that would go if they could not be gone on with.
    package var spared: [Candidate] = []
  }

  /// - Parameter runs: All that there are, the newest first.
  package func decision(on runs: [Candidate], now: WallTime) -> Decision {
    var decision = Decision()
    var total = 0
    for (index, run) in runs.enumerated() {
      let isTooMany = count.map { index >= $0 } ?? false
      let isTooOld = age.map { isOlder(run.run, than: $0, now) } ?? false
      let isTooMuch = bytes.map { index > 0 && total + run.bytes > $0 } ?? false
      guard isTooMany || isTooOld || isTooMuch else {
        total += run.bytes
        continue
      }
      switch run.standing {
      case .ended: decision.removed.append(run)
      case .unfinished where takesUnfinished: decision.removed.append(run)
      case .unfinished:
        decision.spared.append(run)
        total += run.bytes
      case .held, .unknown: total += run.bytes
      }
    }
    decision.removed.reverse()
    return decision
  }

  private func isOlder(_ run: RunID, than age: Duration, _ now: WallTime) -> Bool {
    guard let start = run.startedAt else { return false }
    return now.since(start) > age
  }
}
