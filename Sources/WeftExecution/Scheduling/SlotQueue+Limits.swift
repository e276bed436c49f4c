/// Limits inside that of the run: one for each group with `maxParallel`.
extension SlotQueue {
  struct Limit {
    let slots: Int
    var free: Int
    /// The limit around it; -1 if that is the run's own.
    let outer: Int32
    /// Waiting steps for which this was the innermost limit without a free slot.
    var parked = PriorityHeap()
    /// The lines of steps that need pools and are in this limit.
    var lines: [Int32] = []
  }

  /// - Parameter outer: The limit around it; `nil` for the run's own.
  mutating func addLimit(slots: Int, inside outer: Int? = nil) -> Int {
    precondition(slots > 0)
    let limit = Limit(slots: slots, free: slots, outer: Int32(outer ?? -1))
    if let index = unusedLimits.popLast() {
      limits[index] = limit
      return index
    }
    limits.append(limit)
    return limits.count - 1
  }

  /// Removes a limit of which no slot is held and to which no seat refers.
  mutating func removeLimit(_ index: Int) {
    let limit = limits[index]
    precondition(limit.free == limit.slots, "limit \(index) is in use")
    pools.removeLines(limit.lines, ofLimit: Int32(index))
    limits[index].parked = PriorityHeap()
    limits[index].lines = []
    unusedLimits.append(index)
  }

  /// The innermost limit around a step.
  func limit(around step: Int) -> Int? { records[step].limit < 0 ? nil : Int(records[step].limit) }

  /// A limit and those around it, from the innermost outwards.
  func indices(from innermost: Int32) -> some Sequence<Int> {
    sequence(first: Int(innermost)) { [limits] in Int(limits[$0].outer) }.prefix { $0 >= 0 }
  }

  /// The first limit without a free slot, from the innermost outwards.
  func firstFullLimit(from innermost: Int32) -> Int? {
    var index = Int(innermost)
    while index >= 0 {
      if limits[index].free == 0 { return index }
      index = Int(limits[index].outer)
    }
    return nil
  }

  mutating func takeLimits(from innermost: Int32) {
    var index = Int(innermost)
    while index >= 0 {
      limits[index].free -= 1
      if limits[index].free == 0 { hasFilledLimit = true }
      index = Int(limits[index].outer)
    }
  }

  mutating func giveBackLimits(from innermost: Int32) {
    var index = Int(innermost)
    while index >= 0 {
      limits[index].free += 1
      unparkOne(from: index)
      index = Int(limits[index].outer)
    }
  }

  /// Lets another step use the slot for which this step was taken out of a limit's parking. This step cannot use it,
  /// because another limit is full, or it no longer waits.
  mutating func passOnTurns(of step: Int) {
    var index = Int(records[step].limit)
    while index >= 0 {
      if limits[index].free > 0 { unparkOne(from: index) }
      index = Int(limits[index].outer)
    }
  }

  private mutating func unparkOne(from limit: Int) {
    guard let entry = limits[limit].parked.first(where: records.areWaiting) else { return }
    _ = limits[limit].parked.popFirst()
    waiting.insert(entry)
  }
}
