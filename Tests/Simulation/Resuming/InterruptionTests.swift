import Testing
import WeftDefinition
import WeftEvents
import WeftExecution

/// Random runs of commands of which each says what follows if it is interrupted, resumed with `--rerun-interrupted`,
/// `--skip-interrupted` or neither.
@Suite struct InterruptionTests {
  @Test("X30: a step in doubt runs again only on request, and what is counted as done stays so")
  func interruptedStepsEndAsRequested() async {
    let runs = await Seeds.map { seed -> (failed: Int, accepted: Int)? in
      guard let run = SequencedRun(seed: seed, .interruptions) else { return nil }
      if Seeds.isOne { run.report() }
      let checker = InterruptionChecker(run.made, run.parts)
      let violations =
        checker.violations + run.violations + run.disagreements
        + ResumeChecker(run.made, run.parts).violations
        + ProgressChecker(run.made, run.parts).violations
        + ServiceChecker(run.made, run.parts).violations
        + RerunChecker(run.made, run.parts).violations
        + DecisionChecker(run.made, run.parts).violations
        + ErrorChecker(run.made, run.parts).violations
      if !violations.isEmpty {
        Issue.record(
          """
          seed \(seed): \(violations.prefix(5).joined(separator: "; "))
          again: WEFT_SEED=\(seed) swift test --filter InterruptionTests
          """)
      }
      return checker.counts
    }
    let failed = runs.map(\.failed).reduce(0, +)
    let accepted = runs.map(\.accepted).reduce(0, +)
    print("\(runs.count) sequences, \(failed) failures in doubt, \(accepted) counted as done")
    #expect(Seeds.count < Seeds.few || failed > Seeds.count / 20 && accepted > Seeds.count / 10)
  }
}
