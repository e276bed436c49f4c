/// Protection against starvation: the step that has waited longest is overtaken only so often.
extension SlotQueue {
  mutating func countOvertaking(by step: Int) {
    if let oldest = oldestWaiting(), oldest != step { overtakings += 1 }
  }

  /// The step that has waited longest, if it has been overtaken too often and can run. While it cannot run, its pools
  /// are reserved for it, and from time to time the oldest step that can run goes first.
  mutating func starvingStep() -> Int? {
    guard !keysAreFileOrder, overtakings >= overtakingLimit, let oldest = oldestWaiting(),
      overtakings >= overtakingLimit
    else { return nil }
    if isServable(oldest, inSpiteOfOthers: true) {
      overtakings = 0
      overtakingsSeen = 0
      leaveEntryBehind()
      return oldest
    }
    reservePools(for: oldest)
    guard overtakings >= overtakingsSeen + overtakingLimit else { return nil }
    overtakingsSeen = overtakings
    guard let next = oldestServable() else { return nil }
    overtakings += 1
    leaveEntryBehind()
    return next
  }

  private func oldestServable() -> Int? {
    for index in arrivals.indices where records.areWaiting(arrivals[index]) {
      let step = Int(arrivals[index].step)
      if isServable(step) { return step }
    }
    return nil
  }

  /// The step that has waited longest. The count of overtakings belongs to it, and starts at zero when a different
  /// step takes its place.
  mutating func oldestWaiting() -> Int? {
    while let first = arrivals.first {
      if records.areWaiting(first) { return Int(first.step) }
      arrivals.removeFirst()
      overtakings = 0
      overtakingsSeen = 0
    }
    return nil
  }

  /// Counts an entry of a step that no longer waits. Such entries are dropped when they reach the top of a heap,
  /// which may be never; when they outnumber the others, all are removed.
  mutating func leaveEntryBehind() {
    staleCount += 1
    guard staleCount > 64 + waitingCount + limits.count + pools.lineCount else { return }
    staleCount = 0
    waiting.keep(where: records.areWaiting)
    for limit in limits.indices { limits[limit].parked.keep(where: records.areWaiting) }
    pools.keep(where: records.areWaiting)
  }
}
