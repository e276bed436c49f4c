import Testing
import WeftDefinition

@Suite struct ShownDurationTests {
  @Test(
    "C08: durations from nothing to a month are told without overflow",
    arguments: [
      (.zero, "0 ms", "0 s", "00:00"),
      (.microseconds(999), "0 ms", "0 s", "00:00"),
      (.milliseconds(85), "85 ms", "0 s", "00:00"),
      (.milliseconds(999), "999 ms", "0 s", "00:00"),
      (.milliseconds(1299), "1.2 s", "1 s", "00:01"),
      (.milliseconds(59_999), "59.9 s", "59 s", "00:59"),
      (.seconds(65), "1 m 05 s", "1 m 05 s", "01:05"),
      (.seconds(3599), "59 m 59 s", "59 m 59 s", "59:59"),
      (.seconds(2 * 3600 + 3 * 60 + 59), "2 h 03 m", "2 h 03 m", "2:03:59"),
      (.seconds(30 * 86_400 + 2 * 3600), "30 d 02 h", "30 d 02 h", "722:00:00"),
      (.seconds(-5), "0 ms", "0 s", "00:00"),
    ] as [(Duration, String, String, String)])
  func areCutToWhatPeopleRead(
    duration: Duration, precise: String, coarse: String, clock: String
  ) {
    #expect(ShownDuration.precise(duration) == precise)
    #expect(ShownDuration.coarse(duration) == coarse)
    #expect(ShownDuration.clock(duration) == clock)
  }

  @Test func theLongestDurationDoesNotOverflow() {
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
    #expect(ShownDuration.precise(longest).hasSuffix(" h"))
  }

  @Test(
    arguments: [
      (.seconds(600), "10 m"), (.seconds(90), "90 s"), (.milliseconds(1500), "1.5 s"),
      (.milliseconds(250), "250 ms"), (.seconds(7200), "2 h"), (.seconds(172_800), "2 d"),
    ] as [(Duration, String)])
  func limitIsShownAsWritten(limit: Duration, text: String) {
    #expect(ShownDuration.limit(limit) == text)
  }
}
