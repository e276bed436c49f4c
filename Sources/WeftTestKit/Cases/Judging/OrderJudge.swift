import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// Compares the order of steps, and what runs at once.
struct OrderJudge {
  private(set) var findings: CaseFindings
  private var record: CaseRecord { findings.record }

  init(_ findings: CaseFindings) { self.findings = findings }

  mutating func compare(_ expected: TestExpectations) {
    for pattern in expected.neverStarts {
      findings.checkElement(pattern)
      for address in findings.matching(pattern.value) where !record.spans(of: address).isEmpty {
        findings.report(
          "\(findings.subject(address)) started after \(shown(record.spans(of: address)[0].start)), "
            + "expected that it never starts", at: pattern.range)
      }
    }
    for chain in expected.before {
      for (first, second) in zip(chain, chain.dropFirst()) { compare(first, before: second) }
    }
    for limit in expected.notBefore {
      for address in started(limit.name, limit.range) {
        let start = record.spans(of: address)[0].start
        guard start < limit.value else { continue }
        findings.report(
          "\(findings.subject(address)) started after \(shown(start)), expected not before "
            + shown(limit.value), at: limit.range)
      }
    }
    for limit in expected.atMostAtOnce {
      let holders = started(limit.name, limit.range).filter(findings.holdsSlot)
      let most = mostAtOnce(holders)
      guard most.steps.count > limit.value else { continue }
      let names = shortList(most.steps.map { "\"\($0)\"" })
      findings.report(
        "\(Count(most.steps.count, "step")) ran at once after \(shown(most.time)): \(names), "
          + "expected at most \(limit.value)", at: limit.range)
    }
  }

  private mutating func compare(_ first: Placed<String>, before second: Placed<String>) {
    let (earlier, later) = (
      allStarted(first.value, first.range), allStarted(second.value, second.range)
    )
    // Of many steps, only the two that started first can be too early for any other.
    let first = later.map { (address: $0, start: record.spans(of: $0)[0].first) }
      .sorted { $0.start < $1.start }.prefix(2)
    for early in earlier {
      guard let end = record.spans(of: early).last else { continue }
      let isLate = { (start: Int) in end.last.map { $0 > start } ?? true }
      guard first.contains(where: { $0.address != early && isLate($0.start) }),
        let late = later.first(where: {
          $0 != early && isLate(record.spans(of: $0)[0].first)
        })
      else { continue }
      let ending = end.end.map { "ended after \(shown($0))" } ?? "did not end"
      findings.report(
        "\(findings.subject(late)) started after \(shown(record.spans(of: late)[0].start)), and "
          + "\"\(early)\" \(ending), expected \"\(early)\" to end before", at: second.range)
      return
    }
  }

  /// The matching steps that started; if there is none, that is reported.
  private mutating func started(_ pattern: String, _ range: SourceRange) -> [StepAddress] {
    let found = findings.matching(pattern).filter { !record.spans(of: $0).isEmpty }
    if found.isEmpty {
      findings.report("\"\(pattern)\" never started", at: range, help: findings.neighbours(pattern))
    }
    return found
  }

  /// The matching steps, all of which must have started.
  private mutating func allStarted(_ pattern: String, _ range: SourceRange) -> [StepAddress] {
    let found = started(pattern, range)
    guard !found.isEmpty else { return found }
    let idle = findings.matching(pattern).first { record.spans(of: $0).isEmpty }
    if let idle, let end = record.end(of: idle) {
      findings.report("\(findings.subject(idle)) \(end.text), expected that it starts", at: range)
    }
    return found
  }

  /// The most steps that ran at once, and the time at which they first did.
  private func mostAtOnce(_ steps: [StepAddress]) -> (steps: [StepAddress], time: Duration) {
    let spans = steps.flatMap { step in record.spans(of: step).map { (step: step, span: $0) } }
    let changes =
      spans.map { ($0.span.first, 1, $0.span.start) }
      + spans.compactMap { item in item.span.last.map { ($0, -1, Duration.zero) } }
    var (now, most, peak, time) = (0, 0, 0, Duration.zero)
    for (position, change, start) in changes.sorted(by: { $0.0 < $1.0 }) {
      now += change
      if now > most { (most, peak, time) = (now, position, start) }
    }
    let running = spans.filter { $0.span.first <= peak && ($0.span.last ?? .max) > peak }
    return (most > 0 ? running.map(\.step) : [], time)
  }
}
