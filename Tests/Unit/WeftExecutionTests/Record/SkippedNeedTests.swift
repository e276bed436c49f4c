import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A step that was cleaned up, and that only steps need which conditions have skipped: it runs again if one of the
/// conditions may be true now.
@Suite struct SkippedNeedTests {
  private static func step(_ id: String) -> Step { Step(StepID(stringLiteral: id), run: [id]) }

  private static let kinds: [(String, Step)] = [
    ("step", step("report")),
    ("loop", step("report").forEach(["x", "y"])),
    ("group", Step("report", steps: [step("inner")])),
    ("retried group", Step("report", steps: [step("inner")]).retry(1)),
    ("group loop", Step("report", steps: [step("inner")]).forEach(["x"])),
    ("race", Step("report", race: [step("inner"), step("other")])),
    ("file", Step("report", workflow: Workflow(steps: [step("inner")]))),
  ]

  private func workflow(_ kind: String, if condition: String) throws -> Workflow {
    var report = try #require(SkippedNeedTests.kinds.first { $0.0 == kind }).1
      .if(Condition(stringLiteral: condition))
    report.needs = ["base", "flag"]
    return Workflow(
      parallel: [
        SkippedNeedTests.step("base").cleanup(Step("drop", run: ["drop"])),
        SkippedNeedTests.step("flag"), report,
      ])
  }

  /// The steps that a resumed run starts after its cleanup has failed.
  private func resumed(
    _ workflow: Workflow, rerunning steps: Set<String> = []
  ) throws -> [String] {
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["drop"]).ran == ["base", "flag", "drop"])
    let rerun = RerunSelection(addresses: Set(steps.map { StepAddress($0) }))
    let last = try run.run(workflow, rerunning: rerun)
    #expect(last.outcome == .success)
    return last.ran
  }

  @Test("X13: a condition that stays false needs nothing", arguments: kinds.map(\.0))
  func aFalseConditionNeedsNothing(kind: String) throws {
    #expect(try resumed(workflow(kind, if: "run.id == 'other'")) == ["drop"])
  }

  @Test("X13: the run may be cancelled now", arguments: kinds.map(\.0))
  func aConditionMayAskAboutTheEnd(kind: String) throws {
    #expect(try resumed(workflow(kind, if: "cancelled()")) == ["base", "drop"])
  }

  @Test("X13: a condition may read a step that runs again", arguments: kinds.map(\.0))
  func aConditionMayReadWhatRunsAgain(kind: String) throws {
    let workflow = try workflow(kind, if: "steps.flag.outcome == 'failure'")
    #expect(try resumed(workflow, rerunning: ["flag"]) == ["base", "flag", "drop"])
  }
}
