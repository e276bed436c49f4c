import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A step that was running when its engine was killed, and whose condition cannot be computed when the run is resumed.
@Suite struct DoubtfulConditionTests {
  private static func workflow() -> Workflow {
    var first = Step("a", run: ["a"])
    first.allowFailure = .all
    var step = Step("x", run: ["x"])
    step.control.condition = Condition(
      "fromJSON(steps.a.outcome == 'failure' && 'oops' || 'true')")
    return Workflow(steps: [first, step])
  }

  @Test("X30: it stays in doubt, and does not run again once its condition can be computed")
  func itStaysInDoubt() throws {
    let again = RerunSelection(addresses: [StepAddress("a")])
    var run = SplitRun()
    #expect(try run.run(Self.workflow(), killing: "x").ran == ["a", "x"])
    for failing in [["a"], []] as [Set<String>] {
      let part = try run.run(Self.workflow(), failing: failing, rerunning: again)
      #expect(part.ran == ["a"])
      #expect(part.outcome == .failure)
      #expect(run.recorded.inDoubt == [StepAddress("x")])
    }
  }

  @Test func itCountsAsDoneOnRequest() throws {
    var again = RerunSelection(addresses: [StepAddress("a")])
    again.accepted = [StepAddress("x")]
    var run = SplitRun()
    try run.run(Self.workflow(), killing: "x")
    let part = try run.run(Self.workflow(), failing: ["a"], rerunning: again)
    #expect(part.ran == ["a"])
    #expect(part.outcome == .success)
  }
}
