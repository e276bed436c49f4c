import WeftDefinition
import WeftEvents
import WeftJSON
import WeftPlanning
import WeftRecord
import WeftReporting

/// A run in the trace event format (JSON object form), as Perfetto, chrome://tracing and speedscope read it.
///
/// A track for each slot has the attempts; attempts without a slot have tracks of their own, and waits are asynchronous
/// spans. Arrows lead along the critical path, and counters show running steps, slots and pools. Times are microseconds
/// since the run began, without the time between its engines. The source of the rules is the document "Trace Event
/// Format" of the Chromium project.
struct TraceReport {
  private enum Track: Int {
    case slots = 1
    case others, waits
  }

  /// More points of a counter than this are thinned out.
  private static let counterLimit = 20_000

  private let run: ReportedRun
  private var json = JSONWriter(capacity: 1 << 16)
  /// The ends of the attempts in the tracks of those without a slot.
  private var otherTracks: [Int] = []

  init(_ run: ReportedRun) {
    self.run = run
  }

  func rendered() -> [UInt8] {
    var report = self
    report.write()
    return report.json.bytes
  }

  private mutating func write() {
    json.beginObject()
    json.member("displayTimeUnit", "ms")
    json.key("otherData")
    json.beginObject()
    json.member("run", run.detail.run.text)
    json.member("workflow", run.masked(run.title))
    json.member("state", run.detail.state.rawValue)
    json.member("startedAt", run.recorded.startedAt.map(WireClock.text(of:)))
    json.list("incomplete", run.gaps.map(run.shown))
    json.endObject()
    json.key("traceEvents")
    json.beginArray()
    writeNames()
    let ends = writeSpans()
    writeParts()
    writeArrows(ends)
    writeCounters()
    json.endArray()
    json.endObject()
    json.endLine()
  }

  // MARK: Names

  private mutating func writeNames() {
    name(.slots, "slots of \(run.masked(run.title))")
    name(.others, "without a slot")
    name(.waits, "waits")
    for lane in 0..<run.timeline.laneCount {
      json.object {
        $0.member("ph", "M")
        $0.member("name", "thread_name")
        $0.member("pid", Track.slots.rawValue)
        $0.member("tid", lane + 1)
        $0.object("args") { $0.member("name", "slot \(lane + 1)") }
      }
    }
  }

  private mutating func name(_ track: Track, _ name: String) {
    json.object {
      $0.member("ph", "M")
      $0.member("name", "process_name")
      $0.member("pid", track.rawValue)
      $0.object("args") { $0.member("name", name) }
    }
    json.object {
      $0.member("ph", "M")
      $0.member("name", "process_sort_index")
      $0.member("pid", track.rawValue)
      $0.object("args") { $0.member("sort_index", track.rawValue) }
    }
  }

  // MARK: Spans

  /// The place of an attempt, for arrows.
  private struct Place {
    var track: Track
    var thread: Int
    var span: TimelineSpan
  }

  /// Writes everything that steps did, and returns the last attempt of each; of a service until it was ready.
  private mutating func writeSpans() -> [Int: Place] {
    let critical = Set(run.chain)
    var last: [Int: Place] = [:]
    for (index, step) in run.timeline.steps.enumerated() {
      let name = run.shown(step.address.text)
      for (place, span) in step.spans.enumerated() {
        switch span.kind {
        case .slot, .group, .pool, .rate, .cluster, .backoff:
          write(wait: span, of: name, step, id: "\(index).\(place)")
        case .cached: write(cached: span, name)
        case .running, .serving, .asking, .sleeping:
          let track = span.lane == nil ? Track.others : .slots
          let thread = span.lane.map { $0 + 1 } ?? otherTrack(for: span)
          write(attempt: span, of: name, track, thread, isCritical: critical.contains(index))
          if span.beginsAttempt { last[index] = Place(track: track, thread: thread, span: span) }
        }
      }
    }
    return last
  }

  /// The first free track for an attempt without a slot.
  private mutating func otherTrack(for span: TimelineSpan) -> Int {
    let free = otherTracks.firstIndex { $0 <= span.start }
    if let free { otherTracks[free] = span.end } else { otherTracks.append(span.end) }
    return (free ?? otherTracks.count - 1) + 1
  }

