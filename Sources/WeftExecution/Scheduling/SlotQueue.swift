/// Decides which step runs next: which steps hold a slot, and which wait for one and in what order.
///
/// There is one limit for the run, and one for each group with `maxParallel`; and there are pools. A step holds what
/// it needs of all of them, or nothing. Waiting steps are served by priority, but one that has been overtaken
/// ``overtakingLimit`` times goes first, so that none starves. With a single slot the order of the file is the
/// priority, and nothing else counts.
///
/// Steps are numbers from 0. Instances of them can be seated during the run, and the numbers of those that are done
/// are reused: the size of the tables grows with the numbers in use and with the waiting steps. ``Slots`` holds the
/// queue behind a lock, and executes its decisions.
struct SlotQueue {
  /// The number of times that the longest waiting step may be overtaken.
  static let overtakingLimit = 1_000

  enum Position: UInt8 {
    case absent, waiting, holding
    /// It holds its slots of pools only.
    case serving
    /// It holds its slots of limits and pools, but none of the run: its program runs elsewhere.
    case away
  }

  /// One request of a step for a slot.
  struct Request {
    let step: Int32
    /// Grows from request to request.
    let ticket: UInt32
  }

  /// The state of a step.
  struct Record {
    var key: UInt64 = 0
    /// The ticket of its last request; entries with other tickets are out of date.
    var ticket: UInt32 = 0
    /// The innermost limit around it; -1 for the run's own.
    var limit: Int32 = -1
    /// The line in which it waits if it needs pools; -1 if it needs none.
    var line: Int32 = -1
    var position = Position.absent
  }

  // Internal for the other files of this type.
  let keysAreFileOrder: Bool
  let overtakingLimit: Int
  var free: Int
  var records: [Record] = []
  var limits: [Limit] = []
  /// Limits that were removed, for reuse.
  var unusedLimits: [Int] = []
  /// Waiting steps that need no pools. Each found every limit free, but may find one full again.
  var waiting = PriorityHeap()
  var pools = PoolQueues()
  /// The numbers of the plan's pools and of counted resources, by name.
  var poolNumbers: [String: Int] = [:]
  /// `nil` while there are no steps but the plan's.
  var numbers: InstanceNumbers?
  var pendingRemovals: [PendingRemoval] = []
  /// The moment at which a step can be served though nothing is given back, as of the last ``grant(at:)``.
  var nextServableAt: Duration?
  /// Whether serving the last step took the last slot of a limit.
  var hasFilledLimit = false
  var waitingCount = 0
  private var lastTicket: UInt32 = 0
  /// The number of entries that steps that no longer wait may have left in heaps.
  var staleCount = 0
  var arrivals = ArrivalOrder()
  /// The number of times that the longest waiting step has been overtaken, and the value of it at the last search
  /// through all waiting steps for its sake.
  var overtakings = 0
  var overtakingsSeen = 0

  /// - Parameters:
  ///   - slots: The number of steps that may run at once.
  ///   - overtakingLimit: Lower in tests.
  init(slots: Int, overtakingLimit: Int = SlotQueue.overtakingLimit) {
    precondition(slots > 0)
    free = slots
    keysAreFileOrder = slots == 1
    self.overtakingLimit = overtakingLimit
  }

  // MARK: Seats

  /// The priority of a step, and its needs.
  struct SlotParameters {
    /// Higher runs first.
    var weight: Int32
    /// Decides between steps of the same weight, by its upper half: the lower runs first. With a single slot, the
    /// whole number is the priority. Among instances of a step the earliest request goes first, unless there is a
    /// single slot.
    var order: UInt64
    /// The innermost limit around it, from ``SlotQueue/addLimit(slots:inside:)``.
    var limit: Int?
    /// The demand, from ``SlotQueue/demand(_:)``.
    var demand: Int?
  }

  /// Assigns the next number to a step, from 0.
  mutating func allocate(_ parameters: SlotParameters) {
    let weight = UInt64(UInt32.max - UInt32(bitPattern: parameters.weight))
    let key = keysAreFileOrder ? parameters.order : weight << 32 | parameters.order >> 32
    place(
      Record(key: key, limit: Int32(parameters.limit ?? -1)), demand: parameters.demand,
      as: records.count)
  }

  mutating func place(_ record: Record, demand: Int?, as step: Int) {
    var record = record
    if let demand { record.line = pools.line(demand: demand, limit: record.limit, &limits) }
    guard step < records.count else { return records.append(record) }
    precondition(records[step].position == .absent, "the number \(step) is in use")
    records[step] = record
  }

  // MARK: Requests

  /// Adds a step to the waiting ones.
  mutating func request(_ step: Int) {
    precondition(records[step].position == .absent, "step \(step) asked for a slot twice")
    lastTicket &+= 1
    records[step].position = .waiting
    records[step].ticket = lastTicket
    waitingCount += 1
    countWaiting(records[step], by: 1)
    if arrivals.isMostlyStale(alive: waitingCount) {
      _ = oldestWaiting()
      arrivals.keep(where: records.areWaiting)
    }
    arrivals.append(Request(step: Int32(step), ticket: lastTicket))
    enqueue(step)
  }

