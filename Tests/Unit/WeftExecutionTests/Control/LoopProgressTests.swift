import Testing
import WeftDefinition
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct LoopProgressTests {
  private static func progress(
    _ elements: Int, maxParallel: Int? = nil, tolerating: FanOutTolerance = .count(0),
    _ onFailure: FailureResponse = .stop
  ) -> LoopProgress {
    LoopProgress(
      elements: elements, maxParallel: maxParallel, tolerance: tolerating, onFailure: onFailure)
  }

  @Test func loopWithoutElementsIsOver() {
    var progress = Self.progress(0)
    let begins = progress.beginStarting()
    #expect(begins && !progress.isOver)
    let next = progress.next()
    #expect(next == nil)
    #expect(progress.isOver && progress.isComplete && !progress.hasFailed)
  }

  @Test func elementsStartInOrderAndNoMoreThanMayAtOnce() {
    var progress = Self.progress(4, maxParallel: 2)
    let first = progress.startAll()
    #expect(first == [0, 1])
    _ = progress.ended(hasFailed: false)
    let second = progress.startAll()
    #expect(second == [2])
  }

  @Test func elementsAreNotCreatedWhileEnoughStepsWait() {
    var progress = Self.progress(100_000)
    var started = 0
    _ = progress.beginStarting()
    while progress.next() != nil {
      started += 1
      progress.stepsWaiting(1)
    }
    #expect(started == LoopProgress.waitingLimit)
    progress.stepsWaiting(-1)
    let next = progress.startAll()
    #expect(next.first == started)
  }

  @Test func concurrentStartIsLeftToTheFirstCaller() {
    var progress = Self.progress(2)
    let begins = [progress.beginStarting(), progress.beginStarting()]
    #expect(begins == [true, false])
    #expect(!progress.isOver)
    while progress.next() != nil {}
    let beginsAgain = progress.beginStarting()
    #expect(beginsAgain)
  }

  @Test(
    arguments: [
      (FanOutTolerance.count(0), 5, 1), (.count(2), 5, 3), (.count(9), 5, nil),
      (.percent(50), 5, 3),
      (.percent(33), 100, 34), (.percent(1), 99, 1), (.percent(100), 5, nil), (.percent(0), 5, 1),
    ] as [(FanOutTolerance, Int, Int?)])
  func moreFailuresThanAreToleratedFailTheWhole(
    tolerance: FanOutTolerance, elements: Int, failing: Int?
  ) {
    var progress = Self.progress(elements, tolerating: tolerance, .continue)
    _ = progress.startAll()
    var failedBy: [Int] = []
    for failure in 1...elements where progress.ended(hasFailed: true) { failedBy.append(failure) }
    #expect(failedBy == failing.map { [$0] } ?? [])
    #expect(progress.hasFailed == (failing != nil) && progress.isOver)
  }

  @Test(arguments: [
    (FailureResponse.stop, [0]), (.cancel, [0]), (.continue, [0, 1, 2, 3]),
  ])
  func failedLoopStartsMoreOnlyWithContinue(response: FailureResponse, all: [Int]) {
    var progress = Self.progress(4, maxParallel: 1, response)
    var started: [Int] = []
    while !progress.isOver {
      started += progress.startAll()
      _ = progress.ended(hasFailed: true)
    }
    #expect(started == all)
    #expect(progress.isComplete == (response == .continue) && progress.hasFailed)
  }

  @Test func closedLoopEndsWithItsLastElement() {
    var progress = Self.progress(3, maxParallel: 2)
    _ = progress.startAll()
    _ = progress.ended(hasFailed: false)
    let begins = progress.beginStarting()
    let last = progress.next()
    progress.skipAll()
    #expect(begins && last == 2 && !progress.isOver)
    _ = progress.ended(hasFailed: false)
    #expect(progress.isOver && !progress.isComplete && !progress.hasFailed)
  }

  /// Whatever the order of ends: every element starts once, in order, until nothing new may start, and the loop fails
  /// if more elements fail than it tolerates.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func countsWhatHappens(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...40, using: &random)
    let most = Bool.random(using: &random) ? nil : Int.random(in: 1...5, using: &random)
    let tolerated = Int.random(in: 0...5, using: &random)
    let response = FailureResponse.allCases.randomElement(using: &random)!
    var progress = Self.progress(count, maxParallel: most, tolerating: .count(tolerated), response)
    var started: [Int] = []
    var (active, failures, failedAt) = (0, 0, 0)
    repeat {
      let new = progress.startAll()
      #expect(new.isEmpty || failedAt == 0 || response == .continue)
      started += new
      active += new.count
      #expect(active <= most ?? count)
      guard active > 0 else { break }
      active -= 1
      let hasFailed = Int.random(in: 0..<4, using: &random) == 0
      failures += hasFailed ? 1 : 0
      if progress.ended(hasFailed: hasFailed) { failedAt += 1 }
    } while !progress.isOver
    #expect(active == 0 && progress.isOver)
    #expect(started == Array(0..<started.count))
    #expect(
      failedAt == (failures > tolerated ? 1 : 0) && progress.hasFailed == (failures > tolerated))
    #expect(progress.isComplete == (started.count == count))
    #expect(progress.isComplete || progress.hasFailed)
  }
}

extension LoopProgress {
  /// Starts everything that may start now.
  fileprivate mutating func startAll() -> [Int] {
    guard beginStarting() else { return [] }
    var started: [Int] = []
    while let next = next() { started.append(next) }
    return started
  }
}
