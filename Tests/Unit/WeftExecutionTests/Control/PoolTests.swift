import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct PoolTests {
  private typealias Share = PoolQueues.Share

  /// A queue of steps, each with a weight and its requests of pools.
  private static func queue(
    slots: Int = 100, pools: [Int], overtakingLimit: Int = SlotQueue.overtakingLimit,
    _ steps: (weight: Int32, shares: [Share])...
  ) -> SlotQueue {
    var queue = SlotQueue(slots: slots, overtakingLimit: overtakingLimit)
    for size in pools { _ = queue.addPool(slots: size) }
    for step in steps { allocate(step.weight, step.shares, in: &queue) }
    return queue
  }

  private static func allocate(_ weight: Int32, _ shares: [Share], in queue: inout SlotQueue) {
    let order = SlotQueue.SlotParameters.order(inFile: queue.records.count)
    let demand = shares.isEmpty ? nil : queue.demand(shares)
    queue.allocate(SlotQueue.SlotParameters(weight: weight, order: order, demand: demand))
  }

  private static func share(_ slots: Int, of pool: Int) -> Share { Share(pool: pool, slots: slots) }

  @Test func aStepGetsAllItAsksForOrNothing() {
    var queue = Self.queue(
      pools: [2, 1], (3, [Self.share(1, of: 1)]),
      (2, [Self.share(2, of: 0), Self.share(1, of: 1)]),
      (1, []))
    for step in 0..<3 { queue.request(step) }
    let first = queue.grant()
    #expect(first == [0, 2])
    #expect(queue.pools.free(ofPool: 0) == 2)
    queue.release(0)
    let next = queue.grant()
    #expect(next == [1])
    #expect(queue.pools.free(ofPool: 0) == 0 && queue.pools.free(ofPool: 1) == 0)
  }

  @Test func smallRequestsPassOnlyInOtherPools() {
    var queue = Self.queue(
      pools: [3, 1], (9, [Self.share(2, of: 0)]), (8, [Self.share(2, of: 0)]),
      (7, [Self.share(1, of: 0)]), (6, [Self.share(1, of: 0), Self.share(1, of: 1)]),
      (5, [Self.share(1, of: 1)]), (4, []))
    for step in 0..<6 { queue.request(step) }
    let granted = queue.grant()
    #expect(granted == [0, 4, 5])
    queue.release(0)
    let next = queue.grant()
    #expect(next == [1, 2])
  }

  @Test func stepWaitingForItsGroupBlocksNoPool() {
    var queue = SlotQueue(slots: 10)
    _ = queue.addPool(slots: 3)
    let limit = queue.addLimit(slots: 1)
    let (all, one) = (queue.demand([Self.share(3, of: 0)]), queue.demand([Self.share(1, of: 0)]))
    queue.allocate(SlotQueue.SlotParameters(weight: 9, order: 0, limit: limit))
    queue.allocate(SlotQueue.SlotParameters(weight: 8, order: 1 << 32, limit: limit, demand: all))
    queue.allocate(SlotQueue.SlotParameters(weight: 7, order: 2 << 32, demand: one))
    for step in 0..<3 { queue.request(step) }
    let granted = queue.grant()
    #expect(granted == [0, 2])
    queue.release(0)
    let none = queue.grant()
    #expect(none == [])
    queue.release(2)
    let next = queue.grant()
    #expect(next == [1])
  }

  @Test func aWithdrawalLetsThoseBehindItPass() {
    var queue = Self.queue(
      pools: [2], (9, [Self.share(1, of: 0)]), (8, [Self.share(2, of: 0)]),
      (7, [Self.share(1, of: 0)]))
    for step in 0..<3 { queue.request(step) }
    let first = queue.grant()
    #expect(first == [0])
    queue.withdraw(1)
    let second = queue.grant()
    #expect(second == [2])
  }

  @Test func aRateSaysWhenToComeAgain() {
    var queue = SlotQueue(slots: 10)
    _ = queue.addPool(slots: 5, bucket: TokenBucket(count: 2, per: .seconds(60)))
    for _ in 0..<4 { Self.allocate(1, [Self.share(1, of: 0)], in: &queue) }
    for step in 0..<4 { queue.request(step) }
    let first = queue.grant(at: .zero)
    #expect(first == [0, 1] && queue.nextServableAt == .seconds(30))
    // The release returns a slot, but no token.
    queue.release(0)
    let early = queue.grant(at: .seconds(30) - .nanoseconds(1))
    #expect(early == [] && queue.nextServableAt == .seconds(30))
    let second = queue.grant(at: .seconds(30))
    #expect(second == [2] && queue.nextServableAt == .seconds(60))
    let third = queue.grant(at: .seconds(90))
    #expect(third == [3] && queue.nextServableAt == nil)
  }

  @Test func lackOfSlotsSchedulesNoTimer() {
    var queue = SlotQueue(slots: 10)
    _ = queue.addPool(slots: 1, bucket: TokenBucket(count: 2, per: .seconds(60)))
    for _ in 0..<2 { Self.allocate(1, [Self.share(1, of: 0)], in: &queue) }
    for step in 0..<2 { queue.request(step) }
    let granted = queue.grant()
    #expect(granted == [0] && queue.nextServableAt == nil)
  }

  @Test("G10: a step that pools never have enough for at once is served after all")
  func aStarvingStepGetsItsPools() {
    // 0 needs both pools; the steps that need one have more weight, and return as soon as they end.
    var queue = Self.queue(
      pools: [2, 2], overtakingLimit: 10, (1, [Self.share(2, of: 0), Self.share(2, of: 1)]),
      (9, [Self.share(1, of: 0)]), (9, [Self.share(1, of: 0)]), (9, [Self.share(1, of: 1)]),
      (9, [Self.share(1, of: 1)]))
    for step in 1..<5 { queue.request(step) }
    var running = queue.grant()
    queue.request(0)
    var overtakings = 0
    for _ in 0..<100 where !running.contains(0) {
      let ended = running.removeFirst()
      queue.release(ended)
      queue.request(ended)
      let granted = queue.grant()
      overtakings += granted.filter { $0 != 0 }.count
      running += granted
    }
    #expect(running == [0])
    // Its overtakers, and those that took what was free when their limit was reached.
    #expect(overtakings == 10)
  }

  @Test("G10: one that can start does not starve behind one that cannot")
  func aStarvingStepBehindAStuckOneGoes() {
    // 0 holds the pool for ever, and 1 waits for it, longer than 2 waits for a slot.
    var queue = Self.queue(
      slots: 2, pools: [1], overtakingLimit: 10, (1, [Self.share(1, of: 0)]),
      (1, [Self.share(1, of: 0)]), (1, []), (9, []), (9, []))
    var running: [Int] = []
    for step in [0, 3] {
      queue.request(step)
      running += queue.grant()
    }
    for step in [1, 2, 4] { queue.request(step) }
    var overtakings = 0
    for _ in 0..<100 where !running.contains(2) {
      let ended = running.removeLast()
      queue.release(ended)
      let granted = queue.grant()
      queue.request(ended)
      overtakings += granted.filter { $0 != 2 }.count
      running += granted
    }
    #expect(running == [0, 2])
    #expect(overtakings == 10)
  }

  @Test func manyElementsKeepNoMoreThanThoseAlive() {
    var queue = SlotQueue(slots: 4)
    _ = queue.addPool(slots: 2)
    Self.allocate(1, [Self.share(1, of: 0)], in: &queue)
    Self.allocate(2, [], in: &queue)
    var alive: [(row: Range<Int>, limit: Int)] = []
    for element in 0..<20_000 {
      let limit = queue.addLimit(slots: 1)
      let order = SlotQueue.SlotParameters.order(inFile: 0) | UInt64(element)
      let row = queue.allocate((0..<2).map { SlotQueue.Copy(of: $0, order: order, limit: limit) })
      alive.append((row, limit))
      for step in row { queue.request(step) }
      guard alive.count == 10 else { continue }
      // The oldest ends, either while waiting or after running.
      let (done, doneLimit) = alive.removeFirst()
      let granted = queue.grant()
      for step in done { queue.withdraw(step) }
      for step in granted { queue.release(step) }
      for step in granted where !done.contains(step) { queue.request(step) }
      queue.deallocate(done, limits: [doneLimit])
    }
    #expect(queue.records.count <= 2 + 2 * 10)
    #expect(queue.limits.count <= 10)
    #expect(queue.pools.lineCount <= 12)
    #expect(queue.waiting.count <= 200 && queue.keptRequests <= 200)
  }

  @Test func aRowIsGivenAgainOnlyWhenNothingOfItIsHeld() {
    var queue = SlotQueue(slots: 1)
    Self.allocate(1, [], in: &queue)
    let limit = queue.addLimit(slots: 1)
    let copy = SlotQueue.Copy(of: 0, order: 0, limit: limit)
    let first = queue.allocate([copy])
    queue.request(first.lowerBound)
    _ = queue.grant()
    queue.deallocate(first, limits: [limit])
    let second = queue.allocate([SlotQueue.Copy(of: 0, order: 0, limit: nil)])
    #expect(second != first)
    queue.release(first.lowerBound)
    _ = queue.grant()
    let third = queue.allocate([SlotQueue.Copy(of: 0, order: 0, limit: nil)])
    let reused = queue.addLimit(slots: 1)
    #expect(third == first && reused == limit)
  }

  @Test func lackOfPoolsRequestsNoTokens() {
    var queue = Self.queue(
      slots: 1, pools: [1], (9, [Self.share(1, of: 0)]), (8, [Self.share(1, of: 0)]))
    for step in 0..<2 { queue.request(step) }
    let granted = queue.grant()
    let lacksSlots = queue.lacksSlots()
    #expect(granted == [0] && !lacksSlots)
    Self.allocate(7, [], in: &queue)
    queue.request(2)
    let lacksThem = queue.lacksSlots()
    #expect(lacksThem)
  }
}
