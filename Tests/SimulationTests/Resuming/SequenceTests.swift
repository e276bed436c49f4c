import Testing
import WeftDefinition
import WeftEvents
import WeftExecution

/// Random runs in several parts, each ended in a different way.
@Suite struct SequenceTests {
  private static let few = 500

  private static var seeds: ArraySlice<UInt64> {
    let seeds = SimulationTests.seeds
    return SimulationTests.number("WEFT_SEEDS") == nil ? seeds.prefix(few) : seeds[...]
  }

  @Test(
    "X02, X03, X04, X13: a run in several parts, each ended differently, gets all its work done")
  func everySequenceGetsThere() {
    var (parts, restored) = (0, 0)
    for seed in SequenceTests.seeds {
      guard let run = SequencedRun(seed: seed) else { continue }
      if SimulationTests.seeds.count == 1 { run.report() }
      parts += run.parts.count
      let safety = ResumeChecker(run.made, run.parts)
      restored += safety.restored
      let violations =
        safety.violations + ProgressChecker(run.made, run.parts).violations + run.violations
        + run.disagreements
      guard !violations.isEmpty else { continue }
      Issue.record(
        """
        seed \(seed): \(violations.prefix(5).joined(separator: "; "))
        again: WEFT_SEED=\(seed) swift test --filter SequenceTests
        """)
    }
    print("\(SequenceTests.seeds.count) sequences, \(parts) parts, \(restored) steps restored")
  }

  @Test("X02, X03, X28: a sequence gets all its work done in another file, too")
  func everySequenceGetsThereInAnotherFile() {
    var parts = 0
    for seed in SequenceTests.seeds {
      guard let run = SequencedRun(seed: seed, nested: true) else { continue }
      if SimulationTests.seeds.count == 1 { run.report() }
      parts += run.parts.count
      let violations = run.violations + run.disagreements
      guard !violations.isEmpty else { continue }
      Issue.record("seed \(seed): \(violations.prefix(5).joined(separator: "; "))")
    }
    print("\(SequenceTests.seeds.count) sequences in another file, \(parts) parts")
  }
}

extension SequencedRun {
  /// The differences between the end of the last part and the run that nothing disturbed.
  var violations: [String] {
    guard undisturbed.report.end?.outcome == .success, let last = parts.last else { return [] }
    guard last.end?.outcome == .success else {
      return [
        "the last part, in which nothing fails, ends as \(String(describing: last.end?.outcome)): "
          + "\(String(describing: last.end?.firstFailure))"
      ]
    }
    return []
  }
}
