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

  private struct Limit {
    var free: Int
    /// Those for which this limit was the first that had nothing left.
    var parked = PriorityHeap()
  }

  private enum Position: UInt8 {
    case absent, waiting, holding
  }

  private let keysAreFileOrder: Bool
  private var free: Int
  private var limits: [Limit]
  private var waiting = PriorityHeap()
  private var positions: [Position]
  private let keys: [UInt64]
  private let chains: [LimitChain]
  private let chainOfStep: [Int32]
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
  }

  /// Puts a step among the waiting; it may be granted at once, or another that had no reason to wait.
  ///
  /// - Returns: The steps that now hold a slot.
  mutating func request(_ step: Int) -> [Int] {
    precondition(positions[step] == .absent, "step \(step) asked for a slot twice")
    positions[step] = .waiting
    arrivals.append(Int32(step))
    enqueue(step)
    return grantAll()
  }

  /// Takes back the slot of a step that has ended.
  mutating func release(_ step: Int) -> [Int] {
    precondition(positions[step] == .holding, "step \(step) has no slot to give back")
    positions[step] = .absent
    free += 1
    for limit in chains[Int(chainOfStep[step])] {
      limits[limit].free += 1
      unparkOne(from: limit)
    }
    return grantAll()
  }

  /// Removes a step that waits; one that does not wait is left alone.
  ///
  /// - Returns: Whether it waited, and the steps that now hold a slot because it went.
  mutating func withdraw(_ step: Int) -> (didWait: Bool, granted: [Int]) {
    guard positions[step] == .waiting else { return (false, []) }
    positions[step] = .absent
    // The step may have been the one that left a limit's parking for the slots that it now leaves.
    for limit in chains[Int(chainOfStep[step])] { unparkOne(from: limit) }
    return (true, grantAll())
  }

  /// The waiting steps of a range, in file order.
  func waiting(in range: Range<Int>) -> [Int] {
    range.filter { positions[$0] == .waiting }
  }

  /// How many hold a slot.
  var holdingCount: Int { positions.count { $0 == .holding } }

  private mutating func enqueue(_ step: Int) {
    let chain = chains[Int(chainOfStep[step])]
    if let full = chain.first(where: { limits[$0].free == 0 }) {
      limits[full].parked.insert(key: keys[step], step: Int32(step))
    } else {
      waiting.insert(key: keys[step], step: Int32(step))
    }
  }

  private mutating func unparkOne(from limit: Int) {
    while let next = limits[limit].parked.popFirst() {
      guard positions[Int(next)] == .waiting else { continue }
      waiting.insert(key: keys[Int(next)], step: next)
      return
    }
  }

  private mutating func grantAll() -> [Int] {
    var granted: [Int] = []
    while free > 0, let step = nextRunnable() {
      positions[step] = .holding
      free -= 1
      for limit in chains[Int(chainOfStep[step])] { limits[limit].free -= 1 }
      granted.append(step)
    }
    return granted
  }

  /// The waiting step that comes next and for which every limit has a slot.
  private mutating func nextRunnable() -> Int? {
    if let starving = starvingStep() {
      overtakings = 0
      return starving
    }
    while let candidate = waiting.popFirst() {
      let step = Int(candidate)
      guard positions[step] == .waiting else { continue }
      guard isRunnable(step) else {
        enqueue(step)
        continue
      }
      if let oldest = oldestWaiting(), oldest != step { overtakings += 1 }
      return step
    }
    return nil
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
  private var entries: [(key: UInt64, step: Int32)] = []

  mutating func insert(key: UInt64, step: Int32) {
    entries.append((key, step))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].key < entries[parent].key else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func popFirst() -> Int32? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sinkFirst()
    }
    return first.step
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
