import Testing
import WeftDefinition
import WeftEncoding

@Suite struct MomentTextTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0),
    ("1970-01-01t00:00:01z", 1_000_000_000),
    ("1969-12-31T23:59:59.5Z", -500_000_000),
    ("2000-02-29T12:00:00+00:00", 951_825_600_000_000_000),
    ("2026-11-21T09:00:00Z", 1_795_251_600_000_000_000),
    ("2026-11-21T10:30:00+01:30", 1_795_251_600_000_000_000),
    ("2026-11-20T23:00:00-10:00", 1_795_251_600_000_000_000),
    ("2026-11-21T09:00:00-00:00", 1_795_251_600_000_000_000),
    ("2026-11-21T09:00:00.000000001Z", 1_795_251_600_000_000_001),
    ("2026-11-21T09:00:00.0000000019Z", 1_795_251_600_000_000_001),
    ("2024-12-31T23:59:59.999999999Z", 1_735_689_599_999_999_999),
    ("1678-01-01T00:00:00Z", -9_214_560_000_000_000_000),
    ("2261-12-31T23:59:59Z", 9_214_646_399_000_000_000),
  ])
  func readsAMomentToTheNanosecond(text: String, nanoseconds: Int64) throws {
    let moment = try MomentText.moment(from: text)
    #expect(moment.nanoseconds == nanoseconds)
    #expect(moment.text == text)
  }

  @Test(
    arguments: [
      ("", .malformed), ("now", .malformed), ("2026-11-21", .withoutTime),
      ("2026-1-21T09:00:00Z", .malformed), ("2026-11-21 09:00:00Z", .malformed),
      (" 2026-11-21T09:00:00Z", .malformed), ("2026-11-21T09:00:00Z ", .malformed),
      ("+2026-11-21T09:00:00Z", .malformed), ("2026-11-21T09:00Z", .malformed),
      ("2026-11-21T09:00:00", .withoutOffset), ("2026-11-21T09:00:00.5", .withoutOffset),
      ("2026-11-21T09:00:00,5Z", .malformed), ("2026-11-21T09:00:00.Z", .malformed),
      ("2026-11-21T09:00:00+01", .malformed), ("2026-11-21T09:00:00+0100", .malformed),
      ("2026-11-21T09:00:00+24:00", .offset), ("2026-11-21T09:00:00-01:60", .offset),
      ("2026-00-21T09:00:00Z", .month(0)), ("2026-13-21T09:00:00Z", .month(13)),
      ("2026-11-00T09:00:00Z", .day(0, last: 30)), ("2026-11-31T09:00:00Z", .day(31, last: 30)),
      ("2026-02-29T09:00:00Z", .day(29, last: 28)), ("2024-02-30T09:00:00Z", .day(30, last: 29)),
      ("1900-02-29T09:00:00Z", .day(29, last: 28)), ("2026-01-32T09:00:00Z", .day(32, last: 31)),
      ("2026-11-21T24:00:00Z", .hour(24)), ("2026-11-21T09:60:00Z", .minute(60)),
      ("2026-11-21T09:00:61Z", .second(61)), ("2016-12-31T23:59:60Z", .leapSecond),
      ("0000-01-01T00:00:00Z", .outOfRange), ("9999-12-31T23:59:59Z", .outOfRange),
      ("２026-11-21T09:00:00Z", .malformed),
    ] as [(String, MomentText.ParseError)])
  func saysWhatKeepsATextFromBeingAMoment(text: String, fault: MomentText.ParseError) {
    #expect(throws: fault) { try MomentText.moment(from: text) }
  }

  /// Counts through four centuries day by day, by the rules of the calendar.
  @Test func daysFollowEachOther() throws {
    var expected = try MomentText.moment(from: "1800-01-01T00:00:00Z").nanoseconds
    for year in 1800..<2200 {
      let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
      let months = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      for (month, days) in months.enumerated() {
        for day in [1, 15, days] {
          let text = "\(year)-\(twoDigits(month + 1))-\(twoDigits(day))T00:00:00Z"
          let moment = try MomentText.moment(from: text).nanoseconds
          let since = Int64(day - 1) * 86_400_000_000_000
          #expect(moment == expected + since, "\(text)")
        }
        expected += Int64(days) * 86_400_000_000_000
      }
    }
  }

  private func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
