import WeftEvents
import WeftExecution

@testable import WeftReporting

/// The output of a reporter, in pieces.
struct Collected {
  private(set) var writes: [[UInt8]] = []

  var bytes: [UInt8] { writes.flatMap(\.self) }
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Shows a whole run, all events of one moment at once, and a redraw whenever one is due.
  static func of(
    _ run: ScriptedRun, _ settings: DisplaySettings, labels: StepLabels = StepLabels(),
    size: DisplaySize = DisplaySize(columns: 80, rows: 24)
  ) -> Collected {
    var reporter = Reporter(settings, labels: labels)
    var collected = Collected()
    func handle(_ events: [RunEvent], at now: Duration) {
      reporter.handle(
        events, now: now, size: { size }, log: run.log, write: { collected.writes.append($0) })
    }
    var rest = run.events[...]
    while let now = rest.first?.elapsed {
      while let due = reporter.nextRedraw, due < now { handle([], at: due) }
      let batch = rest.prefix { $0.elapsed == now }
      rest = rest.dropFirst(batch.count)
      handle(Array(batch), at: now)
    }
    return collected
  }
}
