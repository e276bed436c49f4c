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

  /// Gives a step one more slot, if there is a free one in every limit around it. After ``grant(at:)``, so
  /// that nobody waits who could have it.
  mutating func lend(to step: Int) -> Bool {
    let limit = records[step].limit
    guard free > 0, firstFullLimit(from: limit) == nil else { return false }
    free -= 1
    takeLimits(from: limit)
    return true
  }

  /// Takes back one slot that a step had beside its own.
  mutating func takeBack(from step: Int) {
    free += 1
    giveBackLimits(from: records[step].limit)
  }

  /// Whether somebody waits for nothing but a slot of the run.
  mutating func lacksSlots() -> Bool {
    free == 0 && (waiting.first(where: records.areWaiting) != nil || aLineLacksSlots())
  }

  /// Whether somebody may be helped by a slot that is taken back from this step.
  mutating func lacksSlots(lentTo step: Int) -> Bool {
    if lacksSlots() { return true }
    let innermost = records[step].limit
    for index in indices(from: innermost) where limits[index].free == 0 {
      if limits[index].parked.first(where: records.areWaiting) != nil { return true }
    }
    guard pools.haveWaiters else { return false }
    for index in indices(from: innermost) { limits[index].free += 1 }
    defer { for index in indices(from: innermost) { limits[index].free -= 1 } }
    return aLineLacksSlots()
  }
}