  private mutating func write(
    attempt span: TimelineSpan, of name: String, _ track: Track, _ thread: Int, isCritical: Bool
  ) {
    let failure = span.failure.map { run.shown($0.message) }
    json.object {
      $0.member("ph", "X")
      $0.member("cat", span.kind.rawValue)
      $0.member("name", name)
      $0.member("pid", track.rawValue)
      $0.member("tid", thread)
      $0.member("ts", span.start)
      $0.member("dur", span.duration)
      $0.object("args") {
        $0.member("step", name)
        $0.member("attempt", span.attempt)
        $0.member("verdict", span.verdict?.rawValue)
        $0.member("failure", failure)
        if isCritical { $0.member("critical", true) }
      }
    }
  }

  private mutating func write(
    wait span: TimelineSpan, of name: String, _ step: RunTimeline.Step, id: String
  ) {
    let pools =
      span.kind == .pool || span.kind == .rate ? step.pools.map { run.shown($0.pool) } : []
    let kind =
      switch span.kind {
      case .group: "waits until its group has room"
      case .pool: "waits for a pool"
      case .rate: "waits for the rate of a pool"
      case .cluster: "waits for the cluster"
      case .backoff: "waits for the next attempt"
      default: "waits for a slot"
      }
    for (phase, time) in [("b", span.start), ("e", span.end)] {
      json.object {
        $0.member("ph", phase)
        $0.member("cat", span.kind.rawValue)
        $0.member("name", kind)
        $0.member("pid", Track.waits.rawValue)
        $0.member("tid", 1)
        $0.member("id", id)
        $0.member("ts", time)
        guard phase == "b" else { return }
        $0.object("args") {
          $0.member("step", name)
          $0.member("attempt", span.attempt)
          $0.list("pools", pools)
        }
      }
    }
  }

  private mutating func write(cached span: TimelineSpan, _ name: String) {
    writeInstant("\(name): cached", "cached", of: .others, at: span.start, scope: "p") {
      $0.member("step", name)
    }
  }

  private mutating func writeParts() {
    for part in run.timeline.parts.dropFirst() {
      writeInstant("resumed", "run", of: .slots, at: part.offset, scope: "g") {
        $0.member("startedAt", WireClock.text(of: part.startedAt))
      }
    }
  }

  /// - Parameter scope: `p` for the whole track, `g` for all tracks.
  private mutating func writeInstant(
    _ name: String, _ category: String, of track: Track, at time: Int, scope: String,
    _ arguments: (inout JSONWriter) -> Void
  ) {
    json.object {
      $0.member("ph", "i")
      $0.member("cat", category)
      $0.member("name", name)
      $0.member("pid", track.rawValue)
      $0.member("tid", 1)
      $0.member("ts", time)
      $0.member("s", scope)
      $0.object("args", arguments)
    }
  }

  // MARK: Arrows and counters

  private mutating func writeArrows(_ ends: [Int: Place]) {
    for (number, (from, to)) in zip(run.chain, run.chain.dropFirst()).enumerated() {
      guard let source = ends[from], let target = ends[to] else { continue }
      // An arrow begins within its span: at the end, the next span of the track could be meant.
      let leaving = max(source.span.start, source.span.end - 1)
      write(arrow: "s", number, source, at: leaving)
      write(arrow: "f", number, target, at: max(leaving, target.span.start))
    }
  }

  private mutating func write(arrow phase: String, _ number: Int, _ place: Place, at time: Int) {
    json.object {
      $0.member("ph", phase)
      $0.member("cat", "critical path")
      $0.member("name", "critical path")
      $0.member("id", number + 1)
      $0.member("pid", place.track.rawValue)
      $0.member("tid", place.thread)
      $0.member("ts", time)
      if phase == "f" { $0.member("bp", "e") }
    }
  }

  private mutating func writeCounters() {
    var running = UsageSeries(name: "running steps")
    for step in run.timeline.steps {
      for span in step.spans where span.kind.isAttempt {
        running.use(from: span.start, to: span.end)
      }
    }
    running.finish()
    write(running, "running steps")
    write(run.timeline.slots, "slots")
    for pool in run.timeline.pools { write(pool, "pool \(run.masked(pool.name))") }
  }

  private mutating func write(_ series: UsageSeries, _ name: String) {
    let isThinned = series.points.count > TraceReport.counterLimit
    let step = isThinned ? run.timeline.duration / TraceReport.counterLimit : 0
    var next = 0
    for (index, point) in series.points.enumerated() {
      guard point.time >= next || index == series.points.count - 1 else { continue }
      next = point.time + step
      json.object {
        $0.member("ph", "C")
        $0.member("name", name)
        $0.member("pid", Track.slots.rawValue)
        $0.member("tid", 0)
        $0.member("ts", point.time)
        $0.object("args") { $0.member("used", point.used) }
      }
    }
  }
}
