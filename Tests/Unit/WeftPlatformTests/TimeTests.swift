import Testing

@testable import WeftPlatform

@Suite struct TimerQueueTests {
  @Test func actionsComeByTimeAndThenInOrderOfScheduling() {
    var queue = TimerQueue<Int>()
    var expected: [(due: Int, order: Int)] = []
    for order in 0..<1000 {
      let due = (order &* 7919) % 97
      _ = queue.add(order, due: .milliseconds(due))
      expected.append((due, order))
    }
    expected.sort { ($0.due, $0.order) < ($1.due, $1.order) }
    var taken: [Int] = []
    while let next = queue.takeDue(at: .milliseconds(96)) { taken.append(next) }
    #expect(taken == expected.map(\.order))
    #expect(queue.isEmpty && queue.nextDue() == nil)
  }

  @Test func timerIsNotTakenBeforeItIsDue() {
    var queue = TimerQueue<String>()
    _ = queue.add("b", due: .seconds(2))
    _ = queue.add("a", due: .seconds(1))
    #expect(queue.nextDue() == .seconds(1))
    #expect(queue.takeDue(at: .milliseconds(999)) == nil)
    #expect(queue.takeDue(at: .seconds(1)) == "a")
    #expect(queue.takeDue(at: .seconds(1)) == nil)
    #expect(queue.nextDue() == .seconds(2))
  }

  @Test func cancelledActionsNeverComeAndDoNotPileUp() {
    var queue = TimerQueue<Int>()
    let ids = (0..<10_000).map { queue.add($0, due: .seconds($0)) }
    for (number, id) in ids.enumerated() where number % 100 != 0 {
      #expect(queue.cancel(id) == number)
      #expect(queue.cancel(id) == nil)
    }
    #expect(queue.count == 100)
    #expect(queue.storedCount <= 200)
    var taken: [Int] = []
    while let next = queue.takeDue(at: .seconds(10_000)) { taken.append(next) }
    #expect(taken == Array(stride(from: 0, to: 10_000, by: 100)))
  }
}

@Suite struct TimersTests {
  @Test func actionsRunInOrderAndCancelledOnesDoNot() {
    let timers = Timers()
    let ran = Collected<Int>()
    let late = timers.schedule(after: .seconds(1000)) { ran.add(0) }
    let token = timers.schedule(after: .milliseconds(50)) { ran.add(2) }
    _ = timers.schedule(after: .milliseconds(100)) { ran.add(3) }
    _ = timers.schedule(after: .zero) { ran.add(1) }
    token.cancel()
    token.cancel()
    #expect(eventually { ran.count == 2 })
    #expect(ran.all == [1, 3])
    late.cancel()
  }

  @Test func anActionMayScheduleAndCancel() {
    let timers = Timers()
    let ran = Collected<Int>()
    _ = timers.schedule(after: .zero) {
      timers.schedule(after: .zero) { ran.add(0) }.cancel()
      _ = timers.schedule(after: .zero) { ran.add(1) }
    }
    #expect(eventually { ran.count == 1 })
    #expect(ran.all == [1])
  }

  @Test func scheduledActionIsReleasedWithTheTimers() {
    final class Held: Sendable {}
    weak var held: Held?
    do {
      let timers = Timers()
      let object = Held()
      held = object
      _ = timers.schedule(after: .seconds(1000)) { withExtendedLifetime(object) {} }
    }
    #expect(eventually { held == nil })
  }
}

@Suite struct TimestampTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
      (1_709_251_199_999_999_999, "2024-02-29T23:59:59.999Z"),
      (1_709_251_200_000_000_000, "2024-03-01T00:00:00.000Z"),
      (4_107_542_399_001_000_000, "2100-02-28T23:59:59.001Z"),
      (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
      (-2_208_988_800_000_000_000, "1900-01-01T00:00:00.000Z"),
      (1_795_217_765_123_456_789, "2026-11-20T23:36:05.123Z"),
    ] as [(Int64, String)])
  func isWrittenAsRFC3339(nanoseconds: Int64, text: String) {
    #expect(Timestamp(nanoseconds: nanoseconds).description == text)
  }

  @Test(
    "X09: the first and the last moment that there are, and the days around them, are written",
    arguments: [
      (.min, "1677-09-21T00:12:43.145Z"), (.min + 1, "1677-09-21T00:12:43.145Z"),
      (.max, "2262-04-11T23:47:16.854Z"), (.max - 1, "2262-04-11T23:47:16.854Z"),
    ] as [(Int64, String)])
  func extremeMomentsAreFormatted(nanoseconds: Int64, text: String) {
    #expect(Timestamp(nanoseconds: nanoseconds).description == text)
  }

  @Test(
    "X09: what lies beyond the first or the last moment is that",
    arguments: [
      (0, .seconds(1), 1_000_000_000), (.max, .nanoseconds(1), .max),
      (.min, .nanoseconds(-1), .min),
      (.min, .nanoseconds(1), .min + 1), (.max, .nanoseconds(-1), .max - 1),
      (0, .microseconds(Int64.max), .max), (0, .microseconds(Int64.min), .min),
      (5, .seconds(Int64.max), .max), (-5, .seconds(Int64.min), .min),
      (.min, .nanoseconds(Int64.max), -1), (0, .nanoseconds(Int64.min), .min),
    ] as [(Int64, Duration, Int64)])
  func clampedSums(start: Int64, duration: Duration, end: Int64) {
    #expect(Timestamp(nanoseconds: start).advanced(by: duration).nanoseconds == end)
  }

  @Test func theClocksGoForward() {
    let (monotonic, wall) = (MonotonicClock.now, WallClock.now)
    #expect(MonotonicClock.now >= monotonic)
    #expect(wall.nanoseconds > 1_700_000_000_000_000_000)
  }
}
