/// Decides which waiting step gets slots of pools next, from the free slots and rates of the pools.
///
/// Steps with the same demand and the same limit wait in one line: if the first cannot be served, none in the line
/// can. So the cost of a pass depends on the number of lines, not of waiting steps. ``SlotQueue`` holds it and passes
/// in the order of priority.
struct PoolQueues {
  /// A number of slots of one pool.
  struct Share: Hashable {
    let pool: Int
    let slots: Int
  }

  private struct Pool {
    var free: Int
    var bucket: TokenBucket?
    /// The steps that hold slots of it, in the order in which they got them.
    var holders: [Int32] = []
    /// The pass in which a waiting step lacked slots of this pool; the lines behind it may not take any.
    var blockedIn: UInt64 = 0
    /// The pass in which a step was found lacking that needs slots of this pool.
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
    /// Whether it is in `active`.
    var isActive = false
  }

  /// The result of looking at a line.
  enum Finding: Hashable {
    case servable
    /// The first of the line has to wait. `until` is the moment at which it lacks less than now, even if only so that
    /// it blocks fewer of the others; `nil` if time alone changes nothing.
    case lacking(until: Duration?)
  }

  private var pools: [Pool] = []
  private var demands: [[Share]] = []
  private var demandOf: [[Share]: Int] = [:]
  private(set) var lines: [Line] = []
  private var lineOf: [LineKey: Int32] = [:]
  private var unusedLines: [Int32] = []
  /// Lines in which steps may be waiting.
  private var active: [Int] = []
  /// The first of each line that has not been found lacking in this pass; `step` is the line.
  private var listed = PriorityHeap()
  private var pass: UInt64 = 0
  private(set) var now = Duration.zero

  var haveRates: Bool { pools.contains { $0.bucket != nil } }
  var haveWaiters: Bool { !active.isEmpty }
  var lineCount: Int { lines.count }
  /// The number of free slots of a pool.
  func free(ofPool pool: Int) -> Int { pools[pool].free }

  // MARK: Pools and lines

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

  /// The first waiting step of the line.
  mutating func first(
    ofLine line: Int, where isWaiting: (SlotQueue.Request) -> Bool
  ) -> PriorityHeap.Entry? {
    lines[line].waiters.first(where: isWaiting)
  }

  mutating func removeFirst(ofLine line: Int) { _ = lines[line].waiters.popFirst() }

  mutating func keep(where isKept: (SlotQueue.Request) -> Bool) {
    for line in active { lines[line].waiters.keep(where: isKept) }
  }

  // MARK: A pass over all lines, by the priority of their first steps

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

