import Testing
import WeftEncoding

struct CivilDateTests {
  @Test(
    arguments: [
      (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2026, 11, 24, 20_781),
      (0, 1, 1, -719_528), (9999, 12, 31, 2_932_896), (-1, 12, 31, -719_529),
    ] as [(Int64, Int64, Int64, Int64)])
  func aDayHasItsNumber(year: Int64, month: Int64, day: Int64, number: Int64) {
    let date = CivilDate(year: year, month: month, day: day)
    #expect(date.daysSince1970 == number)
    #expect(CivilDate(daysSince1970: number) == date)
  }

  @Test func everyDayOfFourCenturiesFollowsTheOneBefore() {
    var date = CivilDate(year: 1799, month: 12, day: 31)
    for number in date.daysSince1970 + 1...CivilDate(year: 2200, month: 1, day: 1).daysSince1970 {
      date.day += 1
      if date.day > CivilDate.days(ofMonth: date.month, in: date.year) {
        (date.month, date.day) = (date.month + 1, 1)
        if date.month > 12 { (date.year, date.month) = (date.year + 1, 1) }
      }
      guard CivilDate(daysSince1970: number) == date, date.daysSince1970 == number else {
        Issue.record("\(number) is not \(date)")
        return
      }
    }
  }

  @Test(arguments: [
    ("", [] as [UInt8]), ("Zg==", [102]), ("Zm8=", [102, 111]), ("Zm9v", [102, 111, 111]),
    ("Zm9vYg==", [102, 111, 111, 98]),
  ])
  func base64IsThatOfTheStandard(text: String, bytes: [UInt8]) {
    #expect(Base64.text(of: bytes) == text)
    #expect(Base64.bytes(of: text) == bytes)
  }

  @Test(arguments: ["Z", "Zg=", "Zg", "Z===", "====", "Zg==Zg==", "Zm9-", "Z\u{E9}8="])
  func whatIsNotBase64IsRefused(text: String) { #expect(Base64.bytes(of: text) == nil) }
}
