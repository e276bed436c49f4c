import WeftDiagnostics

/// Durations as written in a workflow: `"1500ms"`, `"30s"`, `"1h30m"`, `"2d"`.
///
/// They are whole numbers with units from the largest to the smallest, each unit at most once.
/// Numbers may begin with zeros (`1h05m`), and a part may be more than the next unit holds (`90m`).
package enum DurationText {
  /// The reason why a text is not a duration.
  package enum ParseError: Error, Sendable, Hashable {
    /// Not a sequence of numbers and units.
    case malformed
    /// Only digits; carries them.
    case withoutUnit(number: String)
    /// Parts followed by digits without a unit; carries the digits.
    case lastWithoutUnit(number: String)
    case unknownUnit(String)
    /// A unit that occurs twice, or after a smaller one.
    case unitOutOfOrder(String)
    case negative
    /// `instead` is the same duration in whole numbers; `nil` if there is none.
    case fraction(instead: String?)
    case zero
    /// More than ``WorkflowLimits/longestDuration``.
    case tooLong
  }

  /// The unit's name and its length in milliseconds, the largest first.
  fileprivate static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  /// - Parameter allowsZero: Whether zero is a duration too.
  package static func duration(
    from text: String, allowsZero: Bool = false
  ) throws(ParseError) -> Duration {
    if text.utf8.first == UInt8(ascii: "-") { throw .negative }
    var rest = text.utf8[...]
    var milliseconds: Int64 = 0
    var unitsLeft = units[...]
    repeat {
      let (count, unit) = try part(from: &rest, isFirst: rest.startIndex == text.startIndex)
      let name = String(Substring(unit))
      guard let index = units.firstIndex(where: { $0.name == name }) else {
        throw .unknownUnit(name)
      }
      guard unitsLeft.indices.contains(index) else { throw .unitOutOfOrder(name) }
      unitsLeft = units[(index + 1)...]
      milliseconds = saturatingSum(milliseconds, count, times: units[index].milliseconds)
    } while !rest.isEmpty
    if .milliseconds(milliseconds) > WorkflowLimits.longestDuration { throw .tooLong }
    if milliseconds == 0, !allowsZero { throw .zero }
    return .milliseconds(milliseconds)
  }

  /// An overflow is too long in any case.
  private static func saturatingSum(_ sum: Int64, _ count: Int64, times unit: Int64) -> Int64 {
    let (length, isLarge) = count.multipliedReportingOverflow(by: unit)
    let (total, isLarger) = sum.addingReportingOverflow(length)
    return isLarge || isLarger ? .max : total
  }

  /// The text that reads back as `duration`, in whole milliseconds; `0ms` for zero.
  package static func text(of duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    var rest = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    var text = ""
    for (name, milliseconds) in units {
      let (count, remainder) = rest.quotientAndRemainder(dividingBy: milliseconds)
      if count != 0 { text += "\(count)\(name)" }
      rest = remainder
    }
    return text.isEmpty ? "0ms" : text
  }

  /// Takes digits and the letters after them; a number too large for its type becomes `Int64.max`.
  private static func part(
    from rest: inout Substring.UTF8View, isFirst: Bool
  ) throws(ParseError) -> (count: Int64, unit: Substring.UTF8View) {
    let digits = rest.prefix { $0.isDigit }
    guard !digits.isEmpty else { throw .malformed }
    rest = rest[digits.endIndex...]
    if rest.first == UInt8(ascii: "."), rest.dropFirst().first?.isDigit == true {
      throw .fraction(instead: isFirst ? wholeNumbers(digits, rest.dropFirst()) : nil)
    }
    let unit = rest.prefix { !$0.isDigit }
    rest = rest[unit.endIndex...]
    guard !unit.isEmpty else {
      let number = String(Substring(digits))
      throw isFirst ? .withoutUnit(number: number) : .lastWithoutUnit(number: number)
    }
    return (Int64(Substring(digits)) ?? .max, unit)
  }

  /// Writes `1.5h` as `1h30m`; `nil` if milliseconds are too coarse for it, or if more follows.
  private static func wholeNumbers(
    _ digits: Substring.UTF8View, _ rest: Substring.UTF8View
  ) -> String? {
    let decimals = rest.prefix { $0.isDigit }
    let name = String(Substring(rest[decimals.endIndex...]))
    guard let unit = units.first(where: { $0.name == name }), decimals.count <= 9,
      let whole = Int64(Substring(digits)), let part = Int64(Substring(decimals)),
      whole < 1_000_000_000
    else { return nil }
    let scale = decimals.reduce(Int64(1)) { scale, _ in scale * 10 }
    let (milliseconds, remainder) = (part * unit.milliseconds).quotientAndRemainder(
      dividingBy: scale)
    guard remainder == 0 else { return nil }
    return text(of: .milliseconds(whole * unit.milliseconds + milliseconds))
  }
}

