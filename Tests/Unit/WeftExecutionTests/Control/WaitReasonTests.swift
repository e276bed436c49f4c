import Testing

@testable import WeftEvents
@testable import WeftExecution

/// The reasons why steps wait, as the queue works them out.
@Suite struct WaitReasonTests {
  /// A queue of steps with a demand or a limit.
  private struct Bench {
    var queue: SlotQueue

    init(slots: Int) { queue = SlotQueue(slots: slots) }

    mutating func add(demand: Int? = nil, limit: Int? = nil) -> Int {
      let step = queue.records.count
      queue.allocate(
        SlotQueue.SlotParameters(
          weight: 1, order: SlotQueue.SlotParameters.order(inFile: step), limit: limit,
          demand: demand))
      return step
    }

    /// Requests slots for a step, and checks whether it gets them.
    mutating func request(
      _ step: Int, starts: Bool = true, at place: SourceLocation = #_sourceLocation
    ) {
      queue.request(step)
      let granted = queue.grant()
      #expect(granted.contains(step) == starts, sourceLocation: place)
    }

    func lacks(_ now: Duration = .zero) -> [SlotQueue.Lack] {
      queue.lacking(atMost: 10, at: now).map(\.lack.lack)
    }
  }

  @Test func aFullRunLacksASlot() {
    var bench = Bench(slots: 1)
    let (a, b) = (bench.add(), bench.add())
    #expect(bench.queue.lack(ofNext: a, at: .zero) == nil)
    bench.request(a)
    #expect(bench.queue.lack(ofNext: b, at: .zero)?.lack == .slot)
    bench.request(b, starts: false)
    #expect(bench.lacks() == [.slot])
    let third = bench.add()
    #expect(bench.queue.lack(ofNext: third, at: .zero, returning: 1)?.lack == .slot)
    #expect(bench.queue.lack(ofNext: third, at: .zero, returning: 2) == nil)
  }

  @Test func stepsThatAskedBeforeGoFirst() {
    var bench = Bench(slots: 2)
    let steps = (0..<3).map { _ in bench.add() }
    bench.queue.request(steps[0])
    #expect(bench.queue.lack(ofNext: steps[1], at: .zero) == nil)
    bench.queue.request(steps[1])
    #expect(bench.queue.lack(ofNext: steps[2], at: .zero)?.lack == .slot)
  }

  @Test func aPoolHasHolders() {
    var bench = Bench(slots: 8)
    let pool = bench.queue.addPool(slots: 3)
    let demand = bench.queue.demand([PoolQueues.Share(pool: pool, slots: 1)])
    let large = bench.queue.demand([PoolQueues.Share(pool: pool, slots: 3)])
    let steps = [bench.add(demand: demand), bench.add(demand: demand), bench.add(demand: large)]
    bench.request(steps[0])
    bench.request(steps[1])
    bench.request(steps[2], starts: false)
    let found = bench.queue.lacking(atMost: 10, at: .zero)
    #expect(found.map(\.step) == [steps[2]])
    #expect(found.first?.lack == SlotQueue.Lacking(lack: .pool(pool), holders: [0, 1]))
    // A small request waits behind the large one, though there is enough for it.
    let small = bench.add(demand: demand)
    bench.request(small, starts: false)
    #expect(bench.lacks() == [.pool(pool), .pool(pool)])
    bench.queue.release(steps[0])
    #expect(bench.queue.lacking(atMost: 1, at: .zero).first?.lack.holders == [1])
  }

  @Test func aRateIsToldApartFromThePool() {
    var bench = Bench(slots: 8)
    let pool = bench.queue.addPool(slots: 5, bucket: TokenBucket(count: 1, per: .seconds(10)))
    let demand = bench.queue.demand([PoolQueues.Share(pool: pool, slots: 1)])
    let steps = (0..<2).map { _ in bench.add(demand: demand) }
    bench.request(steps[0])
    bench.request(steps[1], starts: false)
    #expect(bench.lacks(.seconds(3)) == [.rate(pool)])
    let third = bench.add(demand: demand)
    #expect(bench.queue.lack(ofNext: third, at: .seconds(3))?.lack == .rate(pool))
  }

  @Test func membersThatAskedBeforeGoFirst() {
    var bench = Bench(slots: 8)
    let outer = bench.queue.addLimit(slots: 2, of: 3)
    let inner = bench.queue.addLimit(slots: 1, inside: outer, of: 4)
    let steps = (0..<3).map { _ in bench.add(limit: inner) }
    let beside = bench.add(limit: outer)
    func lack(_ step: Int) -> SlotQueue.Lack? { bench.queue.lack(ofNext: step, at: .zero)?.lack }
    #expect(lack(steps[0]) == nil)
    bench.queue.request(steps[0])
    #expect(lack(steps[1]) == .limit(inner))
    bench.queue.request(steps[1])
    #expect(bench.queue.grant() == [steps[0]])
    // A step that waits in the inner group takes nothing of the outer one.
    #expect(lack(beside) == nil)
    bench.request(beside)
    bench.queue.release(steps[0])
    #expect(lack(steps[2]) == .limit(inner))
    bench.queue.withdraw(steps[1])
    #expect(lack(steps[2]) == nil)
    bench.request(steps[0])
    #expect(lack(bench.add(limit: outer)) == .limit(outer))
  }

  @Test func aMemberThatWaitsForAPoolLeavesRoomInItsGroup() {
    var bench = Bench(slots: 8)
    let pool = bench.queue.addPool(slots: 1)
    let demand = bench.queue.demand([PoolQueues.Share(pool: pool, slots: 1)])
    let limit = bench.queue.addLimit(slots: 1, of: 4)
    bench.request(bench.add(demand: demand))
    bench.request(bench.add(demand: demand, limit: limit), starts: false)
    let free = bench.add(limit: limit)
    #expect(bench.queue.lack(ofNext: free, at: .zero) == nil)
    bench.request(free)
  }

  @Test func aFullGroupIsNamed() {
    var bench = Bench(slots: 8)
    let limit = bench.queue.addLimit(slots: 1, of: 4)
    let steps = (0..<2).map { _ in bench.add(limit: limit) }
    bench.request(steps[0])
    bench.request(steps[1], starts: false)
    #expect(
      bench.queue.lacking(atMost: 1, at: .zero).first?.lack
        == SlotQueue.Lacking(lack: .limit(limit), group: 4))
  }
}
