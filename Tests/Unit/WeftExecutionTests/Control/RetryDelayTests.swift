import Testing
import WeftDefinition
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RetryDelayTests {
  private static func delay(
    _ delay: Duration, factor: Double, maxDelay: Duration, _ jitter: RetryPolicy.Jitter = .none
  ) -> RetryDelay {
    RetryDelay(
      RetryPolicy(max: 1_000, delay: delay, factor: factor, maxDelay: maxDelay, jitter: jitter))
  }

  @Test(
    arguments: [
      (1.0, [100.0, 100, 100, 100]), (1.5, [100, 150, 225, 337.5]), (2, [100, 200, 400, 800]),
      (10, [100, 1_000, 10_000, 60_000]),
    ] as [(Double, [Double])])
  func growsByItsFactor(factor: Double, milliseconds: [Double]) {
    let delay = Self.delay(.milliseconds(100), factor: factor, maxDelay: .seconds(60))
    #expect(
      (1...4).map(delay.longest) == milliseconds.map { .microseconds(Int($0 * 1000)) })
  }

  @Test(arguments: [
    (Duration.seconds(1), 1000.0, Duration.seconds(366 * 86_400)),
    (.seconds(1), 1e300, .seconds(60)),
    (.nanoseconds(1), 1.0001, .seconds(1)), (.seconds(90), 2, .seconds(60)),
    (.seconds(Int64.max), 2, .seconds(Int64.max)), (.zero, 1000, .seconds(60)),
    (.seconds(1), .infinity, .seconds(60)),
  ])
  func neverExceedsItsLimit(first: Duration, factor: Double, limit: Duration) {
    let delay = Self.delay(first, factor: factor, maxDelay: limit)
    var before = Duration.zero
    for attempt in 1...1_000 {
      let longest = delay.longest(before: attempt)
      #expect(longest >= before && longest <= limit)
      before = longest
    }
  }

  @Test func aLongFirstDelayIsExact() {
    // More nanoseconds than a `Double` can distinguish.
    let first = Duration.seconds(366 * 86_400) - .nanoseconds(1)
    let delay = Self.delay(first, factor: 2, maxDelay: .seconds(1_000 * 86_400))
    #expect(delay.longest(before: 1) == first)
  }

  @Test func fullJitterSpreadsEvenlyFromNothingToTheDelay() {
    let delay = Self.delay(.seconds(1), factor: 2, maxDelay: .seconds(60), .full)
    var random = SeededGenerator(seed: 5)
    var counts = Array(repeating: 0, count: 10)
    for _ in 0..<10_000 {
      let wait = delay.wait(before: 3, using: &random)
      #expect(wait >= .zero && wait <= .seconds(4))
      counts[min(9, Int(wait / .milliseconds(400)))] += 1
    }
    // 1,000 are expected of each; the standard deviation is 30.
    #expect(counts.allSatisfy { (850...1150).contains($0) }, "\(counts)")
  }

  @Test func aSeedRepeatsItsWaits() {
    func waits(_ seed: UInt64) -> [Duration] {
      let delay = Self.delay(.seconds(1), factor: 2, maxDelay: .seconds(60), .full)
      var random = SeededGenerator(seed: seed)
      return (1...20).map { delay.wait(before: $0, using: &random) }
    }
    #expect(waits(1) == waits(1))
    #expect(waits(1) != waits(2))
  }

  @Test func delayWithoutJitterDrawsNoNumber() {
    var (random, untouched) = (SeededGenerator(seed: 3), SeededGenerator(seed: 3))
    _ = Self.delay(.seconds(1), factor: 2, maxDelay: .seconds(60)).wait(before: 1, using: &random)
    let (next, first) = (random.next(), untouched.next())
    #expect(next == first)
  }
}
