import Testing
import WeftDefinition

@Suite struct DurationTextTests {
  @Test(
    arguments: [
      ("1ms", .milliseconds(1)),
      ("1500ms", .milliseconds(1500)),
      ("30s", .seconds(30)),
      ("5m", .seconds(300)),
      ("90m", .seconds(5400)),
      ("1h30m", .seconds(5400)),
      ("1h05m", .seconds(3900)),
      ("2d", .seconds(172_800)),
      ("1d2h3m4s5ms", .seconds(93_784) + .milliseconds(5)),
      ("0h1s", .seconds(1)),
      ("00000000000000000000000000001s", .seconds(1)),
      ("366d", WorkflowLimits.longestDuration),
    ] as [(String, Duration)])
  func readsWholeNumbersWithUnits(text: String, duration: Duration) throws {
    #expect(try DurationText.duration(from: text) == duration)
  }

  @Test(
    "W09 W11: what is not a duration says why",
    arguments: [
      ("", .malformed),
      ("soon", .malformed),
      ("s", .malformed),
      (" 5s", .malformed),
      ("+5s", .malformed),
      (".5s", .malformed),
      ("5", .withoutUnit(number: "5")),
      ("1h30", .lastWithoutUnit(number: "30")),
      ("5sec", .unknownUnit("sec")),
      ("5S", .unknownUnit("S")),
      ("5 s", .unknownUnit(" s")),
      ("5s ", .unknownUnit("s ")),
      ("5s\n", .unknownUnit("s\n")),
      ("1e3s", .unknownUnit("e")),
      ("5µs", .unknownUnit("µs")),
      ("30m1h", .unitOutOfOrder("h")),
      ("5s5s", .unitOutOfOrder("s")),
      ("-5s", .negative),
      ("1.5s", .fraction(instead: "1s500ms")), ("1.5h", .fraction(instead: "1h30m")),
      ("1.0001s", .fraction(instead: nil)), ("1h1.5m", .fraction(instead: nil)),
      ("1.5x", .fraction(instead: nil)), ("1.5h1m", .fraction(instead: nil)),
      ("0s", .zero),
      ("0d0ms", .zero),
      ("367d", .tooLong),
      ("366d1ms", .tooLong),
      ("9223372036854775807d", .tooLong),
      ("9223372036854775807ms1s", .unitOutOfOrder("s")),
      ("106751991167d9223372036854775807ms", .tooLong),
      ("99999999999999999999s", .tooLong),
    ] as [(String, DurationText.ParseError)])
  func refusesEverythingElse(text: String, fault: DurationText.ParseError) {
    #expect(throws: fault) { try DurationText.duration(from: text) }
  }

  @Test func noTimeIsADurationWhereThatIsAllowed() throws {
    #expect(try DurationText.duration(from: "0s", allowsZero: true) == .zero)
  }

  @Test(
    arguments: [
      ("1ms", .milliseconds(1)),
      ("1s500ms", .milliseconds(1500)),
      ("1h30m", .seconds(5400)),
      ("366d", WorkflowLimits.longestDuration),
      ("0ms", .zero),
      ("0ms", .microseconds(999)),
    ] as [(String, Duration)])
  func writesTheShortestTextThatReadsBack(text: String, duration: Duration) {
    #expect(DurationText.text(of: duration) == text)
  }
}
