import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct JobserverFormTests {
  @Test(
    arguments: [
      ("GNU Make 4.3\nBuilt for x86_64\n", .pipe), ("GNU Make 3.81\n", .pipe),
      ("GNU Make 4.4\n", .fifo), ("GNU Make 4.4.1\n", .fifo), ("GNU Make 5.0\n", .fifo),
      ("GNU Make 4.10\n", .fifo), ("bmake 2020\n", .fifo), ("", .fifo), (nil, .fifo),
    ] as [(String?, JobserverForm)])
  func makeBefore44GetsAPipe(version: String?, form: JobserverForm) {
    #expect(JobserverForm(makeVersion: version) == form)
  }
}

@Suite struct TokenAccountsTests {
  /// A world of steps whose tools take tokens and return them, as a seed decides.
  private struct World {
    var queue: SlotQueue
    var tokens = TokenAccounts<Int>()
    var random: SeededGenerator
    let slots: Int
    let groupSlots: Int
    /// Steps 0 to 3 are in the limited group; the others are not.
    static let groupSteps = 0..<4
    static let steps = 0..<10
    var waiting: Set<Int> = []
    var running: Set<Int> = []
    /// The tokens in the pipe of each step, and those its tools have taken.
    var inPipe: [Int: Int] = [:]
    var taken: [Int: Int] = [:]

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      slots = Int.random(in: 1...6, using: &random)
      groupSlots = Int.random(in: 1...3, using: &random)
      queue = SlotQueue(
        slots: slots, groupLimits: [groupSlots], chains: [[], [0]],
        steps: World.steps.map { (1, World.groupSteps.contains($0) ? 1 : 0) })
    }

    mutating func serve() {
      for step in queue.grant() {
        waiting.remove(step)
        running.insert(step)
        if Bool.random(using: &random) {
          tokens.beginLending(to: step, through: step)
          (inPipe[step], taken[step]) = (0, 0)
        }
      }
      for pipe in tokens.lendFree(&queue) { inPipe[pipe]! += 1 }
    }

    mutating func act() {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let idle = World.steps.filter { !waiting.contains($0) && !running.contains($0) }
        guard let step = idle.randomElement(using: &random) else { return }
        waiting.insert(step)
        queue.request(step)
      case 1:
        guard let step = running.sorted().randomElement(using: &random) else { return }
        // Whether it was killed or not, the tokens of its tools are gone.
        running.remove(step)
        (inPipe[step], taken[step]) = (nil, nil)
        tokens.endLending(to: step, &queue)
        queue.release(step)
      case 2:
        let lenders = inPipe.keys.filter { inPipe[$0]! > 0 }.sorted()
        guard let step = lenders.randomElement(using: &random) else { return }
        inPipe[step]! -= 1
        taken[step]! += 1
      default:
        let lenders = taken.keys.filter { taken[$0]! > 0 }.sorted()
        guard let step = lenders.randomElement(using: &random) else { return }
        taken[step]! -= 1
        inPipe[step]! += 1
      }
      serve()
      exchange()
    }

    /// Does what the exchange's thread does, until nothing is left to do.
    mutating func exchange() {
      var rounds = 0
      while let wanted = tokens.wanted(&queue).first(where: { (inPipe[$0.pipe] ?? 0) > 0 }) {
        inPipe[wanted.pipe]! -= 1
        tokens.received(0, from: wanted.source, &queue)
        serve()
        rounds += 1
        if rounds > 1000 {
          Issue.record("tokens go round in circles")
          return
        }
      }
    }

    func jobs(of steps: some Sequence<Int>) -> Int {
      steps.reduce(0) { $0 + (running.contains($1) ? 1 + (inPipe[$1] ?? 0) + (taken[$1] ?? 0) : 0) }
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func neverMoreThanTheSlotsAndAllComeBack(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<300 {
      world.act()
      #expect(world.jobs(of: World.steps) <= world.slots)
      #expect(world.jobs(of: World.groupSteps) <= world.groupSlots)
      // No step waits for a slot of the run while a token is in a pipe.
      let waitsOutside = world.waiting.contains { !World.groupSteps.contains($0) }
      if waitsOutside { #expect(world.inPipe.values.reduce(0, +) == 0) }
    }
    for step in world.running.sorted() {
      world.tokens.endLending(to: step, &world.queue)
      world.queue.release(step)
      world.running.remove(step)
    }
    for step in world.waiting { world.queue.withdraw(step) }
    for _ in 0..<world.slots {
      let isThere = world.queue.removeFreeSlot()
      #expect(isThere)
    }
    let isMore = world.queue.removeFreeSlot()
    #expect(!isMore)
  }

  private func queue(limit: Int, free: Int) -> SlotQueue {
    var queue = SlotQueue(
      slots: limit, groupLimits: [], chains: [[]], steps: (0..<6).map { _ in (1, 0) })
    for _ in free..<limit { _ = queue.removeFreeSlot() }
    return queue
  }

  @Test func fromAboveAsManyAreTakenAsAreOfUseAndNoMoreThanTheLimit() {
    var queue = queue(limit: 3, free: 1)
    var tokens = TokenAccounts<Int>(
      joined: TokenAccounts.Joined(pipe: 9, slotLimit: 3))
    #expect(tokens.wanted(&queue).isEmpty)
    for step in 0..<4 { queue.request(step) }
    #expect(queue.grant() == [0])
    for (number, token) in [UInt8(ascii: "a"), UInt8(ascii: "b")].enumerated() {
      #expect(tokens.wanted(&queue).map(\.pipe) == [9])
      tokens.received(token, from: .above, &queue)
      #expect(queue.grant() == [number + 1])
    }
    #expect(tokens.wanted(&queue).isEmpty, "a fourth waits, but three is the limit")
  }

  @Test func uselessTokenIsReturnedUnchanged() {
    var queue = queue(limit: 3, free: 1)
    var tokens = TokenAccounts<Int>(joined: TokenAccounts.Joined(pipe: 9, slotLimit: 3))
    for step in 0..<3 { queue.request(step) }
    _ = queue.grant()
    for token: UInt8 in [1, 2] { tokens.received(token, from: .above, &queue) }
    _ = queue.grant()
    #expect(tokens.returnSurplus(&queue) == [])
    queue.release(0)
    queue.release(2)
    #expect(tokens.returnSurplus(&queue) == [2, 1])
    queue.release(1)
    #expect(tokens.returnSurplus(&queue) == [], "the slot of its own is nobody else's")
  }

  @Test func aTokenThatCameInVainGoesBackAtOnce() {
    var queue = queue(limit: 3, free: 1)
    var tokens = TokenAccounts<Int>(joined: TokenAccounts.Joined(pipe: 9, slotLimit: 3))
    queue.request(0)
    queue.request(1)
    _ = queue.grant()
    #expect(tokens.wanted(&queue).count == 1)
    queue.withdraw(1)
    tokens.received(5, from: .above, &queue)
    #expect(queue.grant() == [])
    #expect(tokens.returnSurplus(&queue) == [5])
  }

  @Test func leavingClientReturnsTokensInUse() {
    var queue = queue(limit: 3, free: 1)
    var tokens = TokenAccounts<Int>(joined: TokenAccounts.Joined(pipe: 9, slotLimit: 3))
    tokens.received(5, from: .above, &queue)
    queue.request(0)
    queue.request(1)
    _ = queue.grant()
    #expect(tokens.abandon() == [5])
    #expect(tokens.abandon() == [])
  }
}
