import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct SlotQueueTests {
  /// A queue of steps without group limits.
  private func queue(slots: Int, weights: [Int32]) -> SlotQueue {
    SlotQueue(slots: slots, groupLimits: [], chains: [[]], steps: weights.map { ($0, 0) })
  }

  private func expect(
    _ granted: [Int], _ expected: [Int], at place: SourceLocation = #_sourceLocation
  ) {
    #expect(granted == expected, sourceLocation: place)
  }

  @Test func freeSlotsAreGranted() {
    var queue = queue(slots: 2, weights: [1, 1, 1])
    for step in 0..<3 { queue.request(step) }
    expect(queue.grant(), [0, 1])
    queue.release(0)
    expect(queue.grant(), [2])
  }

  @Test func theLongestPathGoesFirstThenTheFile() {
    var queue = queue(slots: 2, weights: [9, 9, 1, 5, 5])
    for step in [0, 1] { queue.request(step) }
    expect(queue.grant(), [0, 1])
    for step in [2, 4, 3] { queue.request(step) }
    expect(queue.grant(), [])
    expect(queue.next(after: 0), [3])
    expect(queue.next(after: 3), [4])
    expect(queue.next(after: 1), [2])
  }

  @Test("G06: with one slot the order is the file's")
  func orderWithOneSlotIsTheFiles() {
    var queue = queue(slots: 1, weights: [1, 1, 7, 9])
    for step in [3, 2, 1, 0] { queue.request(step) }
    expect(queue.grant(), [0])
    expect(queue.next(after: 0), [1])
    expect(queue.next(after: 1), [2])
    expect(queue.next(after: 2), [3])
  }

  @Test func aStepThatWithdrawsIsNotGranted() {
    var queue = queue(slots: 1, weights: [1, 1, 1])
    for step in 0..<3 { queue.request(step) }
    expect(queue.grant(), [0])
    let didWait = [1, 1, 0].map { queue.withdraw($0) }
    #expect(didWait == [true, false, false])
    expect(queue.next(after: 0), [2])
  }

  @Test func aGroupLimitHoldsBesideTheRuns() {
    // Steps 0, 1, 2 are in a group of one slot; 3 is outside.
    var queue = SlotQueue(
      slots: 3, groupLimits: [1], chains: [[], [0]],
      steps: [(1, 1), (1, 1), (1, 1), (1, 0)])
    for step in 0..<4 { queue.request(step) }
    expect(queue.grant(), [0, 3])
    expect(queue.next(after: 0), [1])
    expect(queue.next(after: 1), [2])
  }

  @Test func aWithdrawalPassesTheTurnInsideTheGroup() {
    // 1 moves from the group's waiting list to the run's queue, finds no slot there, and then withdraws.
    var queue = SlotQueue(
      slots: 2, groupLimits: [1], chains: [[], [0]],
      steps: [(9, 1), (1, 1), (1, 1), (9, 0), (9, 0)])
    for step in 0..<5 { queue.request(step) }
    expect(queue.grant(), [0, 3])
    expect(queue.next(after: 0), [4])
    queue.withdraw(1)
    expect(queue.grant(), [])
    expect(queue.next(after: 3), [2])
  }

  @Test("G10: a step overtaken 1,000 times goes first")
  func aStarvingStepGoesFirst() {
    let rivals = SlotQueue.overtakingLimit + 10
    // -j 2: one slot is held for ever; all compete for the other.
    var queue = queue(slots: 2, weights: [9, 1] + Array(repeating: 5, count: rivals + 1))
    for step in [0, 2] { queue.request(step) }
    expect(queue.grant(), [0, 2])
    queue.request(1)
    var running = 2
    var overtakings = 0
    for rival in 3..<(3 + rivals) {
      queue.request(rival)
      let granted = queue.next(after: running)
      #expect(granted.count == 1)
      running = granted[0]
      if running == 1 { break }
      overtakings += 1
    }
    #expect(running == 1)
    #expect(overtakings == SlotQueue.overtakingLimit)
  }

  /// Random requests, releases and withdrawals against a model that looks at everything each time.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func neverExceedsALimitAndNeverIdlesWithWorkToDo(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limitCount = Int.random(in: 0...3, using: &random)
    let sizes = (0..<limitCount).map { _ in Int.random(in: 1...3, using: &random) }
    // Chains are nested like groups: each is a suffix of a longer one.
    let chains = (0...limitCount).map { start in Array(start..<limitCount) }
    let slots = Int.random(in: 1...4, using: &random)
    let steps = (0..<60).map { _ in
      (
        Int32.random(in: 0...5, using: &random),
        Int.random(in: 0...limitCount, using: &random)
      )
    }
    var queue = SlotQueue(slots: slots, groupLimits: sizes, chains: chains, steps: steps)
    var idle = Set(0..<60)
    var waiting: Set<Int> = []
    var holding: Set<Int> = []
    func take(_ granted: [Int]) {
      for step in granted {
        #expect(waiting.remove(step) != nil, "granted without having waited")
        holding.insert(step)
      }
    }
    func free(_ limit: Int) -> Int {
      sizes[limit] - holding.count { chains[steps[$0].1].contains(limit) }
    }
    for _ in 0..<400 {
      switch Int.random(in: 0...9, using: &random) {
      case 0...4:
        guard let step = idle.sorted().randomElement(using: &random) else { continue }
        idle.remove(step)
        waiting.insert(step)
        queue.request(step)
      case 5...8:
        guard let step = holding.sorted().randomElement(using: &random) else { continue }
        holding.remove(step)
        idle.insert(step)
        queue.release(step)
      default:
        guard let step = waiting.sorted().randomElement(using: &random) else { continue }
        let didWait = queue.withdraw(step)
        #expect(didWait)
        waiting.remove(step)
        idle.insert(step)
      }
      // Several things may happen before slots are granted.
      if Int.random(in: 0...2, using: &random) == 0 { continue }
      take(queue.grant())
      #expect(holding.count <= slots)
      #expect(sizes.indices.allSatisfy { free($0) >= 0 })
      if holding.count < slots {
        let runnable = waiting.filter { step in
          chains[steps[step].1].allSatisfy { free($0) > 0 }
        }
        #expect(runnable.isEmpty, "idle slots while \(runnable) could run")
      }
    }
  }
}

extension SlotQueue {
  /// Releases the slot of a step and returns the steps that get one.
  fileprivate mutating func next(after step: Int) -> [Int] {
    release(step)
    return grant()
  }
}
