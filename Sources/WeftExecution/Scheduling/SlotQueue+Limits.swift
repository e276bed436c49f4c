/// Limits inside that of the run: one for each group with `maxParallel`.
extension SlotQueue {
  struct Limit {
    let slots: Int
    var free: Int
    /// The limit around it; -1 if that is the run's own.
    let outer: Int32
    /// The group of the plan whose limit it is; -1 if that is not known.
    let group: Int32
    /// The number of waiting steps directly inside it that need nothing of a pool.
    var waitingCount = 0
    /// Waiting steps for which this was the innermost limit without a free slot.
    var parked = PriorityHeap()
    /// The lines of steps that need pools and are in this limit.
    var lines: [Int32] = []
  }

  /// - Parameters:
  ///   - outer: The limit around it; `nil` for the run's own.
  ///   - group: The group of the plan whose limit it is.
  mutating func addLimit(slots: Int, inside outer: Int? = nil, of group: Int? = nil) -> Int {
    precondition(slots > 0)
    let limit = Limit(
      slots: slots, free: slots, outer: Int32(outer ?? -1), group: Int32(group ?? -1))
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

  /// The first limit without a free slot for a further step, from the innermost outwards. Steps that wait in the
  /// innermost one go first; those deeper inside may lack something else.
  func firstLimitWithoutRoom(from innermost: Int32) -> Int? {
    guard innermost >= 0 else { return nil }
    let inner = limits[Int(innermost)]
    return inner.free <= inner.waitingCount ? Int(innermost) : firstFullLimit(from: inner.outer)
  }

  /// Counts a step that begins to wait, or no longer does.
  mutating func countWaiting(_ record: Record, by change: Int) {
    guard record.limit >= 0, record.line < 0 else { return }
    limits[Int(record.limit)].waitingCount += change
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
