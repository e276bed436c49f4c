/// Slots that come and go during the run, and slots that a step has besides its own, for the jobs of a tool such as
/// `make`.
extension SlotQueue {
  /// Adds a slot to the run.
  mutating func addSlot() { free += 1 }

  /// Removes a slot from the run if one is free.
  mutating func removeFreeSlot() -> Bool {
    guard free > 0 else { return false }
    free -= 1
    return true
  }

  /// Gives a step a further slot, if one is free in every limit around it. Called after ``grant(at:)``, so that no
  /// waiting step could use the slot.
  mutating func lend(to step: Int) -> Bool {
    let limit = records[step].limit
    guard free > 0, firstFullLimit(from: limit) == nil else { return false }
    free -= 1
    takeLimits(from: limit)
    return true
  }

  /// Takes back a slot that a step has besides its own.
  mutating func takeBack(from step: Int) {
    free += 1
    giveBackLimits(from: records[step].limit)
  }

  /// Whether a step waits that lacks nothing but a slot of the run.
  mutating func lacksSlots() -> Bool {
    free == 0 && (waiting.first(where: records.areWaiting) != nil || aLineLacksSlots())
  }

  /// Whether a waiting step may be helped by a slot that is taken back from this step.
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