  /// Takes back everything that a step holds.
  ///
  /// - Parameter unused: Whether the step did not start after all.
  mutating func release(_ step: Int, unused: Bool = false) {
    let record = records[step]
    switch record.position {
    case .holding: vacate(step)
    case .away:
      records[step].position = .serving
      giveBackLimits(from: record.limit)
    case .absent, .waiting, .serving: break
    }
    precondition(records[step].position == .serving, "step \(step) has no slot to give back")
    records[step].position = .absent
    if record.line >= 0 { pools.giveBack(ofLine: Int(record.line), of: step, unused: unused) }
  }

  /// Takes back what a service holds, except for its slots of pools: it is ready, and runs as long as it is needed.
  mutating func vacate(_ step: Int) {
    precondition(records[step].position == .holding, "step \(step) has no slot to give back")
    records[step].position = .serving
    free += 1
    giveBackLimits(from: records[step].limit)
  }

  /// Takes back only the slot of the run: the step's program runs elsewhere.
  mutating func leave(_ step: Int) {
    precondition(records[step].position == .holding, "step \(step) has no slot to give back")
    records[step].position = .away
    free += 1
  }

  /// Removes a waiting step; a step that does not wait is left alone.
  ///
  /// - Returns: Whether it waited.
  @discardableResult
  mutating func withdraw(_ step: Int) -> Bool {
    guard records[step].position == .waiting else { return false }
    records[step].position = .absent
    waitingCount -= 1
    countWaiting(records[step], by: -1)
    countStaleEntry()
    passOnTurns(of: step)
    return true
  }

  /// Gives what is free to waiting steps, the best first.
  ///
  /// Afterwards no step waits that could be served, except those behind one that lacks slots of the same pool.
  ///
  /// - Parameter now: Only used for the rates of pools.
  /// - Returns: The steps that now hold what they need.
  mutating func grant(at now: Duration = .zero) -> [Int] {
    beginGranting(at: now)
    var granted: [Int] = []
    while let step = grantNext(at: now) { granted.append(step) }
    return granted
  }

  /// Begins to grant one by one, each by ``grantNext(at:)``.
  mutating func beginGranting(at now: Duration) {
    removeIfUnused()
    nextServableAt = nil
    beginPass(at: now)
  }

  /// Grants what the next step needs.
  ///
  /// - Returns: `nil` if no waiting step can be served.
  mutating func grantNext(at now: Duration) -> Int? {
    guard free > 0, let step = nextRunnable() else { return nil }
    hold(step)
    // Steps that were found lacking may lack more now, and a step that has to wait for a limit now no longer blocks
    // others in its pools.
    let line = Int(records[step].line)
    if hasFilledLimit || line >= 0 && pools.areWanted(ofLine: line) { beginPass(at: now) }
    return step
  }

  func isHolding(_ step: Int) -> Bool {
    switch records[step].position {
    case .holding, .serving, .away: true
    case .absent, .waiting: false
    }
  }

  /// The number of requests remembered for their age, including those of steps that no longer wait.
  var keptRequests: Int { arrivals.count }

  /// The number of steps that hold a slot, also those whose program runs elsewhere.
  var holdingCount: Int { records.count { $0.position == .holding || $0.position == .away } }

  private mutating func hold(_ step: Int) {
    hasFilledLimit = false
    records[step].position = .holding
    waitingCount -= 1
    countWaiting(records[step], by: -1)
    free -= 1
    takeLimits(from: records[step].limit)
    if records[step].line >= 0 { pools.take(ofLine: Int(records[step].line), for: step) }
  }

  // MARK: Order

  /// Puts a waiting step where it is found when it can be served.
  private mutating func enqueue(_ step: Int) {
    let record = records[step]
    let request = Request(step: Int32(step), ticket: record.ticket)
    let entry = PriorityHeap.Entry(key: record.key, request: request)
    if record.line >= 0 {
      pools.insert(entry, intoLine: Int(record.line))
    } else if let full = firstFullLimit(from: record.limit) {
      limits[full].parked.insert(entry)
    } else {
      waiting.insert(entry)
    }
  }

  /// The best waiting step for which everything it needs is free.
  private mutating func nextRunnable() -> Int? {
    if let starving = starvingStep() { return starving }
    while true {
      let plain = firstWaiting()
      if let line = pools.firstListed, plain.map({ line.precedes($0) }) ?? true {
        guard let step = serveListedLine() else { continue }
        countOvertaking(by: step)
        return step
      }
      guard let step = plain.map({ Int($0.request.step) }) else { return nil }
      _ = waiting.popFirst()
      guard firstFullLimit(from: records[step].limit) == nil else {
        enqueue(step)
        passOnTurns(of: step)
        continue
      }
      countOvertaking(by: step)
      return step
    }
  }

  private mutating func firstWaiting() -> PriorityHeap.Entry? {
    while let first = waiting.first {
      if records.areWaiting(first.request) { return first }
      _ = waiting.popFirst()
    }
    return nil
  }
}

