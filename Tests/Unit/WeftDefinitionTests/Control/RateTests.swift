import Testing

@testable import WeftDefinition

@Suite struct RateTests {
  @Test(
    arguments: [
      ("30/1m", Rate(count: 30, per: .seconds(60))),
      ("1/1ms", Rate(count: 1, per: .milliseconds(1))),
      ("007/1h30m", Rate(count: 7, per: .seconds(5400))),
      ("1000000/366d", Rate(count: 1_000_000, per: WorkflowLimits.longestDuration)),
    ])
  func readsACountAndATime(text: String, rate: Rate) throws {
    #expect(try Rate(text) == rate)
    #expect(try Rate(rate.description) == rate)
  }

  @Test(
    arguments: [
      ("", .malformed), ("30", .malformed), ("/", .malformed), ("/1m", .malformed),
      ("a/1m", .malformed), ("-1/1m", .malformed), ("1.5/1m", .malformed), (" 1/1m", .malformed),
      ("0/1m", .count), ("1000001/1m", .count), ("99999999999999999999/1m", .count),
      ("30/", .period("", .malformed)), ("30/m", .period("m", .malformed)),
      ("30/60", .period("60", .withoutUnit(number: "60"))), ("30/0s", .period("0s", .zero)),
      ("30/1m/2", .period("1m/2", .unknownUnit("m/"))),
    ] as [(String, Rate.ParseError)])
  func saysWhatKeepsATextFromBeingARate(text: String, fault: Rate.ParseError) {
    #expect(throws: fault) { try Rate(text) }
  }

  @Test(arguments: [
    ("0%", 0), ("1%", 1), ("010%", 10), ("100%", 100),
  ])
  func aPartIsAWholePercentage(text: String, percent: Int) {
    #expect(FanOutTolerance(percentage: text) == .percent(percent))
  }

  @Test(arguments: ["", "%", "10", "101%", "-1%", "1.5%", "10 %", "10%%", "99999999999999999999%"])
  func everythingElseIsNone(text: String) {
    #expect(FanOutTolerance(percentage: text) == nil)
  }

  @Test(arguments: [
    (FanOutTolerance.count(3), 10, 3), (.percent(10), 9, 0), (.percent(10), 10, 1),
    (.percent(33), 10, 3), (.percent(100), 7, 7), (.percent(50), 0, 0),
  ])
  func aPartIsRoundedDown(tolerance: FanOutTolerance, elements: Int, limit: Int) {
    #expect(tolerance.limit(of: elements) == limit)
  }
}
