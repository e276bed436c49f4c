import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftReporting

/// A step that took long, and what held it up.
struct SlowStep {
  /// Its index in the timeline.
  let step: Int
  /// The reason why it did not start earlier, as a clause: `waited 3.1 s for pool "db", after "migrate"`.
  let cause: String?
}

/// A step of the critical path.
struct ChainLink {
  /// Its index in the timeline.
  let step: Int
  /// The time of its attempts.
  let ran: Int
  /// The other time since the step before it ended.
  let waited: Int
}

extension ReportedRun {
  /// The steps of the critical path. Their times add up to that from the first one's readiness to the end.
  var links: [ChainLink] {
    var before: Int?
    return chain.map { index in
      let execution = timeline.steps[index].lastExecution
      let ran = execution.reduce(0) { $1.kind.isAttempt ? $0 + $1.duration : $0 }
      let (start, end) = (before ?? execution.first?.start ?? 0, execution.last?.end ?? 0)
      before = max(start, end)
      return ChainLink(step: index, ran: ran, waited: max(0, end - start - ran))
    }
  }

  /// The steps with the longest attempts in total, the longest first.
  func slowestSteps(_ count: Int = 10) -> [SlowStep] {
    let steps = timeline.steps.indices.map { ($0, timeline.steps[$0].runningTime) }
      .filter { $0.1 > 0 }
    return steps.sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1 > $1.1 }.prefix(count)
      .map { SlowStep(step: $0.0, cause: cause(of: $0.0)) }
  }

  /// The longest wait of a step, and the step that caused it; the dependency before it if it did not wait.
  func cause(of step: Int) -> String? {
    let execution = timeline.steps[step].lastExecution
    let waits = execution.filter(\.isForSlots)
    guard let wait = waits.max(by: { $0.duration < $1.duration }), wait.duration >= 10_000 else {
      return causes?.predecessor(of: step).map { "started after \(named($0))" }
    }
    let time = ShownDuration.precise(.microseconds(wait.duration))
    switch wait.kind {
    case .pool:
      let names = timeline.steps[step].pools.map { quoted($0.pool) }.joined(separator: ", ")
      let holder = holder(ofPoolsOf: step, until: wait.end)
      return "waited \(time) for pool \(names)" + (holder.map { ", held by \(named($0))" } ?? "")
    case .rate:
      let names = timeline.steps[step].pools.map { quoted($0.pool) }.joined(separator: ", ")
      return "waited \(time) for the rate of pool \(names)"
    case .group: return "waited \(time) until its group had room"
    default:
      let attempt = execution.first { $0.start >= wait.end && $0.kind.isAttempt }
      let before = attempt?.predecessor.map { ", after \(named($0))" }
      return "waited \(time) for a slot" + (before ?? "")
    }
  }

  /// The step whose slots of a pool became free last before this time.
  private func holder(ofPoolsOf step: Int, until time: Int) -> Int? {
    let wanted = Set(timeline.steps[step].pools.map(\.pool))
    var found: (step: Int, end: Int)?
    for (index, other) in timeline.steps.enumerated() where index != step {
      guard other.pools.contains(where: { wanted.contains($0.pool) }) else { continue }
      for span in other.spans where span.kind == .running && span.end <= time + 2000 {
        if span.end > found?.end ?? -1 { found = (index, span.end) }
      }
    }
    return found?.step
  }

  private func named(_ step: Int) -> String { quoted(timeline.steps[step].address.text) }
  private func quoted(_ text: String) -> String { "\"\(shown(text))\"" }
}
