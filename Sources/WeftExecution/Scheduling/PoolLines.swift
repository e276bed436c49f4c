/// Pools, what is asked of them, and those who wait for it.
///
/// Who asks for the same and is in the same limit stands in one line: if the first cannot be served, nobody
/// in it can. So it costs as much as there are lines, however many wait in them.
struct PoolLines {
  /// Slots of one pool.
  struct Share: Hashable {
    let pool: Int
    let slots: Int
  }

  private struct Pool {
    var free: Int
    var bucket: TokenBucket?
    /// In that pass somebody has lacked slots of this pool, and nobody behind it may have them.
    var blockedIn: UInt64 = 0
    /// In that pass somebody has been found lacking who asks for slots of this pool.
    var wantedIn: UInt64 = 0
  }

  private struct LineKey: Hashable {
    let demand: Int32
    let limit: Int32
  }

  struct Line {
    let demand: Int32
    let limit: Int32
    var waiters = PriorityHeap()
    /// Whether it is among those that are looked at.
    var isActive = false
  }

  /// What came of looking at a line.
  enum Finding: Hashable {
    case servable
    /// The moment at which it lacks less than now, be it that it holds back fewer of the others; `nil` if
    /// no time changes anything.
    case lacking(until: Duration?)
  }

  private var pools: [Pool] = []
  private var demands: [[Share]] = []
  private var demandOf: [[Share]: Int] = [:]
  private(set) var lines: [Line] = []
  private var lineOf: [LineKey: Int32] = [:]
  private var unusedLines: [Int32] = []
  /// Lines in which somebody may wait.
  private var active: [Int] = []
  /// The first of each line that has not been found lacking in this pass; the step is the line.
  private var listed = PriorityHeap()
  private var pass: UInt64 = 0
  private(set) var now = Duration.zero

  var haveRates: Bool { pools.contains { $0.bucket != nil } }
  var haveWaiters: Bool { !active.isEmpty }
  var lineCount: Int { lines.count }
  /// How much of a pool nobody holds.
  func free(ofPool pool: Int) -> Int { pools[pool].free }

  // MARK: What there is

  mutating func addPool(slots: Int, bucket: TokenBucket?) -> Int {
    precondition(slots > 0)
    pools.append(Pool(free: slots, bucket: bucket))
    return pools.count - 1
  }

  mutating func demand(_ shares: [Share]) -> Int {
    if let known = demandOf[shares] { return known }
    demands.append(shares)
    demandOf[shares] = demands.count - 1
    return demands.count - 1
  }

  mutating func line(demand: Int, limit: Int32, _ limits: inout [SlotQueue.Limit]) -> Int32 {
    let key = LineKey(demand: Int32(demand), limit: limit)
    if let known = lineOf[key] { return known }
    let line = Line(demand: key.demand, limit: limit)
    let index = unusedLines.popLast() ?? Int32(lines.count)
    if index < lines.count { lines[Int(index)] = line } else { lines.append(line) }
    lineOf[key] = index
    if limit >= 0 { limits[Int(limit)].lines.append(index) }
    return index
  }

  func demand(ofLine line: Int32) -> Int? { line < 0 ? nil : Int(lines[Int(line)].demand) }

  mutating func removeLines(_ removed: [Int32], ofLimit limit: Int32) {
    for index in removed {
      let line = Int(index)
      lineOf[LineKey(demand: lines[line].demand, limit: limit)] = nil
      if lines[line].isActive { active.removeAll { $0 == line } }
      lines[line] = Line(demand: lines[line].demand, limit: -1)
      unusedLines.append(index)
    }
  }

  // MARK: Waiting

  mutating func insert(_ entry: PriorityHeap.Entry, intoLine line: Int) {
    lines[line].waiters.insert(entry)
    guard !lines[line].isActive else { return }
    lines[line].isActive = true
    active.append(line)
  }

  /// The first that waits in the line.
  mutating func first(
    ofLine line: Int, where isWaiting: (SlotQueue.Request) -> Bool
  ) -> PriorityHeap.Entry? {
    lines[line].waiters.first(where: isWaiting)
  }

  mutating func removeFirst(ofLine line: Int) { _ = lines[line].waiters.popFirst() }

  mutating func keep(where isKept: (SlotQueue.Request) -> Bool) {
    for line in active { lines[line].waiters.keep(where: isKept) }
  }

  // MARK: A pass over all lines, in the order of who is first in them

