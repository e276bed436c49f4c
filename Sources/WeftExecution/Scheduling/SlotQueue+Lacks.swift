import WeftEvents

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
