import WeftEvents
import WeftJSON
import WeftPlatform
package import WeftRecord

/// Recorded runs as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Unknown values are
/// omitted. Durations are whole microseconds.
package enum RunListJSON {
  package static let format = 1

  /// Returns indented JSON with a line end.
  package static func rendered(_ runs: [RunListEntry]) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.beginObject()
    writer.member("format", format)
    writer.key("runs")
    writer.beginArray()
    for run in runs { write(run, to: &writer) }
    writer.endArray()
    writer.endObject()
    writer.endLine()
    return writer.bytes
  }

  private static func write(_ run: RunListEntry, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("run", run.run.text)
    writer.member("state", run.state.rawValue)
    if let time = run.startedAt { writer.member("startedAt", time.wireText) }
    if let name = run.workflow { writer.member("workflow", name) }
    if let file = run.file { writer.member("file", file) }
    if !run.inputs.isEmpty {
      writer.key("inputs")
      writer.beginArray()
      for input in run.inputs {
        writer.beginObject()
        writer.member("name", input.name)
        if let value = input.value {
          writer.key("value")
          writer.value(value)
        }
        writer.endObject()
      }
      writer.endArray()
    }
    if let duration = run.duration { writer.member("durationUs", duration.microseconds) }
    if let count = run.stepCount { writer.member("steps", count) }
    if run.state != .damaged {
      writer.key("counts")
      writer.beginObject()
      for (name, count) in run.counts.named { writer.member(name, count) }
      writer.endObject()
    }
    if let damage = run.damage { writer.member("damage", damage) }
    writer.endObject()
  }
}

extension WallTime {
  /// RFC 3339 with milliseconds, in UTC.
  var wireText: String { Timestamp(nanoseconds: nanoseconds).description }
}

extension Duration {
  /// The whole microseconds, truncated.
  var microseconds: Int {
    let (seconds, attoseconds) = components
    let limit = Int64.max / 1_000_000 - 1
    return Int(min(max(seconds, -limit), limit) * 1_000_000 + attoseconds / 1_000_000_000_000)
  }
}

extension OutcomeCounts {
  /// The counts in their fixed order.
  var named: [(StaticString, Int)] {
    [
      ("succeeded", succeeded), ("failed", failed), ("tolerated", tolerated),
      ("cancelled", cancelled), ("skipped", skipped),
    ]
  }
}
