import Testing
import WeftPlanning

@testable import WeftEvents
@testable import WeftReporting

@Suite struct RateEstimateTests {
  /// Observes an amount once a second.
  private func estimate(_ amounts: [Int]) -> (pace: RateEstimate, now: Duration) {
    var pace = RateEstimate()
    for (second, amount) in amounts.enumerated() { pace.observe(amount, at: .seconds(second)) }
    return (pace, .seconds(amounts.count - 1))
  }

  @Test func steadyGrowthIsMeasuredExactly() throws {
    let (pace, now) = estimate(Array(stride(from: 0, through: 300, by: 3)))
    #expect(abs(try #require(pace.perSecond(at: now)) - 3) < 1e-9)
    #expect(abs(try #require(pace.left(until: 360, at: now)) / .seconds(1) - 20) < 1e-6)
  }

  @Test func recentGrowthCountsMore() throws {
    let (pace, now) = estimate((0...30).map { $0 * 10 } + (1...60).map { 300 + $0 })
    let rate = try #require(pace.perSecond(at: now))
    #expect(rate > 1 && rate < 2, "\(rate)")
  }

  @Test func theFirstAmountDoesNotCount() throws {
    let (pace, now) = estimate([1000, 1002, 1004])
    #expect(abs(try #require(pace.perSecond(at: now)) - 2) < 1e-9)
  }

  @Test func theRateFallsWhileNothingHappens() throws {
    let (pace, now) = estimate([0, 10, 20])
    let rates = [0, 10, 100].compactMap { pace.perSecond(at: now + .seconds($0)) }
    #expect(rates.count == 3 && rates[0] > rates[1] && rates[1] > rates[2])
  }

  @Test func littleIsNoEstimate() {
    var pace = RateEstimate()
    #expect(pace.perSecond(at: .seconds(5)) == nil)
    pace.observe(0, at: .zero)
    pace.observe(5, at: .milliseconds(500))
    #expect(pace.perSecond(at: .milliseconds(500)) == nil, "too short a time")
    #expect(estimate([7, 7, 7, 7]).pace.perSecond(at: .seconds(3)) == nil, "no growth")
    #expect(estimate([0, 1, 2]).pace.left(until: 1 << 60, at: .seconds(2)) == nil, "for ever")
  }

  @Test func aSmallerAmountStartsOver() {
    let (pace, now) = estimate([0, 100, 200, 3])
    #expect(pace.perSecond(at: now) == nil)
  }
}

@Suite struct ProgressLineTests {
  private static let plain = DisplayText(passesSGR: false, passesUnicode: true)
  private static let unicode = Palette(usesColour: false, usesUnicode: true)
  private static let ascii = Palette(usesColour: false, usesUnicode: false)

  private static let line = ProgressLine(
    fraction: 0.37, count: "37/100", details: ["4 running", "2 failed"],
    note: "linking\u{1B}[31m it")

  @Test(arguments: [
    (0, ""), (3, "37…"), (6, "37/100"), (20, "37/100 · 4 running"), (23, "37/100 · 4 running"),
    (24, "━━────── 37/100"), (30, "━━━─────── 37/100 · 4 running"),
    (60, "━━━━━━━───────────── 37/100 · 4 running · 2 failed  linking…"),
    (70, "━━━━━━━───────────── 37/100 · 4 running · 2 failed  linking it"),
  ])
  func itFitsIntoTheWidth(columns: Int, expected: String) {
    let shown = ProgressLineTests.line.text(
      columns: columns, palette: ProgressLineTests.unicode, text: ProgressLineTests.plain)
    #expect(DisplayText.columns(of: shown) <= columns)
    #expect(shown == expected)
  }

  @Test(arguments: [
    (0.0, "[--------]"), (0.001, "[#-------]"), (0.5, "[####----]"), (0.999, "[#######-]"),
    (1.0, "[########]"), (7.5, "[########]"), (-1.0, "[--------]"),
  ])
  func aBarIsFullOnlyAtTheEnd(fraction: Double, expected: String) {
    #expect(ProgressLineTests.ascii.bar(fraction, columns: 10) == expected)
  }

  @Test(arguments: [
    (StepProgress(3, of: 10, text: "a"), "3/10"), (StepProgress(3), "3"),
    (StepProgress(1_200_000, of: 40_000_000, unit: .bytes), "1.2 MB of 40 MB"),
    (StepProgress(900, unit: .bytes), "900 B"), (StepProgress(12, of: 10), "12/10"),
  ])
  func theCountNamesTheAmounts(progress: StepProgress, expected: String) {
    #expect(ProgressLine(progress, RateEstimate(), at: .zero).count == expected)
  }

  @Test(arguments: [
    (0.001, StepProgress.Unit.items, nil), (0.05, .items, "3.0/min"), (0.5, .items, "30/min"),
    (3.14159, .items, "3.1/s"), (42.4, .items, "42/s"), (1500, .bytes, "1.5 kB/s"),
    (1e300, .items, "1000000000000000/s"),
  ])
  func aRateHasAUnitThatFits(rate: Double, unit: StepProgress.Unit, expected: String?) {
    #expect(ShownRate.text(rate, unit: unit) == expected)
  }
}

@Suite struct StepProgressTests {
  @Test func amountsAreKeptInRange() {
    #expect(StepProgress(-5, of: -3) == StepProgress(0))
    #expect(StepProgress(.max, of: .max).fraction == 1)
    #expect(StepProgress(12, of: 10).fraction == 1)
    #expect(StepProgress(1).fraction == nil)
    #expect(StepProgress(1, of: 2, text: String(repeating: "x", count: 500)).text?.count == 200)
  }
}