  mutating func beginPass(at now: Duration, where isWaiting: (SlotQueue.Request) -> Bool) {
    self.now = now
    pass += 1
    listed.removeAll()
    var kept = 0
    for line in active {
      guard let first = first(ofLine: line, where: isWaiting) else {
        lines[line].isActive = false
        continue
      }
      list(line, behind: first)
      active[kept] = line
      kept += 1
    }
    active.removeLast(active.count - kept)
  }

  mutating func list(_ line: Int, behind first: PriorityHeap.Entry) {
    let request = SlotQueue.Request(step: Int32(line), ticket: first.request.ticket)
    listed.insert(PriorityHeap.Entry(key: first.key, request: request))
  }

  var firstListed: PriorityHeap.Entry? { listed.first }
  mutating func takeListed() -> PriorityHeap.Entry? { listed.popFirst() }

  /// Looks whether there is what the line asks for. If not, nobody behind it gets of what it lacks.
  mutating func look(atLine line: Int) -> Finding {
    var isServable = true
    var change: Duration?
    for share in demands[Int(lines[line].demand)] {
      let isBlocked = pools[share.pool].blockedIn == pass
      let finding = finding(of: share)
      isServable = isServable && finding == .servable && !isBlocked
      guard case .lacking(let time) = finding, !isBlocked else { continue }
      pools[share.pool].blockedIn = pass
      if let time { change = min(change ?? time, time) }
    }
    guard !isServable else { return .servable }
    for share in demands[Int(lines[line].demand)] { pools[share.pool].wantedIn = pass }
    return .lacking(until: change)
  }

  /// Whether somebody that comes before the line's first, and was found lacking, asks for slots of the
  /// same pools.
  func areWanted(ofLine line: Int) -> Bool {
    demands[Int(lines[line].demand)].contains { pools[$0.pool].wantedIn == pass }
  }

  /// The same without holding anybody back.
  ///
  /// - Parameter passing: Whether those that lack something of a pool may be passed.
  func glance(atLine line: Int, passing: Bool) -> Bool {
    demands[Int(lines[line].demand)].allSatisfy { share in
      finding(of: share) == .servable && (passing || pools[share.pool].blockedIn != pass)
    }
  }

  /// Keeps everybody else from the pools of a line.
  ///
  /// - Returns: From when on it is served if nothing but time is in the way.
  mutating func reserve(forLine line: Int) -> Duration? {
    var until: Duration? = now
    for share in demands[Int(lines[line].demand)] {
      pools[share.pool].blockedIn = pass
      guard case .lacking(let time) = finding(of: share) else { continue }
      until = time.flatMap { time in until.map { max($0, time) } }
    }
    return until
  }

  private func finding(of share: Share) -> Finding {
    let pool = pools[share.pool]
    if pool.free < share.slots { return .lacking(until: nil) }
    guard let time = pool.bucket?.available(share.slots), time > now else { return .servable }
    return .lacking(until: time)
  }

  // MARK: Rates

  /// Whether a pool of the line has a rate.
  func hasRate(ofLine line: Int) -> Bool {
    demands[Int(lines[line].demand)].contains { pools[$0.pool].bucket != nil }
  }

  /// Takes once more what the rates of its pools count for one that holds what the line asks for.
  ///
  /// - Parameter blocked: Pools whose rate an earlier one waits for, which is not passed.
  mutating func takeRate(
    ofLine line: Int, at now: Duration, _ blocked: inout Set<Int>
  ) -> Finding {
    let shares = demands[Int(lines[line].demand)].filter { pools[$0.pool].bucket != nil }
    let times = shares.compactMap { pools[$0.pool].bucket?.available($0.slots) }
    let isPassing = shares.contains { blocked.contains($0.pool) }
    if isPassing || times.contains(where: { $0 > now }) {
      blocked.formUnion(shares.map(\.pool))
      return .lacking(until: isPassing ? nil : times.max())
    }
    for share in shares { _ = pools[share.pool].bucket?.take(share.slots, at: now) }
    return .servable
  }

  // MARK: Holding

  mutating func take(ofLine line: Int) {
    for share in demands[Int(lines[line].demand)] {
      pools[share.pool].free -= share.slots
      let isTaken = pools[share.pool].bucket?.take(share.slots, at: now) ?? true
      precondition(isTaken && pools[share.pool].free >= 0, "pool \(share.pool) is exceeded")
    }
  }

  /// - Parameter unused: Whether nothing began with it, so that it does not count for the rates of pools.
  mutating func giveBack(ofLine line: Int, unused: Bool = false) {
    for share in demands[Int(lines[line].demand)] {
      pools[share.pool].free += share.slots
      if unused { pools[share.pool].bucket?.giveBack(share.slots) }
    }
  }
}
