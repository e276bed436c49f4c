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
  private static let units: [(name: String, milliseconds: Int64)] = [
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