  /// Looks whether the line's demand can be met. If not, the lines behind it get no slots of the pools that it lacks.
  mutating func check(atLine line: Int) -> Finding {
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

  /// Whether a step before the line's first, which was found lacking, needs slots of the same pools.
  func areWanted(ofLine line: Int) -> Bool {
    demands[Int(lines[line].demand)].contains { pools[$0.pool].wantedIn == pass }
  }

  /// Whether the line's demand can be met, without reserving anything for it.
  ///
  /// - Parameter passing: Whether the line may pass others that lack slots of a pool.
  func glance(atLine line: Int, passing: Bool) -> Bool {
    demands[Int(lines[line].demand)].allSatisfy { share in
      finding(of: share) == .servable && (passing || pools[share.pool].blockedIn != pass)
    }
  }

  /// Reserves the pools of a line: no other line gets slots of them in this pass.
  ///
  /// - Returns: The moment at which the line can be served if only the rates are in the way; otherwise `nil`.
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

  /// The first steps that hold slots of a pool.
  func holders(ofPool pool: Int, atMost count: Int) -> ArraySlice<Int32> {
    pools[pool].holders.prefix(count)
  }

  /// The pool that a further step of the line lacks slots of, or else one whose rate it has to wait for.
  ///
  /// - Parameter others: The number of steps of the line that go first.
  func lack(atLine line: Int, after others: Int, at now: Duration) -> SlotQueue.Lack? {
    let shares = demands[Int(lines[line].demand)]
    // Divides, because a number of bytes times that of waiting steps may be too large.
    if let share = shares.first(where: { pools[$0.pool].free / max(1, $0.slots) <= others }) {
      return .pool(share.pool)
    }
    return shares.first { share in
      guard var bucket = pools[share.pool].bucket else { return false }
      return !bucket.take(share.slots * (others + 1), at: now)
    }.map { .rate($0.pool) }
  }

  /// The first pool of the line.
  func firstPool(ofLine line: Int) -> Int? { demands[Int(lines[line].demand)].first?.pool }

  /// The number of steps that wait in a line, including some that no longer do.
  func waitingCount(inLine line: Int) -> Int { lines[line].waiters.count }

  // MARK: Rates

  /// Whether a pool of the line has a rate.
  func hasRate(ofLine line: Int) -> Bool {
    demands[Int(lines[line].demand)].contains { pools[$0.pool].bucket != nil }
  }

  /// Takes from the rates of the line's pools again, for a step that already holds the slots.
  ///
  /// - Parameter blocked: Pools whose rate an earlier step waits for; it may not be passed.
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

  // MARK: Taking and giving back

  mutating func take(ofLine line: Int, for step: Int) {
    for share in demands[Int(lines[line].demand)] {
      pools[share.pool].free -= share.slots
      pools[share.pool].holders.append(Int32(step))
      let isTaken = pools[share.pool].bucket?.take(share.slots, at: now) ?? true
      precondition(isTaken && pools[share.pool].free >= 0, "pool \(share.pool) is exceeded")
    }
  }

  /// - Parameter unused: Whether nothing started with the slots, so that they do not count for the rates of pools.
  mutating func giveBack(ofLine line: Int, of step: Int, unused: Bool = false) {
    for share in demands[Int(lines[line].demand)] {
      pools[share.pool].free += share.slots
      if let place = pools[share.pool].holders.firstIndex(of: Int32(step)) {
        pools[share.pool].holders.remove(at: place)
      }
      if unused { pools[share.pool].bucket?.giveBack(share.slots) }
    }
  }
}

/// Decides when tokens may be taken at a limited rate. The bucket holds as many as may be taken in one period, is
/// refilled evenly, and is full at first. Each pool with a `rate` has one.
///
/// In any time `t` at most `count × (1 + t / period)` tokens are taken. Fractions of tokens are counted as whole
/// parts, so that no rounding error accumulates.
struct TokenBucket {
  /// Parts of a token: as many as the period has nanoseconds. Each nanosecond adds `count` of them.
  private typealias Parts = Int128

  private let count: Int
  private let period: Parts
  private var filling: Parts
  private var filledAt: Duration

  /// - Parameters:
  ///   - count: The number of tokens in a period, and the capacity; at least 1.
  ///   - period: At least one nanosecond.
  init(count: Int, per period: Duration, at now: Duration = .zero) {
    precondition(count > 0 && period >= .nanoseconds(1))
    self.count = count
    self.period = TokenBucket.nanoseconds(period)
    filling = Parts(count) * self.period
    filledAt = now
  }

  /// Takes `tokens` if there are enough.
  mutating func take(_ tokens: Int, at now: Duration) -> Bool {
    fill(at: now)
    guard filling >= Parts(tokens) * period else { return false }
    filling -= Parts(tokens) * period
    return true
  }

  /// Puts back tokens that were not used.
  mutating func giveBack(_ tokens: Int) {
    filling = min(Parts(count) * period, filling + Parts(tokens) * period)
  }

  /// The moment from which `tokens` are available, if none is taken before.
  ///
  /// - Precondition: `tokens` is not larger than the capacity.
  func available(_ tokens: Int) -> Duration {
    precondition(tokens <= count, "\(tokens) are wanted of a bucket that holds \(count)")
    let lacking = Parts(tokens) * period - filling
    guard lacking > 0 else { return filledAt }
    let nanoseconds = (lacking + Parts(count) - 1) / Parts(count)
    return filledAt + .nanoseconds(Int64(clamping: nanoseconds))
  }

  /// Refills the bucket. A remainder of less than a nanosecond is left for later.
  private mutating func fill(at now: Duration) {
    let passed = TokenBucket.nanoseconds(now - filledAt)
    guard passed > 0 else { return }
    filling = min(Parts(count) * period, filling + passed * Parts(count))
    filledAt += .nanoseconds(Int64(clamping: passed))
  }

  private static func nanoseconds(_ duration: Duration) -> Parts {
    let (seconds, attoseconds) = duration.components
    return Parts(seconds) * 1_000_000_000 + Parts(attoseconds / 1_000_000_000)
  }
}
