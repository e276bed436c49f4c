/// The three spellings of a date that an answer may have (RFC 9110 §5.6.7).
enum HTTPDate {
  /// Seconds since 1970; nil for what is no date. The day of the week is not compared.
  ///
  /// - Parameter now: For years of two digits, which are not more than 50 years ahead.
  static func seconds(_ text: String, now: Int64) -> Int64? {
    let words = ASCII.trimmed(text).split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    // Sun, 06 Nov 1994 08:49:37 GMT | Sunday, 06-Nov-94 08:49:37 GMT | Sun Nov  6 08:49:37 1994
    guard let weekday = words.first, isWeekday(weekday) else { return nil }
    if words.count == 6, words[5] == "GMT" {
      return seconds(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
    }
    guard words.count == 5 else { return nil }
    return seconds(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
  }

  private static func isWeekday(_ word: String) -> Bool {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(String(word.prefix(3)))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func seconds(
    day: String, month: String, year: String, time: String, now: Int64
  ) -> Int64? {
    guard let month = months.firstIndex(of: month), let day = ASCII.number(day),
      (1...31).contains(day), let year = fullYear(year, now: now), let time = timeOfDay(time)
    else { return nil }
    let days = daysSince1970(year: year, month: Int64(month + 1), day: Int64(day))
    return days * 86_400 + time
  }

  private static func fullYear(_ text: String, now: Int64) -> Int64? {
    guard let year = ASCII.number(text).map(Int64.init) else { return nil }
    if text.utf8.count == 4 { return year }
    guard text.utf8.count == 2 else { return nil }
    let thisYear = 1970 + now / 31_556_952
    let next = thisYear + (year - thisYear % 100 + 100) % 100
    return next > thisYear + 50 ? next - 100 : next
  }

  private static func timeOfDay(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
    let numbers = parts.compactMap { ASCII.number($0).map(Int64.init) }
    // 60: a leap second.
    guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60 else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
  }

  /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
  static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
