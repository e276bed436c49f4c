import WeftDefinition
import WeftDiagnostics
import WeftPlanning

/// Checks the interruptions of a case and its resumptions.
enum InterruptionChecker {
  static func check(_ facts: CaseFacts, _ findings: inout CheckFindings) {
    let testCase = facts.testCase
    let engines = [testCase.interruptions] + testCase.resumptions.map(\.interruptions)
    for interruptions in engines { check(interruptions, facts, &findings) }
    let sweeps = engines.joined().filter(\.isSweep)
    if sweeps.count > 1 {
      findings.reportImpossible(
        "the case is interrupted at each record twice", at: sweeps[1].range,
        help: "write a number instead of \"each\", or another case",
        related: ("the first is here", sweeps[0].range))
    }
    for name in testCase.resumptions.flatMap(\.rerun) {
      // As for `weft resume --rerun`: of single elements, or of all.
      if StepAddress(parsing: name.value)?.hasElement == true {
        findings.find(name)
      } else {
        _ = findings.findInPlan(name)
      }
    }
  }

  private static func check(
    _ interruptions: [TestInterruption], _ facts: CaseFacts, _ findings: inout CheckFindings
  ) {
    for (index, interruption) in interruptions.enumerated() {
      switch interruption.moment {
      case .start(let step), .end(let step):
        let found = findings.find(step)
        if !found.isEmpty, found.allSatisfy(facts.isExcluded) {
          findings.reportImpossible(
            "\(quoted(step.value)) is not selected in this case, so it does not start",
            at: step.range)
        }
      case .time, .record: break
      }
      for other in interruptions[..<index] {
        if other.moment == interruption.moment, other.act.value == interruption.act.value {
          findings.reportImpossible(
            "the run is interrupted twice in the same way at the same moment",
            at: interruption.range, related: ("the first is here", other.range))
        }
      }
      let crash = interruptions.first { $0.ends(before: interruption) }
      if let crash {
        findings.reportImpossible(
          "the engine is gone before that: nothing is interrupted", at: interruption.range,
          help: "interrupt the engine that resumes the run: "
            + "\"resume\": { \"interrupt\": { … } }",
          related: ("it crashes here", crash.range))
      }
    }
  }
}

extension TestInterruption {
  /// Whether its crash comes for sure before the moment of another interruption.
  fileprivate func ends(before other: TestInterruption) -> Bool {
    guard act.value == .crash else { return false }
    return switch (moment, other.moment) {
    case (.time(let own), .time(let other)): own < other
    case (.record(let own?), .record(let other?)): own < other
    case (.time, _), (.record, _), (.start, _), (.end, _): false
    }
  }
}

extension TestInterruption.Moment {
  fileprivate static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.time(let one), .time(let other)): one == other
    case (.record(let one), .record(let other)): one == other
    case (.start(let one), .start(let other)), (.end(let one), .end(let other)):
      one.value == other.value
    default: false
    }
  }
}
