/// Slots of pools, which a step has beside its slot of the run: all of them at once, or none.
///
/// A waiter that lacks slots of a pool, and nothing of a limit, holds back whoever stands behind it and
/// asks for slots of that pool, and nobody else: no small request passes a large one for ever.
extension SlotQueue {
  mutating func addPool(slots: Int, bucket: TokenBucket? = nil) -> Int {
    pools.addPool(slots: slots, bucket: bucket)
  }

  /// What a step asks for; the same for the same shares.
  ///
  /// - Parameter shares: Of each pool one, none larger than the pool is and its bucket holds.
  mutating func demand(_ shares: [PoolLines.Share]) -> Int { pools.demand(shares) }

  /// The line of a step that needs pools.
  func line(of step: Int) -> Int { Int(records[step].line) }

  /// Whether a step has slots of a pool with a rate.
  func hasRate(_ step: Int) -> Bool {
    records[step].line >= 0 && pools.hasRate(ofLine: line(of: step))
  }

  mutating func beginPass(at now: Duration) {
    guard pools.haveWaiters else { return }
    comeBackAt = nil
    pools.beginPass(at: now, where: records.areWaiting)
  }

  /// Looks at the line whose first comes next.
  ///
  /// - Returns: The step, if there is everything it needs.
  mutating func serveListedLine() -> Int? {
    guard let entry = pools.takeListed() else { return nil }
    let line = Int(entry.request.step)
    guard let first = firstInLine(line) else { return nil }
    guard first.request.ticket == entry.request.ticket else {
      // The one that it was listed for went before its turn.
      pools.list(line, behind: first)
      return nil
    }
    guard isServable(line: line) else { return nil }
    pools.removeFirst(ofLine: line)
    if let next = firstInLine(line) { pools.list(line, behind: next) }
    return Int(first.request.step)
  }

  /// Whether somebody waits in a line for nothing but a slot of the run, as it was at the last
  /// ``grant(at:)``.
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

  /// Whether there is everything that a step needs.
  ///
  /// - Parameter inSpiteOfOthers: Those that lack something of the same pools may be passed.
  func isServable(_ step: Int, inSpiteOfOthers: Bool = false) -> Bool {
    let record = records[step]
    return firstFullLimit(from: record.limit) == nil
      && (record.line < 0 || pools.glance(atLine: Int(record.line), passing: inSpiteOfOthers))
  }

  /// Keeps everybody from the pools of a step that lacks slots of some of them only.
  mutating func reservePools(for step: Int) {
    let record = records[step]
    guard record.line >= 0, firstFullLimit(from: record.limit) == nil else { return }
    comeBack(at: pools.reserve(forLine: Int(record.line)))
  }

  private mutating func isServable(line: Int) -> Bool {
    // Who waits for a limit could not use what it would keep from others.
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
