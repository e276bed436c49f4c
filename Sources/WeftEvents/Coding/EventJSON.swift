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
    self.version = version
    self.isJournal = isJournal
    writer = JSONWriter(style, capacity: 4096)
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
