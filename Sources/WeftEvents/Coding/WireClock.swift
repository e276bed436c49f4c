import WeftEncoding
import WeftPlatform

/// Formats times of a run. For speed, each text is built once: many events share a millisecond, and nearly all a
/// second.
package struct WireClock: Sendable {
  private var start: Timestamp?
  private var second: Int64 = .min
  private var millisecond: Int64 = .min
  /// `2026-11-20T23:36:05.`
  private var secondText = ""
  private var text = ""

  package mutating func start(at time: WallTime) {
    start = Timestamp(nanoseconds: time.nanoseconds)
  }

  package mutating func text(after elapsed: Duration) -> String {
    guard let start else { preconditionFailure("an event before the start of the run") }
    let moment = start.advanced(by: elapsed).nanoseconds
    let (cut, rest) = moment.quotientAndRemainder(dividingBy: 1_000_000)
    let millisecond = rest < 0 ? cut - 1 : cut
    if millisecond != self.millisecond { move(to: millisecond) }
    return text
  }

  private mutating func move(to millisecond: Int64) {
    self.millisecond = millisecond
    let fraction = (millisecond % 1000 + 1000) % 1000
    let second = (millisecond - fraction) / 1000
    if second != self.second {
      self.second = second
      // The earliest representable second starts before the earliest representable time.
      let (moment, overflows) = second.multipliedReportingOverflow(by: 1_000_000_000)
      let whole = Timestamp(nanoseconds: overflows ? .min : moment).description
      secondText = String(whole.dropLast("000Z".count))
    }
    let zeros = fraction < 10 ? "00" : fraction < 100 ? "0" : ""
    text = "\(secondText)\(zeros)\(fraction)Z"
  }

  /// Returns RFC 3339 with milliseconds.
  package static func text(of time: WallTime) -> String {
    Timestamp(nanoseconds: time.nanoseconds).description
  }
}

extension WallTime {
  /// Parses `2026-11-20T23:36:05.123Z`; `nil` for anything else.
  init?(wireText bytes: UnsafeRawBufferPointer) {
    guard bytes.count == WallTime.shape.utf8CodeUnitCount else { return nil }
    for (place, byte) in bytes.enumerated() {
      let wanted = WallTime.shape.utf8Start[place]
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      guard wanted == UInt8(ascii: "d") ? isDigit : byte == wanted else { return nil }
    }
    let number = { (range: Range<Int>) in
      bytes[range].reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    // The range of nanoseconds since 1970.
    guard (1970...2261).contains(year), (1...12).contains(month), (1...31).contains(day) else {
      return nil
    }
    let days = CivilDate(year: year, month: month, day: day).daysSince1970
    let seconds = days * 86_400 + number(11..<13) * 3600 + number(14..<16) * 60 + number(17..<19)
    self.init(nanoseconds: seconds * 1_000_000_000 + number(20..<23) * 1_000_000)
  }

  init?(wireText text: String) {
    var text = text
    guard let time = text.withUTF8({ WallTime(wireText: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = time
  }

  private static let shape: StaticString = "dddd-dd-ddTdd:dd:dd.dddZ"
}