extension [SlotQueue.Record] {
  /// Whether a step still waits for this request.
  func areWaiting(_ request: SlotQueue.Request) -> Bool {
    let record = self[Int(request.step)]
    return record.position == .waiting && record.ticket == request.ticket
  }
}

/// Protection against starvation: the step that has waited longest is overtaken only so often.
extension SlotQueue {
  mutating func countOvertaking(by step: Int) {
    if let oldest = oldestWaiting(), oldest != step { overtakings += 1 }
  }

  /// The step that has waited longest, if it has been overtaken too often and can run. While it cannot run, its pools
  /// are reserved for it, and from time to time the oldest step that can run goes first.
  mutating func starvingStep() -> Int? {
    guard !keysAreFileOrder, overtakings >= overtakingLimit, let oldest = oldestWaiting(),
      overtakings >= overtakingLimit
    else { return nil }
    if isServable(oldest, passingOthers: true) {
      overtakings = 0
      overtakingsSeen = 0
      countStaleEntry()
      return oldest
    }
    reservePools(for: oldest)
    guard overtakings >= overtakingsSeen + overtakingLimit else { return nil }
    overtakingsSeen = overtakings
    guard let next = oldestServable() else { return nil }
    overtakings += 1
    countStaleEntry()
    return next
  }

  private func oldestServable() -> Int? {
    for index in arrivals.indices where records.areWaiting(arrivals[index]) {
      let step = Int(arrivals[index].step)
      if isServable(step) { return step }
    }
    return nil
  }

  /// The step that has waited longest. The count of overtakings belongs to it, and starts at zero when a different
  /// step takes its place.
  mutating func oldestWaiting() -> Int? {
    while let first = arrivals.first {
      if records.areWaiting(first) { return Int(first.step) }
      arrivals.removeFirst()
      overtakings = 0
      overtakingsSeen = 0
    }
    return nil
  }

  /// Counts an entry of a step that no longer waits. Such entries are dropped when they reach the top of a heap,
  /// which may be never; when they outnumber the others, all are removed.
  mutating func countStaleEntry() {
    staleCount += 1
    guard staleCount > 64 + waitingCount + limits.count + pools.lineCount else { return }
    staleCount = 0
    waiting.keep(where: records.areWaiting)
    for limit in limits.indices { limits[limit].parked.keep(where: records.areWaiting) }
    pools.keep(where: records.areWaiting)
  }
}

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

  /// Changes what a step needs of pools.
  ///
  /// - Precondition: It neither waits nor holds anything.
  mutating func setDemand(_ demand: Int?, of step: Int) {
    precondition(records[step].position == .absent, "step \(step) has asked for something else")
    let limit = records[step].limit
    records[step].line = demand.map { pools.line(demand: $0, limit: limit, &limits) } ?? -1
  }

  /// The line of a step that needs pools.
  func line(of step: Int) -> Int { Int(records[step].line) }

  /// Whether a step holds slots of a pool with a rate.
  func hasRate(_ step: Int) -> Bool {
    records[step].line >= 0 && pools.hasRate(ofLine: line(of: step))
  }

  mutating func beginPass(at now: Duration) {
    guard pools.haveWaiters else { return }
    nextServableAt = nil
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
  mutating func hasLineLackingSlots() -> Bool {
    beginPass(at: pools.now)
    while let line = pools.takeListed().map({ Int($0.request.step) }) {
      if firstFullLimit(from: pools.lines[line].limit) == nil,
        pools.check(atLine: line) == .servable
      {
        return true
      }
    }
    return false
  }

  /// Whether everything that a step needs is free.
  ///
  /// - Parameter passingOthers: Whether it may pass other steps that lack slots of the same pools.
  func isServable(_ step: Int, passingOthers: Bool = false) -> Bool {
    let record = records[step]
    return firstFullLimit(from: record.limit) == nil
      && (record.line < 0 || pools.glance(atLine: Int(record.line), passing: passingOthers))
  }

  /// Reserves the pools of a step for it if it lacks slots of them, but none of a limit.
  mutating func reservePools(for step: Int) {
    let record = records[step]
    guard record.line >= 0, firstFullLimit(from: record.limit) == nil else { return }
    scheduleServing(at: pools.reserve(forLine: Int(record.line)))
  }

  private mutating func isServable(line: Int) -> Bool {
    // A step that waits for a limit could not use the slots that it would keep from others.
    guard firstFullLimit(from: pools.lines[line].limit) == nil else { return false }
    switch pools.check(atLine: line) {
    case .servable: return true
    case .lacking(let time):
      scheduleServing(at: time)
      return false
    }
  }

  private mutating func scheduleServing(at time: Duration?) {
    guard let time else { return }
    nextServableAt = nextServableAt.map { min($0, time) } ?? time
  }

  private mutating func firstInLine(_ line: Int) -> PriorityHeap.Entry? {
    pools.first(ofLine: line, where: records.areWaiting)
  }
}
