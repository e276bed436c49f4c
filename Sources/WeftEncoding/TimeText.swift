/// Moments in the format of RFC 3339: `2026-11-21T09:00:00Z` or `2026-11-21T10:00:00.5+01:00`.
package enum TimeText {
  /// The reason why a text is not a moment.
  package enum ParseError: Error, Sendable, Hashable {
    case malformed
    /// A date without a time.
    case withoutTime
    /// Neither `Z` nor an offset at the end.
    case withoutOffset
    case month(Int)
    /// Carries the days that the month has in that year.
    case day(Int, last: Int)
    case hour(Int)
    case minute(Int)
    case second(Int)
    /// A second 60, which computer clocks do not have.
    case leapSecond
    case offset
    /// Before the year 1678, or after 2261: for moments that are counted in nanoseconds.
    case outOfRange
  }

  /// Reads a moment of the years 0 to 9999: seconds since 1970-01-01T00:00:00Z, rounded down, and nanoseconds. Digits
  /// beyond nanoseconds are dropped.
  package static func time(
    from text: String
  ) throws(ParseError) -> (seconds: Int64, nanoseconds: Int64) {
    var reader = TimeReader(text)
    let day = try reader.day()
    try reader.separator()
    let time = try reader.time()
    let fraction = try reader.fraction()
    let offset = try reader.offset()
    return (day * 86_400 + time - offset, fraction)
  }
}

/// Reads the parts of a time one after another.
private struct TimeReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  /// Days since 1970-01-01.
  mutating func day() throws(TimeText.ParseError) -> Int64 {
    let year = try number(4)
    try take("-")
    let month = try number(2)
    try take("-")
    let day = try number(2)
    guard (1...12).contains(month) else { throw .month(month) }
    let date = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day))
    let last = Int(CivilDate.days(ofMonth: date.month, in: date.year))
    guard (1...last).contains(day) else { throw .day(day, last: last) }
    return date.daysSince1970
  }

  mutating func separator() throws(TimeText.ParseError) {
    guard !rest.isEmpty else { throw .withoutTime }
    guard rest.first == UInt8(ascii: "T") || rest.first == UInt8(ascii: "t") else {
      throw .malformed
    }
    rest.removeFirst()
  }

  /// Seconds since midnight.
  mutating func time() throws(TimeText.ParseError) -> Int64 {
    let hour = try number(2)
    try take(":")
    let minute = try number(2)
    try take(":")
    let second = try number(2)
    guard hour < 24 else { throw .hour(hour) }
    guard minute < 60 else { throw .minute(minute) }
    guard second != 60 else { throw .leapSecond }
    guard second < 60 else { throw .second(second) }
    return Int64(hour * 3600 + minute * 60 + second)
  }

  /// Nanoseconds.
  mutating func fraction() throws(TimeText.ParseError) -> Int64 {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    rest.removeFirst()
    let digits = rest.prefix { $0.isDigit }
    guard !digits.isEmpty else { throw .malformed }
    rest = rest[digits.endIndex...]
    var nanoseconds: Int64 = 0
    var places = 0
    for digit in digits.prefix(9) {
      nanoseconds = nanoseconds * 10 + Int64(digit - UInt8(ascii: "0"))
      places += 1
    }
    for _ in places..<9 { nanoseconds *= 10 }
    return nanoseconds
  }

  /// The seconds by which local time is ahead of UTC; nothing may follow.
  mutating func offset() throws(TimeText.ParseError) -> Int64 {
    guard let sign = rest.popFirst() else { throw .withoutOffset }
    switch sign {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"):
      guard rest.isEmpty else { throw .malformed }
      return 0
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      let hours = try number(2)
      try take(":")
      let minutes = try number(2)
      guard rest.isEmpty else { throw .malformed }
      guard hours < 24, minutes < 60 else { throw .offset }
      let seconds = Int64(hours * 3600 + minutes * 60)
      return sign == UInt8(ascii: "-") ? -seconds : seconds
    default: throw .malformed
    }
  }

  private mutating func number(_ digits: Int) throws(TimeText.ParseError) -> Int {
    var number = 0
    for _ in 0..<digits {
      guard let digit = rest.popFirst(), digit.isDigit else { throw .malformed }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return number
  }

  private mutating func take(_ mark: Unicode.Scalar) throws(TimeText.ParseError) {
    guard rest.popFirst() == UInt8(ascii: mark) else { throw .malformed }
  }
}

extension TimeText.ParseError {
  package static let example = "2026-11-21T09:00:00Z"

  package var expectation: String {
    switch self {
    case .malformed, .withoutTime: "expected a time like \"\(TimeText.ParseError.example)\""
    case .withoutOffset: "expected \"Z\" or an offset at the end"
    case .month(let month): "but there is no month \(month)"
    case .day(let day, let last): "but that month has \(last) days, not \(day)"
    case .hour(let hour): "but there is no hour \(hour)"
    case .minute(let minute): "but there is no minute \(minute)"
    case .second(let second): "but there is no second \(second)"
    case .leapSecond: "but leap seconds are not supported"
    case .offset: "but an offset is from -23:59 to +23:59"
    case .outOfRange: "expected a year from 1678 to 2261"
    }
  }

  package var help: String? {
    switch self {
    case .malformed:
      "write a time as in RFC 3339, such as \"\(TimeText.ParseError.example)\""
    case .withoutTime: "add the time of day and an offset, such as \"T09:00:00Z\""
    case .withoutOffset: "add \"Z\" for UTC, or an offset such as \"+01:00\""
    case .hour(24): "midnight is 00:00:00 of the next day"
    case .leapSecond: "write the second after it: 00 of the next minute"
    case .month, .day, .hour, .minute, .second, .offset, .outOfRange: nil
    }
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
