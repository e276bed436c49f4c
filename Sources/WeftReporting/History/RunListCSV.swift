package import WeftEvents

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
