/// Decides who may run next: which steps hold a slot, and which wait for one and in what order.
///
/// There is one limit for the run and one for each group with `maxParallel`; a step holds a slot of
/// every limit around it or of none. Waiters are served by priority, but one that has been overtaken
/// ``overtakingLimit`` times goes first, so that none starves. With one slot the order of the file
/// is the priority, and nothing else counts.
struct SlotQueue {
  /// How often the longest waiting step may be overtaken.
  static let overtakingLimit = 1_000

  /// The limits around a step, innermost first, as indices into `limits`; the run's own is not listed.
  typealias LimitChain = [Int]

  struct Limit {
    var free: Int
    /// Those for which this limit was the first that had nothing left.
    var parked = PriorityHeap()
  }

  private enum Position: UInt8 {
    case absent, waiting, holding
  }

  private let keysAreFileOrder: Bool
  // Internal for lending: SlotQueue+Lending.swift.
  var free: Int
  var limits: [Limit]
  var waiting = PriorityHeap()
  private var positions: [Position]
  /// The number of a step's last entry in a heap; those with other numbers are out of date. Every entry
  /// has its own, so that an old one is never taken for a new one.
  private var tickets: [UInt32]
  private let keys: [UInt64]
  let chains: [LimitChain]
  let chainOfStep: [Int32]
  /// Steps in the order of their requests; those no longer waiting are passed over when they surface.
  private var arrivals: [Int32] = []
  private var firstArrival = 0
  private var overtakings = 0

  /// - Parameters:
  ///   - slots: How many may run at once.
  ///   - groupLimits: The sizes of the further limits.
  ///   - chains: The distinct chains of limits.
  ///   - steps: For each step its weight (more goes first) and its chain, in file order.
  init(
    slots: Int, groupLimits: [Int], chains: [LimitChain], steps: [(weight: Int32, chain: Int32)]
  ) {
    precondition(slots > 0 && groupLimits.allSatisfy { $0 > 0 })
    free = slots
    limits = groupLimits.map { Limit(free: $0) }
    self.chains = chains
    keysAreFileOrder = slots == 1
    let usesFileOrder = keysAreFileOrder
    keys = steps.enumerated().map { index, step in
      let weight = usesFileOrder ? 0 : UInt64(UInt32.max - UInt32(bitPattern: step.weight))
      return weight << 32 | UInt64(index)
    }
    chainOfStep = steps.map(\.chain)
    positions = Array(repeating: .absent, count: steps.count)
    tickets = Array(repeating: 0, count: steps.count)
  }

  /// Puts a step among the waiting.
  mutating func request(_ step: Int) {
    precondition(positions[step] == .absent, "step \(step) asked for a slot twice")
    positions[step] = .waiting
    arrivals.append(Int32(step))
    enqueue(step)
  }

  /// Takes back the slot of a step that has ended.
  mutating func release(_ step: Int) {
    precondition(positions[step] == .holding, "step \(step) has no slot to give back")
    positions[step] = .absent
    free += 1
    for limit in chains[Int(chainOfStep[step])] {
      limits[limit].free += 1
      unparkOne(from: limit)
    }
  }

  /// Removes a step that waits; one that does not wait is left alone.
  ///
  /// - Returns: Whether it waited.
  @discardableResult
  mutating func withdraw(_ step: Int) -> Bool {
    guard positions[step] == .waiting else { return false }
    positions[step] = .absent
    passOnTurns(of: step)
    return true
  }

  /// Gives the free slots away, best first.
  ///
  /// - Returns: The steps that now hold a slot. Nobody who could have one is left waiting.
  mutating func grant() -> [Int] {
    var granted: [Int] = []
    while free > 0, let step = nextRunnable() {
      positions[step] = .holding
      free -= 1
      for limit in chains[Int(chainOfStep[step])] { limits[limit].free -= 1 }
      granted.append(step)
    }
    return granted
  }

  /// The waiting steps of a range, in file order.
  func waiting(in range: Range<Int>) -> [Int] {
    range.filter { positions[$0] == .waiting }
  }

  /// How many hold a slot.
  var holdingCount: Int { positions.count { $0 == .holding } }

  private mutating func enqueue(_ step: Int) {
    tickets[step] &+= 1
    let entry = PriorityHeap.Entry(key: keys[step], step: Int32(step), ticket: tickets[step])
    let chain = chains[Int(chainOfStep[step])]
    if let full = chain.first(where: { limits[$0].free == 0 }) {
      limits[full].parked.insert(entry)
    } else {
      waiting.insert(entry)
    }
  }

  func isCurrent(_ entry: PriorityHeap.Entry) -> Bool {
    let step = Int(entry.step)
    return positions[step] == .waiting && tickets[step] == entry.ticket
  }

  mutating func unparkOne(from limit: Int) {
    while let entry = limits[limit].parked.popFirst() {
      guard isCurrent(entry) else { continue }
      waiting.insert(entry)
      return
    }
  }

  /// The waiting step that comes next and for which every limit has a slot.
  private mutating func nextRunnable() -> Int? {
    if let starving = starvingStep() {
      overtakings = 0
      return starving
    }
    while let candidate = waiting.popFirst() {
      let step = Int(candidate.step)
      guard isCurrent(candidate) else { continue }
      guard isRunnable(step) else {
        enqueue(step)
        passOnTurns(of: step)
        continue
      }
      if let oldest = oldestWaiting(), oldest != step { overtakings += 1 }
      return step
    }
    return nil
  }

  /// The step had been let out of a limit's parking for a slot that it cannot use, because another limit
  /// is in its way: someone else may.
  private mutating func passOnTurns(of step: Int) {
    for limit in chains[Int(chainOfStep[step])] where limits[limit].free > 0 {
      unparkOne(from: limit)
    }
  }

  private func isRunnable(_ step: Int) -> Bool {
    chains[Int(chainOfStep[step])].allSatisfy { limits[$0].free > 0 }
  }

  private mutating func starvingStep() -> Int? {
    guard !keysAreFileOrder, overtakings >= SlotQueue.overtakingLimit,
      let oldest = oldestWaiting(), isRunnable(oldest)
    else { return nil }
    return oldest
  }

  /// The step that has waited longest. The count of overtakings belongs to it, and starts anew when
  /// another takes its place.
  private mutating func oldestWaiting() -> Int? {
    while firstArrival < arrivals.count, positions[Int(arrivals[firstArrival])] != .waiting {
      firstArrival += 1
      overtakings = 0
    }
    guard firstArrival < arrivals.count else {
      arrivals.removeAll(keepingCapacity: true)
      firstArrival = 0
      return nil
    }
    return Int(arrivals[firstArrival])
  }
}

/// A binary heap of steps, smallest key first.
struct PriorityHeap {
  struct Entry {
    let key: UInt64
    let step: Int32
    let ticket: UInt32
  }

  private var entries: [Entry] = []

  var first: Entry? { entries.first }

  mutating func insert(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].key < entries[parent].key else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func popFirst() -> Entry? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sinkFirst()
    }
    return first
  }

  private mutating func sinkFirst() {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { return }
      if child + 1 < entries.count, entries[child + 1].key < entries[child].key { child += 1 }
      guard entries[child].key < entries[parent].key else { return }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}
