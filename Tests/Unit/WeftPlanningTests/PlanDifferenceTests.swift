import Testing
import WeftDefinition

@testable import WeftPlanning

@Suite struct PlanDifferenceTests {
  @Test func textsForPeopleChangeNoStep() throws {
    func plan(_ text: String?) throws -> Plan {
      var (step, cleanup) = (Step("one", run: "true"), Step(run: "false"))
      (step.name, step.description) = (text, text)
      cleanup.description = text
      let steps = [step.cleanup(cleanup), Step(run: "true")]
      return try #require(Planner.plan(Workflow(steps: steps)).plan)
    }
    #expect(PlanDifference(from: try plan(nil), to: try plan("text")).isEmpty)
  }
}
