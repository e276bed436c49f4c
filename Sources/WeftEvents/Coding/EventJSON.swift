import WeftEncoding
package import WeftJSON
import WeftPlatform

/// Writes events as JSON Lines: one compact object each, as `schemas/event.schema.json` describes.
///
/// Every object begins with `n` (the sequence number), `at` (RFC 3339, UTC: the run's start plus the time elapsed on
/// a monotonic clock) and `type`. Durations are whole microseconds, and their names say so (`durationUs`). Unknown
/// values are omitted, never `null`. The order of members is fixed.
package struct EventJSON: Sendable {
  /// Written in the first line; it changes when a reader of the old format would misunderstand the new one.
  package static let format = 1

  package let version: String
  package let isJournal: Bool
  package var writer: JSONWriter
  package var clock = WireClock()

  /// - Parameters:
  ///   - version: Weft's own version, written in the first line.
  ///   - isJournal: Whether records of a journal are written.
  package init(version: String, isJournal: Bool = false, style: JSONWriter.Style = .compact) {
    self.init(JSONWriter(style, capacity: 4096), version: version, isJournal: isJournal)
  }

  private init(_ writer: JSONWriter, version: String, isJournal: Bool) {
    self.version = version
    self.isJournal = isJournal
    self.writer = writer
  }

  /// Writes the line of one event in pieces, since a report can be long.
  package static func pass(
    _ event: RunEvent, version: String,
    to take: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
  ) {
    let writer = JSONWriter(capacity: 1 << 16, draining: take)
    var json = EventJSON(writer, version: version, isJournal: false)
    json.write(event)
    json.writer.withBytes(take)
  }

  /// Appends the lines of `events` to `bytes`. The very first event must be `runStarted` or `snapshot`.
  package mutating func append(_ events: [RunEvent], to bytes: inout [UInt8]) {
    append(events[...], to: &bytes)
  }

  package mutating func append(_ events: ArraySlice<RunEvent>, to bytes: inout [UInt8]) {
    for event in events { write(event) }
    writer.withBytes { bytes.append(contentsOf: $0) }
    writer.removeAll()
  }

  private mutating func write(_ event: RunEvent) {
    if let start = event.kind.runStart { clock.start(at: start) }
    begin(event.kind.traits.type, event.sequence, after: event.elapsed)
    var kind = event.kind
    kind.code(&self)
    endLine()
  }

  /// Writes the common beginning of every line.
  package mutating func begin(_ type: String, _ number: UInt64, after elapsed: Duration) {
    writer.beginObject()
    writer.member("n", Int(clamping: number))
    writer.member("at", clock.text(after: elapsed))
    writer.member("type", type)
  }

  package mutating func endLine() {
    writer.endObject()
    writer.endLine()
  }

  /// Writes the members of a record.
  package mutating func write(_ kind: RunRecord.Kind) {
    var kind = kind
    kind.code(&self)
  }

  /// Writes the members of a payload.
  package mutating func write(_ payload: some Payload) {
    var payload = payload
    payload.code(&self)
  }
}

extension EventJSON: EventCoder {
  package typealias Failure = Never

  package static var isReading: Bool { false }

  package var moment: WallTime { preconditionFailure("a writer is given all times") }

  package mutating func member(_ key: StaticString) { writer.key(key) }

  package mutating func member(_ key: StaticString, isPresent: Bool) -> Bool {
    if isPresent { writer.key(key) }
    return isPresent
  }

  package mutating func beginObject() { writer.beginObject() }
  package mutating func endObject() { writer.endObject() }

  package mutating func code(_ value: inout Int) { writer.int(value) }
  package mutating func code(_ value: inout Bool) { writer.bool(value) }
  package mutating func code(_ value: inout String) { writer.string(value) }
  package mutating func code(_ value: inout JSONValue) { writer.value(value) }
  package mutating func code(_ value: inout WallTime) { writer.string(WireClock.text(of: value)) }

  package mutating func code<Value: CodedValue>(_ values: inout [Value]) {
    writer.beginArray()
    for var value in values { value.codeValue(&self) }
    writer.endArray()
  }

  package mutating func code<Value: CodedValue>(_ members: inout [(key: String, value: Value)]) {
    writer.beginObject()
    for (key, var value) in members {
      writer.key(key)
      value.codeValue(&self)
    }
    writer.endObject()
  }

  package func failure(_ error: @autoclosure () -> RecordFormatError) -> Never {
    preconditionFailure("\(error()) in an event to be written")
  }
}

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
