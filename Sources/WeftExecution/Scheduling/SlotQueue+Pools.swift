/// Slots of pools, which a step holds besides its slot of the run: all of them at once, or none.
///
/// A waiting step that lacks slots of a pool, but no slot of a limit, blocks the steps behind it that need slots of
/// that pool, and no others. So small requests cannot pass a large one forever.
extension SlotQueue {
  mutating func addPool(slots: Int, bucket: TokenBucket? = nil) -> Int {
    pools.addPool(slots: slots, bucket: bucket)
  }

  /// The number of a demand; equal shares have equal numbers.
  ///
  /// - Parameter shares: One for each pool, none larger than the pool or its bucket.
  mutating func demand(_ shares: [PoolQueues.Share]) -> Int { pools.demand(shares) }

  /// The line of a step that needs pools.
  func line(of step: Int) -> Int { Int(records[step].line) }

  /// Whether a step holds slots of a pool with a rate.
  func hasRate(_ step: Int) -> Bool {
    records[step].line >= 0 && pools.hasRate(ofLine: line(of: step))
  }

  mutating func beginPass(at now: Duration) {
    guard pools.haveWaiters else { return }
    comeBackAt = nil
    pools.beginPass(at: now, where: records.areWaiting)
  }

  /// Looks at the line whose first step has the highest priority.
  ///
  /// - Returns: The step, if everything it needs is free.
  mutating func serveListedLine() -> Int? {
    guard let entry = pools.takeListed() else { return nil }
    let line = Int(entry.request.step)
    guard let first = firstInLine(line) else { return nil }
    guard first.request.ticket == entry.request.ticket else {
      // The step that it was listed for went before its turn.
      pools.list(line, behind: first)
      return nil
    }
    guard isServable(line: line) else { return nil }
    pools.removeFirst(ofLine: line)
    if let next = firstInLine(line) { pools.list(line, behind: next) }
    return Int(first.request.step)
  }

  /// Whether a step waits in a line that lacks nothing but a slot of the run, as of the last ``grant(at:)``.
  mutating func aLineLacksSlots() -> Bool {
    beginPass(at: pools.now)
    while let line = pools.takeListed().map({ Int($0.request.step) }) {
      if firstFullLimit(from: pools.lines[line].limit) == nil,
        pools.look(atLine: line) == .servable
      {
        return true
      }
    }
    return false
  }

  /// Whether everything that a step needs is free.
  ///
  /// - Parameter inSpiteOfOthers: Whether it may pass other steps that lack slots of the same pools.
  func isServable(_ step: Int, inSpiteOfOthers: Bool = false) -> Bool {
    let record = records[step]
    return firstFullLimit(from: record.limit) == nil
      && (record.line < 0 || pools.glance(atLine: Int(record.line), passing: inSpiteOfOthers))
  }

  /// Reserves the pools of a step for it if it lacks slots of them, but none of a limit.
  mutating func reservePools(for step: Int) {
    let record = records[step]
    guard record.line >= 0, firstFullLimit(from: record.limit) == nil else { return }
    comeBack(at: pools.reserve(forLine: Int(record.line)))
  }

  private mutating func isServable(line: Int) -> Bool {
    // A step that waits for a limit could not use the slots that it would keep from others.
    guard firstFullLimit(from: pools.lines[line].limit) == nil else { return false }
    switch pools.look(atLine: line) {
    case .servable: return true
    case .lacking(let time):
      comeBack(at: time)
      return false
    }
  }

  private mutating func comeBack(at time: Duration?) {
    guard let time else { return }
    comeBackAt = comeBackAt.map { min($0, time) } ?? time
  }

  private mutating func firstInLine(_ line: Int) -> PriorityHeap.Entry? {
    pools.first(ofLine: line, where: records.areWaiting)
  }
}
