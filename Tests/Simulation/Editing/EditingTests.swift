import Testing

/// Random runs whose workflows are edited between their parts.
@Suite struct EditingTests {
  @Test(
    arguments: [
      ("the members of a group run again because it is parallel now", 31),
      ("a step is moved into a group that is done, and never runs", 60),
      ("a step is added to a group that is done, and its failure is lost", 542),
    ] as [(String, UInt64)])
  func pastDefectsStayFixed(_ found: String, seed: UInt64) throws {
    let run = try #require(EditedRun(seed: seed))
    #expect(run.violations == [], "\(found)")
  }

  @Test("what is done and unchanged does not run again, and everything else does once")
  func editedRunsRunWhatHasChanged() async {
    let runs = await Seeds.map { seed -> (edits: Int, kept: Int)? in
      guard let run = EditedRun(seed: seed) else { return nil }
      if Seeds.isOne { run.report() }
      if !run.violations.isEmpty {
        Issue.record(
          """
          seed \(seed): \(run.violations.prefix(5).joined(separator: "; "))
          again: WEFT_SEED=\(seed) swift test --filter EditingTests
          """)
      }
      return (run.edits, run.kept)
    }
    let edits = runs.map(\.edits).reduce(0, +)
    let kept = runs.map(\.kept).reduce(0, +)
    print("\(runs.count) edited runs, \(edits) edits, \(kept) commands kept")
    #expect(Seeds.count < Seeds.few || edits > Seeds.count && kept > Seeds.count)
  }
}
