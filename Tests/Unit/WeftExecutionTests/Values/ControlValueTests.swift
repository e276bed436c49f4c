import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// Values in conditions, retries and races while a run is under way.
struct ControlValueTests {
  @Test func aConditionReadsTheStepsOwnVariables() throws {
    let run = try ValueRun(
      """
      { "steps": [
        { "id": "plain", "env": { "V": "a" }, "if": "env.V == 'a'", "run": ["x"] },
        { "id": "looped", "env": { "V": "a" }, "if": "env.V == 'b'", "forEach": { "in": [1] }, "run": ["x"] },
        { "id": "each", "env": { "V": "${{ item }}" }, "if": "env.V == 'b'",
          "forEach": { "in": ["a", "b"] }, "run": ["x", "${{ item }}"] },
        { "id": "group", "env": { "V": "a" }, "if": "env.V == 'a'", "steps": [{ "id": "in", "run": ["x"] }] },
        { "id": "groups", "env": { "V": "${{ item }}" }, "if": "env.V == 'a'", "forEach": { "in": ["a", "b"] },
          "steps": [{ "id": "deep", "run": ["x", "${{ item }}"] }] }
      ] }
      """)
    let ran = Set(run.started.keys)
    #expect(ran == ["plain", "each", "in", "deep"])
    #expect(run.started["each"]?.command?.invocation == .program(["x", "b"]))
    #expect(run.started["deep"]?.command?.invocation == .program(["x", "a"]))
  }

  @Test func aGroupIsTriedAsOftenAsAnInputSays() throws {
    let plan = try boundPlan(
      """
      { "inputs": { "n": { "type": "integer" }, "d": { "type": "string" } }, "steps": [
        { "id": "g", "steps": ["true"],
          "retry": { "max": "${{ inputs.n }}", "delay": "${{ inputs.d }}", "within": "1h", "factor": 3 } }
      ] }
      """, inputs: ["n": 4, "d": "5s"]
    ).plan
    #expect(
      plan.groups[1].step?.control.retry == [
        RetryPolicy(max: 4, delay: .seconds(5), factor: 3, within: .seconds(3600))
      ])
  }

  @Test func aWinnerIsCalledAsTheFileCallsItInEveryElement() throws {
    let run = try ValueRun(
      """
      { "steps": [
        { "id": "g", "forEach": { "in": [1, 2] }, "race": [{ "id": "p", "run": ["x"] }, { "id": "q", "run": ["y"] }] },
        { "id": "r", "run": ["z", "${{ steps.g.results[1].winner }}"] }
      ] }
      """)
    #expect(run.started["r"]?.command?.invocation == .program(["z", "p"]))
  }

  @Test(arguments: [
    ("self.steps.x.exitCode == 3", 2), ("self.steps.x.exitCode == null", 1),
    ("self.steps.h.steps.y.outputs.o == 'v' && self.outcome == 'failure'", 2),
    ("self.steps.h.outcome != 'success'", 1),
  ])
  func theRetryOfAGroupDependsOnItsMembers(_ condition: String, attempts: Int) async throws {
    let plan = try boundPlan(
      """
      { "steps": [{ "id": "g", "retry": { "max": 1, "delay": "1ms", "when": "\(condition)" }, "steps": [
        { "id": "h", "steps": [{ "id": "y", "run": ["true"], "outputs": { "o": "v" } }] }, { "id": "x", "run": "exit 3" }] }] }
      """
    ).plan
    let run = try await RealRun(plan)
    let starts = run.events.count { event in
      guard case .stepStarted(let step, _, _) = event.kind else { return false }
      return step.text == "x"
    }
    #expect(starts == attempts)
  }
}
