import WeftEncoding

/// Arithmetic. Its results are finite: a division by zero, and a number that is too large, is a fault.
extension FunctionCall {
  func computed() throws(EvaluationError) -> ExpressionValue {
    switch function {
    case .sum:
      var sum = ExpressionNumber(0)
      for element in try list(0) { sum = try combined(sum, try number(element)) }
      return .number(sum)
    case .min, .max:
      var found: ExpressionNumber?
      for element in try count == 1 ? list(0) : arguments {
        let number = try number(element)
        guard let best = found else {
          found = number
          continue
        }
        found = function == .min ? Swift.min(best, number) : Swift.max(best, number)
      }
      return found.map { .number($0) } ?? .null
    default: return .number(try combined(try number(0), try number(1)))
    }
  }

  private func combined(
    _ left: ExpressionNumber, _ right: ExpressionNumber
  ) throws(EvaluationError) -> ExpressionNumber {
    if function == .div || function == .mod, right.isZero { throw .divisionByZero(function) }
    guard let result = left.combined(by: function, with: right) else { throw .notFinite(function) }
    return result
  }
}

/// Moments: RFC 3339 texts, and seconds since 1970-01-01T00:00:00Z.
extension FunctionCall {
  func parsedTime() throws(EvaluationError) -> Double {
    let text = try text(0)
    do throws(TimeText.ParseError) {
      let (seconds, nanoseconds) = try TimeText.time(from: text)
      return Double(seconds) + Double(nanoseconds) / 1e9
    } catch {
      throw .malformedTime(text, error)
    }
  }

  func formattedTime() throws(EvaluationError) -> String {
    let seconds = try number(0).value.rounded(.down)
    guard let time = UTCTime(seconds) else { throw .timeOutOfRange }
    return try time.text(by: count > 1 ? try text(1) : "%Y-%m-%dT%H:%M:%SZ")
  }
}

/// A second in UTC, of the years 0 to 9999.
struct UTCTime {
  private let seconds: Int64
  private let date: CivilDate
  private let secondOfDay: Int64

  init?(_ seconds: Double) {
    guard (-62_167_219_200...253_402_300_799).contains(seconds) else { return nil }
    self.seconds = Int64(seconds)
    let (days, rest) = self.seconds.quotientAndRemainder(dividingBy: 86_400)
    date = CivilDate(daysSince1970: rest < 0 ? days - 1 : days)
    secondOfDay = rest < 0 ? rest + 86_400 : rest
  }

  static let directives = "%Y %m %d %H %M %S %F %T %j %u %a %b %s %%"

  /// The time in a format of C's `strftime`; see ``directives``.
  func text(by format: String) throws(EvaluationError) -> String {
    var text = ""
    var scalars = format.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      guard scalar == "%" else {
        text.unicodeScalars.append(scalar)
        continue
      }
      guard let letter = scalars.next(), let part = part(letter) else {
        throw .malformedTimeFormat(format)
      }
      text += part
    }
    return text
  }

  private func part(_ letter: Unicode.Scalar) -> String? {
    switch letter {
    case "Y": UTCTime.digits(date.year, 4)
    case "m": UTCTime.digits(date.month, 2)
    case "d": UTCTime.digits(date.day, 2)
    case "H": UTCTime.digits(secondOfDay / 3600, 2)
    case "M": UTCTime.digits(secondOfDay / 60 % 60, 2)
    case "S": UTCTime.digits(secondOfDay % 60, 2)
    case "F": "\(part("Y")!)-\(part("m")!)-\(part("d")!)"
    case "T": "\(part("H")!):\(part("M")!):\(part("S")!)"
    case "j": UTCTime.digits(dayOfYear, 3)
    case "u": String(weekday)
    case "a": UTCTime.weekdays[weekday - 1]
    case "b": UTCTime.months[Int(date.month) - 1]
    case "s": String(seconds)
    case "%": "%"
    default: nil
    }
  }

  private var dayOfYear: Int64 {
    date.daysSince1970 - CivilDate(year: date.year, month: 1, day: 1).daysSince1970 + 1
  }

  /// From 1 for Monday to 7; 1970 began on a Thursday.
  private var weekday: Int { Int(((date.daysSince1970 + 3) % 7 + 7) % 7) + 1 }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
  }
}
