import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftTelemetry

/// Traces of the runs that seeds describe: their spans fold back to the report.
@Suite struct TracingTests {
  @Test func theSpansOfEveryRunFoldBackToItsReport() async {
    let counts = await Seeds.map { seed -> Int? in
      guard let simulation = Simulation(seed: seed) else { return nil }
      let folded = FoldedTrace(simulation)
      if !folded.violations.isEmpty {
        Issue.record("seed \(seed): \(folded.violations.prefix(5).joined(separator: "; "))")
      }
      return folded.spans.count
    }
    #expect(counts.reduce(0, +) > counts.count * 5)
  }
}

/// The spans of a run, compared with its events and its report.
private struct FoldedTrace {
  private(set) var spans: [Span] = []
  private(set) var violations: [String] = []

  init(_ simulation: Simulation) {
    let trace = RunTrace(
      inherited: nil, earlier: nil, seed: (simulation.seed, 1, simulation.seed))
    var fold = RunSpans(trace, simulation.plan)
    for event in simulation.events {
      fold.apply(event)
      spans += fold.takeEnded()
    }
    if fold.openCount > 0 { violations.append("\(fold.openCount) spans have not ended") }
    checkShape()
    checkAttempts(simulation.events)
    checkSteps(simulation.report)
    checkGroups(simulation.report)
  }

  private mutating func checkShape() {
    let known = Dictionary(spans.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    if known.count != spans.count { violations.append("two spans have one identity") }
    for span in spans where span["weft.span"] != .text("run") {
      guard let parent = span.parent.flatMap({ known[$0] }) else {
        violations.append("\(span.name) has no parent")
        continue
      }
      if span.start < parent.start || span.end > parent.end || span.end < span.start {
        violations.append("\(span.name) is outside of \(parent.name)")
      }
    }
  }

  /// Each start of an attempt has a span.
  private mutating func checkAttempts(_ events: [RunEvent]) {
    let started = events.count { event in
      if case .stepStarted = event.kind { true } else { false }
    }
    let attempts = spans.count { $0["weft.span"] == .text("attempt") }
    if attempts != started { violations.append("\(attempts) spans for \(started) attempts") }
  }

  /// The last span of each step or group.
  private func last(_ kind: String, where isMeant: (Span) -> Bool = { _ in true }) -> [String: Span]
  {
    var last: [String: Span] = [:]
    for span in spans where span["weft.span"] == .text(kind) && isMeant(span) {
      guard case .text(let address)? = span["weft.address"] else { continue }
      last[address] = span
    }
    return last
  }

  /// The addresses of steps or groups whose last span is in the last attempt of each group around it: no later attempt
  /// has made it void.
  private func current(_ kind: String) -> Set<String> {
    let lastGroups = Set(last("group").values.map(\.id))
    let known = Dictionary(spans.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return Set(
      last(kind) { span in
        var next = span.parent.flatMap { known[$0] }
        while let around = next {
          if around["weft.span"] == .text("group"), !lastGroups.contains(around.id) { return false }
          next = around.parent.flatMap { known[$0] }
        }
        return true
      }.keys)
  }

  private mutating func checkSteps(_ report: RunReport) {
    let last = last("step")
    for step in report.steps {
      let address = step.address.text
      switch step.state {
      case .finished(let end):
        check(address, last[address], end.outcome, end.conclusion, end.attempts)
        let attempts = spans.filter { $0.parent == last[address]?.id && $0["weft.attempt"] != nil }
        if let attempt = attempts.last, attempt.end - attempt.start != end.duration {
          violations.append("\(address) took \(attempt.end - attempt.start), not \(end.duration)")
        }
        // A step that was cancelled between two attempts has had one fewer.
        if attempts.count != end.attempts {
          violations.append("\(address) has \(attempts.count) attempts, not \(end.attempts)")
        }
      case .skipped(let reason):
        check(address, last[address], reason.outcome, reason.outcome, nil)
      case .cached(let end), .restored(let end):
        check(address, last[address], end.outcome, end.conclusion, end.attempts)
      case .pending: break
      case .queued, .running, .asking, .waiting, .retrying:
        violations.append("\(address) has not ended")
      }
    }
    let reported = Set(report.steps.map(\.address.text))
    let surplus = current("step").subtracting(reported)
    if !surplus.isEmpty { violations.append("\(surplus) have spans and no report") }
  }

  private mutating func checkGroups(_ report: RunReport) {
    let last = last("group")
    for group in report.groups {
      guard case .finished(let end) = group.state else { continue }
      check(
        group.address.text, last[group.address.text], end.outcome, end.conclusion, end.attempts)
    }
    let surplus = current("group").subtracting(report.groups.map(\.address.text))
    if !surplus.isEmpty { violations.append("groups \(surplus) have spans and no report") }
  }

  private mutating func check(
    _ address: String, _ span: Span?, _ outcome: Outcome, _ conclusion: Outcome, _ attempts: Int?
  ) {
    guard let span else {
      violations.append("\(address) has no span")
      return
    }
    let found = span["weft.conclusion"] ?? span["weft.outcome"]
    guard span["weft.outcome"] == .text(outcome.rawValue), found == .text(conclusion.rawValue),
      attempts.map({ span["weft.attempts"] == .number($0) }) ?? true
    else {
      violations.append("\(address) ended otherwise: \(span.attributes)")
      return
    }
  }
}
