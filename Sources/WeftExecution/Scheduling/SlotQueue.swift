/// Decides who may run next: which steps hold a slot, and which wait for one and in what order.
///
/// There is one limit for the run, one for each group with `maxParallel`, and there are pools; a step
/// holds what it needs of all of them or nothing. Waiters are served by priority, but one that has been
/// overtaken ``overtakingLimit`` times goes first, so that none starves. With one slot the order of the
/// file is the priority, and nothing else counts.
///
/// Steps are numbers from 0. Instances of them can be seated while the run goes on, and the number of one
/// that is done is given to another: what is kept grows with the numbers in use, and with those who wait.
struct SlotQueue {
  /// How often the longest waiting step may be overtaken.
  static let overtakingLimit = 1_000

  enum Position: UInt8 {
    case absent, waiting, holding
  }

  /// One time that a step has asked.
  struct Request {
    let step: Int32
    /// Grows from one to the next.
    let ticket: UInt32
  }

  /// What is kept of a step.
  struct Record {
    var key: UInt64 = 0
    /// Of its last request; what is left of earlier ones is out of date.
    var ticket: UInt32 = 0
    /// The innermost limit around it; -1 for none but the run's own.
    var limit: Int32 = -1
    /// What it waits in if it needs pools; -1 if it needs none.
    var line: Int32 = -1
    var position = Position.absent
  }

  // Internal for the other files of this type.
  let keysAreFileOrder: Bool
  let overtakingLimit: Int
  var free: Int
  var records: [Record] = []
  var limits: [Limit] = []
  /// Limits that were removed.
  var unusedLimits: [Int] = []
  /// Those who need no pools; each has been let past every limit, but may find one in its way again.
  var waiting = PriorityHeap()
  var pools = PoolLines()
  /// `nil` while there are no steps but the plan's.
  var numbers: InstanceNumbers?
  var departing: [Departure] = []
  /// When somebody can be served though nothing is given back, as far as the last ``grant(at:)`` saw.
  var comeBackAt: Duration?
  /// Whether a limit has no slot left that had one before the last step was served.
  var hasFilledLimit = false
  var waitingCount = 0
  private var lastTicket: UInt32 = 0
  /// How many entries may have been left in heaps by steps that no longer wait.
  var staleCount = 0
  var arrivals = ArrivalOrder()
  /// How often the longest waiting step has been overtaken, and how often it had been when all were
  /// looked at for its sake.
  var overtakings = 0
  var overtakingsSeen = 0

  /// - Parameters:
  ///   - slots: How many may run at once.
  ///   - overtakingLimit: Lower in tests.
  init(slots: Int, overtakingLimit: Int = SlotQueue.overtakingLimit) {
    precondition(slots > 0)
    free = slots
    keysAreFileOrder = slots == 1
    self.overtakingLimit = overtakingLimit
  }

  // MARK: Who there is

  /// Where a step stands among the others, and what it needs.
  struct Seat {
    /// More goes first.
    var weight: Int32
    /// Of two with the same weight the lower goes first, by the upper half; with one slot, all of it is the
    /// priority. Between instances of a step the sooner to ask goes first, unless there is but one slot.
    var order: UInt64
    /// The innermost limit around it, of ``SlotQueue/addLimit(slots:inside:)``.
    var limit: Int?
    /// Of ``SlotQueue/demand(_:)``.
    var demand: Int?

    init(weight: Int32, order: UInt64, limit: Int? = nil, demand: Int? = nil) {
      self.weight = weight
      self.order = order
      self.limit = limit
      self.demand = demand
    }
  }

  /// Gives the next number to a step, from 0.
  mutating func seat(_ seat: Seat) {
    let weight = UInt64(UInt32.max - UInt32(bitPattern: seat.weight))
    let key = keysAreFileOrder ? seat.order : weight << 32 | seat.order >> 32
    place(Record(key: key, limit: Int32(seat.limit ?? -1)), demand: seat.demand, as: records.count)
  }

  mutating func place(_ record: Record, demand: Int?, as step: Int) {
    var record = record
    if let demand { record.line = pools.line(demand: demand, limit: record.limit, &limits) }
    guard step < records.count else { return records.append(record) }
    precondition(records[step].position == .absent, "the number \(step) is in use")
    records[step] = record
  }

  // MARK: Coming and going

  /// Puts a step among the waiting.
  mutating func request(_ step: Int) {
    precondition(records[step].position == .absent, "step \(step) asked for a slot twice")
    lastTicket &+= 1
    records[step].position = .waiting
    records[step].ticket = lastTicket
    waitingCount += 1
    if arrivals.isMostlyStale(alive: waitingCount) {
      _ = oldestWaiting()
      arrivals.keep(where: records.areWaiting)
    }
    arrivals.append(Request(step: Int32(step), ticket: lastTicket))
    enqueue(step)
  }

  /// Takes back everything that a step has held which has ended; `unused`: which did not begin after all.
  mutating func release(_ step: Int, unused: Bool = false) {
    let record = records[step]
    precondition(record.position == .holding, "step \(step) has no slot to give back")
    records[step].position = .absent
    free += 1
    if record.line >= 0 { pools.giveBack(ofLine: Int(record.line), unused: unused) }
    giveBackLimits(from: record.limit)
  }

  /// Removes a step that waits; one that does not wait is left alone.
  ///
  /// - Returns: Whether it waited.
  @discardableResult
  mutating func withdraw(_ step: Int) -> Bool {
    guard records[step].position == .waiting else { return false }
    records[step].position = .absent
    waitingCount -= 1
    leaveEntryBehind()
    passOnTurns(of: step)
    return true
  }

  /// Gives away what is free, best first.
  ///
  /// Nobody is left waiting who could have it, but for those behind one that lacks slots of the same pool.
  /// - Parameter now: Counts for the rates of pools only.
  /// - Returns: The steps that now hold what they need.
  mutating func grant(at now: Duration = .zero) -> [Int] {
    beginGranting(at: now)
    var granted: [Int] = []
    while let step = grantNext(at: now) { granted.append(step) }
    return granted
  }

  /// The same one by one, each by ``grantNext(at:)``.
  mutating func beginGranting(at now: Duration) {
    seeOff()
    comeBackAt = nil
    beginPass(at: now)
  }

  /// - Returns: `nil` when nobody is left who could have what they need.
  mutating func grantNext(at now: Duration) -> Int? {
    guard free > 0, let step = nextRunnable() else { return nil }
    hold(step)
    // Those that were found lacking may lack more now, and one that has to wait for a limit now holds
    // nobody back in its pools any more.
    let line = Int(records[step].line)
    if hasFilledLimit || line >= 0 && pools.areWanted(ofLine: line) { beginPass(at: now) }
    return step
  }

  func isWaiting(_ step: Int) -> Bool { records[step].position == .waiting }

  func isHolding(_ step: Int) -> Bool { records[step].position == .holding }

  /// How many requests are remembered for their age; those that no longer wait included.
  var keptRequests: Int { arrivals.count }

  /// How many hold a slot.
  var holdingCount: Int { records.count { $0.position == .holding } }

  private mutating func hold(_ step: Int) {
    hasFilledLimit = false
    records[step].position = .holding
    waitingCount -= 1
    free -= 1
    takeLimits(from: records[step].limit)
    if records[step].line >= 0 { pools.take(ofLine: Int(records[step].line)) }
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

  /// The waiting step that comes next and for which there is everything it needs.
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
  /// Whether this is what a step waits for now.
  func areWaiting(_ request: SlotQueue.Request) -> Bool {
    let record = self[Int(request.step)]
    return record.position == .waiting && record.ticket == request.ticket
  }
}
