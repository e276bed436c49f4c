import Testing
import WeftPlanning

/// Random runs of files in files, in several parts, each ended in a different way.
@Suite struct NestedFileTests {
  @Test("finally of a file runs whose failure at its start was tolerated", arguments: [207])
  func pastDefectsStayFixed(seed: UInt64) throws {
    let made = NestedFiles.make(seed: seed)
    let plan = try #require(Planner.plan(made.workflow).plan)
    let run = try #require(SequencedRun(seed: seed, made))
    #expect(FileChecker(plan, run.parts).violations == [])
  }

  @Test(
    "a file that started runs its finally and its cleanups, and one that cannot start runs nothing")
  func filesEndAsTheyBegan() async {
    let runs = await Seeds.map { seed -> (ended: Int, failedAtStart: Int)? in
      let made = NestedFiles.make(seed: seed)
      guard let plan = Planner.plan(made.workflow).plan, let run = SequencedRun(seed: seed, made)
      else { return nil }
      if Seeds.isOne { run.report() }
      let checker = FileChecker(plan, run.parts)
      let violations = checker.violations + run.violations + run.disagreements
      if !violations.isEmpty {
        Issue.record(
          """
          seed \(seed): \(violations.prefix(5).joined(separator: "; "))
          again: WEFT_SEED=\(seed) swift test --filter NestedFileTests
          """)
      }
      return checker.counts
    }
    let ended = runs.map(\.ended).reduce(0, +)
    let failed = runs.map(\.failedAtStart).reduce(0, +)
    print("\(runs.count) runs of files: \(ended) ended with finally, \(failed) could not start")
    #expect(Seeds.count < Seeds.few || ended > Seeds.count / 2 && failed > Seeds.count / 20)
  }
}
