import Testing
import WeftTestKit

@testable import WeftReports

@Suite struct UsageSeriesTests {
  private struct Use {
    let amount: Int
    let start: Int
    let end: Int
    var product: Int { amount * max(0, end - start) }
  }

  private func series(_ uses: [Use], capacity: Int?) -> UsageSeries {
    var series = UsageSeries(name: "slots")
    series.capacity = capacity
    for use in uses { series.use(use.amount, from: use.start, to: use.end) }
    series.finish()
    return series
  }

  /// The amount in use, times the time.
  private func product(_ series: UsageSeries) -> Int {
    zip(series.points, series.points.dropFirst()).reduce(0) {
      $0 + $1.0.used * ($1.1.time - $1.0.time)
    }
  }

  private func expectAnOrder(_ series: UsageSeries, seed: UInt64) {
    let points = series.points
    #expect(zip(points, points.dropFirst()).allSatisfy { $0.time < $1.time }, "seed \(seed)")
    #expect(points.allSatisfy { $0.used >= 0 } && points.last?.used ?? 0 == 0, "seed \(seed)")
    #expect(series.peak == points.map(\.used).max() ?? 0, "seed \(seed)")
  }

  @Test("a series ends, whatever spans a record has", arguments: 0..<300 as Range<UInt64>)
  func anySpansAreAddedUp(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let width = [3, 3000, 100_000].randomElement(using: &random)!
    let uses = (0..<Int.random(in: 0...80, using: &random)).map { _ in
      let start = Int.random(in: 0...width, using: &random)
      // Some have no length, and some end before they start.
      let length = Int.random(in: -2...width, using: &random)
      return Use(amount: Int.random(in: 0...3, using: &random), start: start, end: start + length)
    }
    let all = series(uses, capacity: nil)
    expectAnOrder(all, seed: seed)
    #expect(product(all) == uses.reduce(0) { $0 + $1.product })
    // More is used than there is.
    let few = series(uses, capacity: Int.random(in: 0...3, using: &random))
    expectAnOrder(few, seed: seed)
    #expect(product(few) <= product(all))
  }

  @Test(
    "starts that are truncated to milliseconds exceed no capacity",
    arguments: 0..<100 as Range<UInt64>)
  func truncatedStartsFit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var free = Array(repeating: 0, count: Int.random(in: 1...6, using: &random))
    let uses = (0..<100).map { _ in
      let lane = free.indices.min { free[$0] < free[$1] }!
      let start = free[lane] + Int.random(in: 0...500, using: &random)
      free[lane] = start + Int.random(in: 1000...9000, using: &random)
      return Use(amount: 1, start: start - start % 1000, end: free[lane])
    }
    let known = series(uses, capacity: free.count)
    expectAnOrder(known, seed: seed)
    #expect(known.peak <= free.count)
  }
}
