import WeftEvents

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

/// The reasons why steps wait. They change with every step that starts or ends, so they are worked out when they are
/// asked for, and not kept.
extension SlotQueue {
  /// The thing that a step lacks, by the numbers of the queue.
  enum Lack: Hashable {
    /// A slot of the run.
    case slot
    /// A slot of a limit.
    case limit(Int)
    case pool(Int)
    /// Time, until the rate of the pool allows more.
    case rate(Int)
  }

  /// The thing that a step lacks, by the numbers of the plan.
  struct Lacking: Hashable {
    var lack: Lack
    /// The group whose limit it is.
    var group: Int?
    /// The first steps that hold slots of the pool.
    var holders: [Int] = []
  }

  /// The thing that a step lacks which is about to wait; `nil` if it could have a slot now.
  ///
  /// Steps that asked at the same moment and have not been served yet go first.
  ///
  /// - Parameter slots: The slots of the run that are about to be given back.
  func lack(ofNext step: Int, at now: Duration, returning slots: Int = 0) -> Lacking? {
    let record = records[step]
    if let limit = firstLimitWithoutRoom(from: record.limit) { return lacking(.limit(limit)) }
    let line = Int(record.line)
    if line >= 0 {
      let others = pools.waitingCount(inLine: line)
      if let lack = pools.lack(atLine: line, after: others, at: now) { return lacking(lack) }
    }
    return free + slots <= waiting.count ? Lacking(lack: .slot) : nil
  }

  /// The waiting steps in the order of their requests, each with what it lacks.
  func lacking(atMost count: Int, at now: Duration) -> [(step: Int, lack: Lacking)] {
    var found: [(step: Int, lack: Lacking)] = []
    for index in arrivals.indices where records.areWaiting(arrivals[index]) {
      if found.count == count { break }
      let step = Int(arrivals[index].step)
      found.append((step, lacking(lack(ofWaiting: step, at: now))))
    }
    return found
  }

  private func lack(ofWaiting step: Int, at now: Duration) -> Lack {
    let record = records[step]
    if let full = firstFullLimit(from: record.limit) { return .limit(full) }
    guard record.line >= 0, let first = pools.firstPool(ofLine: Int(record.line)) else {
      return .slot
    }
    if let lack = pools.lack(atLine: Int(record.line), after: 0, at: now) { return lack }
    // There is enough for it alone: it waits for a slot, or behind a step that needs more of the pool.
    return free == 0 ? .slot : .pool(first)
  }

  private func lacking(_ lack: Lack) -> Lacking {
    switch lack {
    case .slot, .rate: Lacking(lack: lack)
    case .limit(let limit):
      Lacking(lack: lack, group: limits[limit].group < 0 ? nil : Int(limits[limit].group))
    case .pool(let pool):
      Lacking(
        lack: lack,
        holders: pools.holders(ofPool: pool, atMost: WaitReason.holderLimit).map { Int($0) })
    }
  }
}
