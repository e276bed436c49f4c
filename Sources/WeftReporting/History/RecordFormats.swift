import WeftDiagnostics
public import WeftEvents
import WeftJSON
import WeftPlatform
import WeftRecord

/// The forms in which one recorded run, or the difference between two, is printed.
public enum RunDetailFormat: String, Sendable, Hashable, CaseIterable {
  /// For people.
  case text
  /// One object, for programs; its members have the same names as in events.
  case json
}

/// The forms in which a list of runs is printed.
public enum RunListFormat: String, Sendable, Hashable, CaseIterable {
  /// For people, in columns.
  case table
  /// One array, for programs.
  case json
  /// A row for each run, with a header (RFC 4180).
  case csv
}

extension DisplaySettings {
  /// Text that is neither coloured nor redrawn.
  package static let plainText = DisplaySettings(mode: .plain)
}

extension [RunListEntry] {
  /// Returns the list as `weft runs --format` prints it, in UTF-8.
  public func rendered(as format: RunListFormat) -> [UInt8] { rendered(as: format, .plainText) }

  package func rendered(as format: RunListFormat, _ settings: DisplaySettings) -> [UInt8] {
    switch format {
    case .json: RunListJSON.rendered(self)
    case .csv: [UInt8](RunListCSV.rendered(self).utf8)
    case .table:
      [UInt8](
        RunTable(settings, now: .now).rendered(self).utf8)
    }
  }
}

/// Recorded runs as comma-separated values (RFC 4180), for spreadsheets and programs: a header, then a line for each
/// run. Unknown values are empty.
package enum RunListCSV {
  private static let heads = [
    "run", "state", "startedAt", "durationUs", "steps", "succeeded", "failed", "tolerated",
    "cancelled", "skipped", "workflow", "file", "user", "damage",
  ]

  package static func rendered(_ runs: [RunListEntry]) -> String {
    ([heads] + runs.map(fields)).map(CSVRow.text).joined()
  }

  private static func fields(_ run: RunListEntry) -> [String] {
    let counts = run.state == .damaged ? nil : run.counts
    return [
      run.run.text, run.state.rawValue, run.startedAt.map(WireClock.text(of:)) ?? "",
      text(run.duration?.wholeMicroseconds), text(run.stepCount), text(counts?.succeeded),
      text(counts?.failed), text(counts?.tolerated), text(counts?.cancelled), text(counts?.skipped),
      run.workflow ?? "", run.file ?? "", run.user ?? "", run.damage ?? "",
    ]
  }

  private static func text(_ number: Int?) -> String { number.map(String.init) ?? "" }
}

/// A line of comma-separated values (RFC 4180).
///
/// Characters that the standard does not allow in a field, such as control characters and line ends, are escaped.
package enum CSVRow {
  /// Returns the line, with its end.
  package static func text(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// Prefixes a field that a spreadsheet would execute as a formula with `'`, which marks a text.
  private static func inert(_ field: String) -> String {
    field.first.map { "=+-@".contains($0) } == true ? "'" + field : field
  }

  private static func quoted(_ field: String) -> String {
    let field = inert(TerminalText.harmless(field))
    guard field.contains(where: { $0 == "," || $0 == "\"" }) else { return field }
    return "\""
      + field.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"") + "\""
  }
}

/// Recorded runs as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Unknown values are
/// omitted. Durations are whole microseconds.
package enum RunListJSON {
  package static let format = 1

  /// Returns indented JSON with a line end.
  package static func rendered(_ runs: [RunListEntry]) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", format)
      $0.array("runs") { for run in runs { write(run, to: &$0) } }
    }
    writer.endLine()
    return writer.bytes
  }

  private static func write(_ run: RunListEntry, to writer: inout JSONWriter) {
    writer.object {
      $0.member("run", run.run.text)
      $0.member("state", run.state.rawValue)
      if run.isToBeCancelled { $0.member("cancels", true) }
      $0.member("startedAt", run.startedAt.map(WireClock.text(of:)))
      $0.member("user", run.user)
      $0.member("workflow", run.workflow)
      $0.member("file", run.file)
      $0.values("inputs", run.inputs)
      $0.member("durationUs", run.duration?.wholeMicroseconds)
      $0.member("steps", run.stepCount)
      if run.state != .damaged {
        let counts = run.counts
        $0.object("counts") {
          $0.member("succeeded", counts.succeeded)
          $0.member("failed", counts.failed)
          $0.member("tolerated", counts.tolerated)
          $0.member("cancelled", counts.cancelled)
          $0.member("skipped", counts.skipped)
        }
      }
      $0.member("damage", run.damage)
    }
  }
}
