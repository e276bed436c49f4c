import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct ConditionRunTests {
  @Test func aStepWhoseConditionIsFalseHoldsNothingBack() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("a", run: ["a"]).if("false"), Step("b", run: ["b"])]))
    #expect(run.running == ["b"])
    #expect(run.states == ["a: skipped by if of a", "b: running"])
    run.executor.exit("b")
    #expect(run.run.report.succeeded)
  }

  @Test func aConditionIsReadWhenAllThatTheStepWaitsForHasEnded() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]), Step("b", run: ["b"]).if("steps.a.outcome == 'success'"),
      ]))
    #expect(run.running == ["a"])
    run.executor.exit("a")
    #expect(run.running == ["b"])
  }

  @Test func aGroupsConditionSkipsAllInIt() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step(
          "g",
          parallel: [Step("a", run: ["a"]), Step("b", run: ["b"]).if("always()")]
        ).if("false"),
        Step("c", run: ["c"]),
      ]))
    #expect(run.states == ["a: skipped by if of g", "b: skipped by if of g", "c: running"])
  }

  @Test func stepsThatLookAtFailuresStartUnderStop() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]), Step("b", run: ["b"]), Step("c", run: ["c"]).if("failure()"),
        Step("d", run: ["d"]).if("always()"), Step("e", run: ["e"]),
      ]))
    run.executor.exit("a", code: 1)
    #expect(run.running == ["c"])
    run.executor.exit("c")
    #expect(run.running == ["d"])
    run.executor.exit("d")
    #expect(
      run.states == [
        "a: failure", "b: skipped after a", "c: success", "d: success", "e: held back by a",
      ])
  }

  @Test func statusFunctionsReferToEarlierSteps() throws {
    let run = try RunHarness(
      Workflow(
        steps: [
          Step("a", run: ["a"]), Step("b", run: ["b"]).if("success() || true"),
          Step("c", run: ["c"]).if("failure() && success()"),
        ], onFailure: .continue))
    run.executor.exit("a", code: 1)
    #expect(run.running == ["b"])
    run.executor.exit("b")
    #expect(run.running == ["c"])
  }

  @Test func immuneStepIsNotCancelledWithTheRun() throws {
    let run = try RunHarness(
      Workflow(parallel: [
        Step("a", run: ["a"]), Step("b", run: ["b"]).if("always()"),
        Step("c", run: ["c"], needs: ["a"]).if("cancelled()"),
      ]))
    run.run.cancel(.requested)
    #expect(run.executor.isStopping("a"))
    #expect(!run.executor.isStopping("b"))
    run.executor.end("a", .stopped(nil))
    #expect(run.running.sorted() == ["b", "c"])
  }

  @Test func aConditionThatCannotBeEvaluatedFailsTheStep() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]), Step("b", run: ["b"]).if("fromJSON(steps.a.stdout).x"),
      ]))
    run.executor.write("{", from: "a")
    run.executor.exit("a")
    #expect(run.states == ["a: success", "b: failure"])
  }

  @Test(arguments: [
    "success()", "success() && true", "success() || steps.a.outcome == 'success'",
    "always() && success()",
  ])
  func aConditionThatOnlyLacksSuccessBlocksAsTheImpliedOneDoes(condition: Condition) throws {
    let run = try RunHarness(
      Workflow(
        parallel: [
          Step("a", run: ["a"]), Step("b", run: ["b"], needs: ["a"]).if(condition),
          Step("c", run: ["c"], needs: ["b"]),
        ], onFailure: .continue))
    run.executor.exit("a", code: 1)
    #expect(run.states == ["a: failure", "b: skipped after a", "c: skipped after a"])
  }

  @Test(arguments: ["success() && false", "!always() && success()"])
  func aConditionThatIsFalseBesidesBlocksNothing(condition: Condition) throws {
    let run = try RunHarness(
      Workflow(
        parallel: [
          Step("a", run: ["a"]), Step("b", run: ["b"], needs: ["a"]).if(condition),
          Step("c", run: ["c"], needs: ["b"]),
        ], onFailure: .continue))
    run.executor.exit("a", code: 1)
    #expect(run.states == ["a: failure", "b: skipped by if of b", "c: running"])
  }
}
