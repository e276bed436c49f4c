package import WeftExecution
import WeftJSON
import WeftPlatform

/// Writes events as JSON Lines: one compact object each, as `schemas/event.schema.json` describes.
///
/// Every object begins with `n` (the sequence number), `at` (RFC 3339, UTC: the run's start plus the time elapsed on
/// a monotonic clock) and `type`. Durations are whole microseconds, and their names say so (`durationUs`). Unknown
/// values are omitted, never `null`. The order of members is fixed.
package struct EventJSON: Sendable {
  /// Written in the first line; it changes when a reader of the old format would misunderstand the new one.
  package static let format = 1

  /// The version of the writing program.
  let version: String
  var writer = JSONWriter(capacity: 4096)
  var clock = WireClock()

  /// - Parameter version: Weft's own version, written in the first line.
  package init(version: String) {
    self.version = version
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
    switch event.kind {
    case .runStarted(let start): clock.start(at: start.startedAt)
    case .snapshot(let report): clock.start(at: report.start.startedAt)
    case .stepQueued, .stepStarted, .stepOutput, .stepRetrying, .stepFinished, .stepSkipped,
      .stepRestored, .stepCached, .stepAsking, .stepWaiting, .groupStarted, .groupRetrying,
      .groupFinished, .runWarning, .runCancelling, .runFinished, .runWaiting, .outputDropped:
      break
    }
    begin(event.kind.wireName, event.sequence, after: event.elapsed)
    writeMembers(of: event.kind)
    writer.endObject()
    writer.endLine()
  }
}

extension EventJSON {
  /// Writes the common beginning of every line.
  mutating func begin(_ type: String, _ number: UInt64, after elapsed: Duration) {
    writer.beginObject()
    writer.member("n", Int(clamping: number))
    writer.member("at", clock.text(after: elapsed))
    writer.member("type", type)
  }
}

extension RunEvent.Kind {
  /// The event's `type` in JSON.
  package var wireName: String {
    switch self {
    case .runStarted: "run.started"
    case .stepQueued: "step.queued"
    case .stepStarted: "step.started"
    case .stepAsking: "step.asking"
    case .stepWaiting: "step.waiting"
    case .stepOutput: "step.output"
    case .stepRetrying: "step.retrying"
    case .stepFinished: "step.finished"
    case .stepSkipped: "step.skipped"
    case .stepRestored: "step.restored"
    case .stepCached: "step.cached"
    case .groupStarted: "group.started"
    case .groupRetrying: "group.retrying"
    case .groupFinished: "group.finished"
    case .runWarning: "run.warning"
    case .runCancelling: "run.cancelling"
    case .runFinished: "run.finished"
    case .runWaiting: "run.waiting"
    case .outputDropped: "output.dropped"
    case .snapshot: "run.snapshot"
    }
  }
}

/// Formats times of a run. For speed, each text is built once: many events share a millisecond, and nearly all a
/// second.
struct WireClock: Sendable {
  private var start: Timestamp?
  private var second: Int64 = .min
  private var millisecond: Int64 = .min
  /// `2026-11-20T23:36:05.`
  private var secondText = ""
  private var text = ""

  mutating func start(at time: WallTime) {
    start = Timestamp(nanoseconds: time.nanoseconds)
  }

  mutating func text(after elapsed: Duration) -> String {
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
  static func text(of time: WallTime) -> String {
    Timestamp(nanoseconds: time.nanoseconds).description
  }
}
