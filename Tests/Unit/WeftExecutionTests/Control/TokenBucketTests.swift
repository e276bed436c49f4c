import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct TokenBucketTests {
  @Test func isFullAtFirstAndFillsEvenly() {
    var bucket = TokenBucket(count: 30, per: .seconds(60), at: .seconds(5))
    let all = bucket.take(30, at: .seconds(5))
    let more = bucket.take(1, at: .seconds(5))
    #expect(all && !more)
    #expect(bucket.available(1) == .seconds(7))
    #expect(bucket.available(30) == .seconds(65))
    let early = bucket.take(1, at: .seconds(7) - .nanoseconds(1))
    let inTime = bucket.take(1, at: .seconds(7))
    #expect(!early && inTime)
  }

  @Test func holdsNoMoreThanOnePeriodGives() {
    var bucket = TokenBucket(count: 3, per: .seconds(1))
    let afterAYear = [3, 1].map { bucket.take($0, at: .seconds(366 * 86_400)) }
    #expect(afterAYear == [true, false])
  }

  @Test func aThirdOfASecondIsNotLostByAsking() {
    var bucket = TokenBucket(count: 3, per: .seconds(1))
    _ = bucket.take(3, at: .zero)
    #expect(bucket.available(1) == .nanoseconds(333_333_334))
    // Asking continuously does not change when the tokens are available.
    var taken: [Int] = []
    for time in stride(from: 7, through: 1_000_000, by: 7)
    where bucket.take(1, at: .microseconds(time)) {
      taken.append(time)
    }
    #expect(taken == [333_340, 666_673])
    #expect(bucket.available(1) == .seconds(1))
  }

  @Test func returnedTokensCanBeTakenOnce() {
    var bucket = TokenBucket(count: 3, per: .seconds(9))
    let first = bucket.take(2, at: .zero)
    bucket.giveBack(2)
    let again = bucket.take(3, at: .zero)
    #expect(first && again && bucket.available(1) == .seconds(3))
    bucket.giveBack(3)
    bucket.giveBack(3)
    let most = bucket.take(3, at: .zero)
    #expect(most && bucket.available(1) == .seconds(3))
  }

  @Test func timeThatGoesBackCountsAsNone() {
    var bucket = TokenBucket(count: 1, per: .seconds(1), at: .seconds(9))
    _ = bucket.take(1, at: .seconds(9))
    let taken = bucket.take(1, at: .seconds(1))
    #expect(!taken && bucket.available(1) == .seconds(10))
  }

  @Test(arguments: [
    (1_000_000, Duration.seconds(366 * 86_400)), (1, .nanoseconds(1)), (1_000_000, .nanoseconds(1)),
    (1, .seconds(Int64.max)),
  ])
  func noSizeOverflows(count: Int, period: Duration) {
    var bucket = TokenBucket(count: count, per: period)
    let first = bucket.take(count, at: .zero)
    let time = bucket.available(count)
    let early = bucket.take(count, at: time - .nanoseconds(1))
    #expect(first && !early && time <= max(period, .nanoseconds(1)))
  }

  /// In any period, the bucket gives at most what it holds and what is added during the period.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func neverGivesMoreThanItsRate(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...6, using: &random)
    let period = Duration.milliseconds(Int.random(in: 1...50, using: &random))
    var bucket = TokenBucket(count: count, per: period)
    var now = Duration.zero
    var taken: [(time: Duration, tokens: Int)] = []
    for _ in 0..<200 {
      now += .microseconds(Int.random(in: 0...4000, using: &random))
      let tokens = Int.random(in: 1...count, using: &random)
      let isThere = bucket.available(tokens) <= now
      let isTaken = bucket.take(tokens, at: now)
      #expect(isThere == isTaken)
      if isTaken { taken.append((now, tokens)) }
    }
    for start in taken.indices {
      var sum = 0
      for later in taken[start...] {
        sum += later.tokens
        let allowed = Double(count) * (1 + (later.time - taken[start].time) / period)
        #expect(Double(sum) <= allowed + 1e-6)
      }
    }
  }
}
