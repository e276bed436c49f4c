import Testing
import WeftDefinition
import WeftEvents
import WeftExecution

/// Random runs in several parts, each ended in a different way.
@Suite struct SequenceTests {
  @Test(
    "X02, X03, X04, X13: a run in several parts, each ended differently, gets all its work done")
  func everySequenceGetsThere() async {
    let runs = await Seeds.map { seed -> (parts: Int, restored: Int)? in
      guard let run = SequencedRun(seed: seed) else { return nil }
      if Seeds.isOne { run.report() }
      let safety = ResumeChecker(run.made, run.parts)
      let violations =
        safety.violations + ProgressChecker(run.made, run.parts).violations + run.violations
        + ServiceChecker(run.made, run.parts).violations
        + RerunChecker(run.made, run.parts).violations
        + ErrorChecker(run.made, run.parts).violations + run.disagreements
      if !violations.isEmpty {
        Issue.record(
          """
          seed \(seed): \(violations.prefix(5).joined(separator: "; "))
          again: WEFT_SEED=\(seed) swift test --filter SequenceTests
          """)
      }
      return (run.parts.count, safety.restored)
    }
    let parts = runs.map(\.parts).reduce(0, +)
    let restored = runs.map(\.restored).reduce(0, +)
    print("\(Seeds.count) sequences, \(parts) parts, \(restored) steps restored")
  }

  @Test("X02, X03, X28: a sequence gets all its work done in another file, too")
  func everySequenceGetsThereInAnotherFile() async {
    let parts = await Seeds.map { seed -> Int? in
      guard let run = SequencedRun(seed: seed, nested: true) else { return nil }
      if Seeds.isOne { run.report() }
      let violations = run.violations + run.disagreements
      if !violations.isEmpty {
        Issue.record("seed \(seed): \(violations.prefix(5).joined(separator: "; "))")
      }
      return run.parts.count
    }
    print("\(Seeds.count) sequences in another file, \(parts.reduce(0, +)) parts")
  }
}

extension RunPart {
  /// Whether it fails of a value that cannot be computed, or of a request that never fits.
  fileprivate var failsByError: Bool {
    guard let cause = end?.firstFailure else { return false }
    return events.contains { event in
      switch event.kind {
      case .stepFinished(cause, let end):
        [[.expression], [.limit], [.output]].contains(end.failure?.classes)
      case .groupFinished(cause, let end):
        end.failsAtStart || end.cause == nil && end.failure?.classes == [.output]
      default: false
      }
    }
  }
}

extension SequencedRun {
  /// The differences between the end of the last part and the run that nothing disturbed.
  var violations: [String] {
    guard undisturbed.report.end?.outcome == .success, let last = parts.last else { return [] }
    // ``ErrorChecker`` knows whether it is right: failures that were tolerated in earlier parts are read.
    if last.failsByError { return [] }
    guard last.end?.outcome == .success else {
      return [
        "the last part, in which nothing fails, ends as \(String(describing: last.end?.outcome)): "
          + "\(String(describing: last.end?.firstFailure))"
      ]
    }
    return []
  }
}