extension UInt8 {
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension DurationText.ParseError {
  static let units = "the units are d, h, m, s and ms, as in \"1h30m\""

  /// - Parameter allowsZero: Whether the duration may be zero, unlike a limit.
  func expectation(allowsZero: Bool) -> String {
    switch self {
    case .withoutUnit(let number): "expected a duration like \"\(shortened(number))s\""
    case .lastWithoutUnit(let number): "expected a unit after \(shortened(number))"
    case .malformed, .unknownUnit, .fraction: "expected a duration like \"30s\""
    case .unitOutOfOrder: "expected each unit once, from the largest to the smallest"
    case .negative where allowsZero: "expected a duration, or \"0s\" for none"
    case .negative, .zero: "expected a duration greater than zero"
    case .tooLong: "expected at most \(DurationText.text(of: WorkflowLimits.longestDuration))"
    }
  }

  func help(allowsZero: Bool) -> String? {
    switch self {
    case .unknownUnit(let unit): "\(quoted(unit)) is not a unit; \(DurationText.ParseError.units)"
    case .fraction(let text?): "write \"\(text)\""
    case .fraction(nil): "write whole numbers: \"1500ms\" for one and a half seconds"
    case .malformed, .withoutUnit, .lastWithoutUnit, .unitOutOfOrder: DurationText.ParseError.units
    case .negative where allowsZero, .tooLong where allowsZero: nil
    case .negative, .zero, .tooLong: "omit the key for no limit"
    }
  }
}

/// Durations for people to read; truncated and never rounded up, so that 59.99 s is not a minute.
package enum ShownDuration {
  /// `85 ms`, `1.2 s`, `1 m 05 s`, `2 h 03 m`, `30 d 02 h`.
  package static func precise(_ duration: Duration) -> String {
    let milliseconds = milliseconds(duration)
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    if milliseconds < 60_000 { return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s" }
    return coarse(duration)
  }

  /// Like ``precise(_:)``, but in whole seconds, for a display that changes once a second.
  package static func coarse(_ duration: Duration) -> String {
    let seconds = milliseconds(duration) / 1000
    let minutes = seconds / 60
    let hours = minutes / 60
    if minutes == 0 { return "\(seconds) s" }
    if hours == 0 { return "\(minutes) m \(twoDigits(seconds % 60)) s" }
    if hours < 24 { return "\(hours) h \(twoDigits(minutes % 60)) m" }
    return "\(hours / 24) d \(twoDigits(hours % 24)) h"
  }

  /// `00:12`, `1:02:03`, `720:00:00`.
  package static func clock(_ duration: Duration) -> String {
    let seconds = milliseconds(duration) / 1000
    let hours = seconds / 3600
    let rest = "\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
    return hours == 0 ? rest : "\(hours):\(rest)"
  }

  /// A configured limit: exact, in the largest unit that divides it.
  package static func limit(_ duration: Duration) -> String {
    let milliseconds = milliseconds(duration)
    for (unit, size) in DurationText.units.dropLast()
    where milliseconds >= size && milliseconds % size == 0 {
      return "\(milliseconds / size) \(unit)"
    }
    return precise(duration)
  }

  /// Treats a negative duration as zero: the clock went backwards.
  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = max(duration, .zero).components
    let limit = Int64.max / 1000 - 1
    return min(seconds, limit) * 1000 + attoseconds / 1_000_000_000_000_000
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
