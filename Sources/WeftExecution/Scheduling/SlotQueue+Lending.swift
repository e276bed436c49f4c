/// Slots that come and go while the run goes on, and slots that a step has beside its own, for the jobs
/// of a tool that it runs.
extension SlotQueue {
  /// One more slot for the run.
  mutating func addSlot() { free += 1 }

  /// One fewer, if there is one that nobody has.
  mutating func removeFreeSlot() -> Bool {
    guard free > 0 else { return false }
    free -= 1
    return true
  }

  /// Gives a step one more slot, if there is a free one in every limit around it. After ``grant()``, so
  /// that nobody waits who could have it.
  mutating func lend(to step: Int) -> Bool {
    let chain = chains[Int(chainOfStep[step])]
    guard free > 0, chain.allSatisfy({ limits[$0].free > 0 }) else { return false }
    free -= 1
    for limit in chain { limits[limit].free -= 1 }
    return true
  }

  /// Takes back one slot that a step had beside its own.
  mutating func takeBack(from step: Int) {
    free += 1
    for limit in chains[Int(chainOfStep[step])] {
      limits[limit].free += 1
      unparkOne(from: limit)
    }
  }

  /// Whether somebody waits for nothing but a slot of the run.
  mutating func lacksSlots() -> Bool { free == 0 && hasCurrent(in: &waiting) }

  /// Whether somebody may be helped by a slot that is taken back from this step.
  mutating func lacksSlots(lentTo step: Int) -> Bool {
    if lacksSlots() { return true }
    for limit in chains[Int(chainOfStep[step])] where limits[limit].free == 0 {
      if hasCurrent(in: &limits[limit].parked) { return true }
    }
    return false
  }

  private func hasCurrent(in heap: inout PriorityHeap) -> Bool {
    while let first = heap.first {
      if isCurrent(first) { return true }
      _ = heap.popFirst()
    }
    return false
  }
}
