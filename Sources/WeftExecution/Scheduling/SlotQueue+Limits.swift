/// Limits inside the run's own: one for each group with `maxParallel`.
extension SlotQueue {
  struct Limit {
    let slots: Int
    var free: Int
    /// The limit around it; -1 for none but the run's own.
    let outer: Int32
    /// Those for which this limit was the first that had nothing left.
    var parked = PriorityHeap()
    /// The lines of those that need pools and are in this limit.
    var lines: [Int32] = []
  }

  /// - Parameter outer: The limit around it, if there is one beside the run's own.
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

  /// Forgets a limit of which nothing is held, and in which nobody is seated any more.
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

  /// From the innermost outwards.
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

  /// The step had been let out of a limit's parking for a slot that it cannot use, because another limit
  /// is in its way, or it waits no longer: someone else may.
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
