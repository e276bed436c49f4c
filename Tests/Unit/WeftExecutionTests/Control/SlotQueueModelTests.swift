import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Random requests, ends, withdrawals, elements and time, in the queue and in a slow model of it.
@Suite struct SlotQueueModelTests {
  @Test(arguments: 0..<80 as Range<UInt64>)
  func servesAsTheModelDoes(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<200 {
      world.act()
      // Several things may happen before slots are granted.
      if !world.isLikely(one: 3) { world.serve() }
    }
    world.endAll()
  }
}

private struct World {
  var random: SeededGenerator
  var queue: SlotQueue
  var model: SlowSlotQueue
  var now = Duration.zero
  var idle: [Int] = []
  var rows: [(row: Range<Int>, limits: [Int])] = []
  let limitCount: Int
  let ownSteps: Int

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let slots = Int.random(in: 1...5, using: &random)
    // The model does not cover the number of overtakings.
    queue = SlotQueue(slots: slots, overtakingLimit: .max)
    model = SlowSlotQueue(slots: slots)
    limitCount = Int.random(in: 0...3, using: &random)
    ownSteps = Int.random(in: 1...25, using: &random)
    for _ in 0..<limitCount { _ = addLimit(inside: anyLimit(below: model.limits.count)) }
    for _ in 0..<Int.random(in: 0...3, using: &random) { addPool() }
    for step in 0..<ownSteps { allocate(step) }
  }

  mutating func isLikely(one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  // MARK: Contents

  private mutating func anyLimit(below count: Int) -> Int? {
    count == 0 || isLikely(one: 3) ? nil : Int.random(in: 0..<count, using: &random)
  }

  private mutating func addLimit(inside outer: Int?) -> Int {
    let size = Int.random(in: 1...3, using: &random)
    let limit = queue.addLimit(slots: size, inside: outer)
    if limit == model.limits.count { model.limits.append((0, 0, nil)) }
    model.limits[limit] = (size, size, outer)
    return limit
  }

  private mutating func addPool() {
    let size = Int.random(in: 1...4, using: &random)
    let bucket =
      isLikely(one: 2)
      ? nil
      : TokenBucket(
        count: size + Int.random(in: 0...2, using: &random),
        per: .milliseconds(Int.random(in: 1...9, using: &random)))
    _ = queue.addPool(slots: size, bucket: bucket)
    model.pools.append((size, size, bucket))
  }

  private mutating func anyShares() -> [PoolQueues.Share] {
    var shares: [PoolQueues.Share] = []
    for pool in model.pools.indices where isLikely(one: 2) {
      let slots = Int.random(in: 1...model.pools[pool].slots, using: &random)
      shares.append(PoolQueues.Share(pool: pool, slots: slots))
    }
    return shares
  }

  private mutating func allocate(_ step: Int) {
    let shares = anyShares()
    let parameters = SlotQueue.SlotParameters(
      weight: Int32.random(in: 0...4, using: &random),
      order: SlotQueue.SlotParameters.order(inFile: step),
      limit: anyLimit(below: limitCount), demand: shares.isEmpty ? nil : queue.demand(shares))
    queue.allocate(parameters)
    model.seats[step] = SlowSlotQueue.SlotParameters(
      weight: parameters.weight, order: parameters.order, limit: parameters.limit, shares: shares)
    idle.append(step)
  }

  /// Adds an element: instances of a few steps, perhaps with a limit of their own.
  private mutating func addElement() {
    let outer = anyLimit(below: limitCount)
    let limits = isLikely(one: 2) ? [addLimit(inside: outer)] : []
    let originals = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      Int.random(in: 0..<ownSteps, using: &random)
    }
    let copies = originals.map { step in
      let instanceNumber = UInt64.random(in: 0...1000, using: &random)
      let order = SlotQueue.SlotParameters.order(inFile: step) | instanceNumber
      return SlotQueue.Copy(of: step, order: order, limit: limits.first ?? outer)
    }
    let row = queue.allocate(copies)
    #expect(row.count == copies.count && row.allSatisfy { model.seats[$0] == nil })
    for (number, copy) in zip(row, copies) {
      let original = model.seats[copy.step]!
      model.seats[number] = SlowSlotQueue.SlotParameters(
        weight: original.weight, order: copy.order, limit: copy.limit, shares: original.shares)
      idle.append(number)
    }
    rows.append((row, limits))
  }

  private mutating func removeElement() {
    let candidates = rows.indices.filter { rows[$0].row.allSatisfy(idle.contains) }
    guard let index = candidates.randomElement(using: &random) else { return }
    let (row, limits) = rows.remove(at: index)
    queue.deallocate(row, limits: limits)
    idle.removeAll(where: row.contains)
    for step in row { model.seats[step] = nil }
  }

  // MARK: Actions

  mutating func act() {
    switch Int.random(in: 0..<14, using: &random) {
    case 0..<6:
      guard let step = idle.randomElement(using: &random) else { return }
      idle.removeAll { $0 == step }
      queue.request(step)
      model.waiting.append(step)
    case 6..<10:
      guard let step = model.holding.sorted().randomElement(using: &random) else { return }
      release(step)
    case 10:
      guard let step = model.waiting.randomElement(using: &random) else { return }
      let didWait = queue.withdraw(step)
      #expect(didWait)
      model.waiting.removeAll { $0 == step }
      idle.append(step)
    case 11: addElement()
    case 12: removeElement()
    default: now += .microseconds(Int.random(in: 0...3000, using: &random))
    }
  }

  private mutating func release(_ step: Int) {
    queue.release(step)
    model.release(step)
    idle.append(step)
  }

  mutating func serve() {
    let (granted, expected) = (queue.grant(at: now), model.grant(at: now))
    #expect(granted == expected)
    #expect(queue.free == model.free && model.free >= 0)
    #expect(model.limits.indices.allSatisfy { model.limits[$0].free >= 0 })
    for pool in model.pools.indices {
      #expect(queue.pools.free(ofPool: pool) == model.pools[pool].free)
      #expect(model.pools[pool].free >= 0)
    }
    if model.free > 0 { checkComingBack() }
  }

  /// Checks that before the time at which the queue asks to be called again, it grants nothing by time alone.
  private func checkComingBack() {
    func serves(at time: Duration) -> Bool {
      var model = model
      return !model.grant(at: time).isEmpty
    }
    guard let time = queue.nextServableAt else {
      #expect(!serves(at: now + .seconds(3600)), "somebody waits for nothing but time")
      return
    }
    #expect(time > now && !serves(at: time - .nanoseconds(1)))
  }

  /// Checks that every request is granted in the end, and everything is released.
  mutating func endAll() {
    for _ in 0..<1_000 where !(model.waiting.isEmpty && model.holding.isEmpty) {
      serve()
      for step in model.holding.sorted() { release(step) }
      if let time = queue.nextServableAt { now = max(now, time) }
    }
    #expect(model.waiting.isEmpty && queue.holdingCount == 0)
    serve()
    #expect(model.limits.allSatisfy { $0.free == $0.slots })
    #expect(model.pools.allSatisfy { $0.free == $0.slots })
  }
}
