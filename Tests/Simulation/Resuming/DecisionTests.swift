import Testing
import WeftDefinition
import WeftEvents
import WeftExecution

/// Random runs with many races and joins of commands, approvals and waits, that are suspended, cancelled and killed.
@Suite struct DecisionTests {
  @Test("a member starts in a race that was won in an earlier part", arguments: [100])
  func pastDefectsStayFixed(seed: UInt64) throws {
    let run = try #require(LeftRun(seed: seed, .races, approvesAll: true, isDisturbed: true))
    #expect(DecisionChecker(run.made, run.parts).violations == [])
  }

  @Test("a race or join that was decided stays decided, however its run is interrupted")
  func decisionsStay() async {
    let runs = await Seeds.map { seed -> Int? in
      let yes = seed % 2 == 0
      guard let left = LeftRun(seed: seed, .races, approvesAll: yes, isDisturbed: seed % 3 > 0),
        let sequence = SequencedRun(seed: seed, .races)
      else { return nil }
      var (violations, decisions) = (sequence.violations + sequence.disagreements, 0)
      violations += AnswerChecker(left.parts).violations
      for (made, parts) in [(left.made, left.parts), (sequence.made, sequence.parts)] {
        let checker = DecisionChecker(made, parts)
        decisions += checker.decisions
        violations += checker.violations + ResumeChecker(made, parts).violations
        violations += ServiceChecker(made, parts).violations
        violations += RerunChecker(made, parts).violations
        violations += ErrorChecker(made, parts).violations
      }
      violations += ProgressChecker(sequence.made, sequence.parts).violations
      if let simulation = Simulation(seed: seed, .races) {
        violations += RunChecker(simulation).violations
      }
      if Seeds.isOne {
        left.report()
        sequence.report()
      }
      if !violations.isEmpty {
        Issue.record(
          """
          seed \(seed): \(violations.prefix(5).joined(separator: "; "))
          again: WEFT_SEED=\(seed) swift test --filter DecisionTests
          """)
      }
      return decisions
    }
    print(
      "\(runs.count) runs with races, \(runs.reduce(0, +)) of which were decided in an earlier part"
    )
    #expect(Seeds.count < Seeds.few || runs.reduce(0, +) > Seeds.count / 4)
  }
}
