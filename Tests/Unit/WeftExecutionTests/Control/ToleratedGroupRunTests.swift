import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Steps outside of a group with `allowFailure` that need a step in it.
@Suite struct ToleratedGroupRunTests {
  @Test(arguments: [
    Step("after", run: ["after", "${{ steps.b.outcome }}"]),
    Step("after", run: ["after"], needs: ["b"]),
    Step("after", run: ["after"]).if("steps.b.outcome == 'failure'"),
    // It did not run, because of the tolerated failure.
    Step("after", run: ["after", "${{ steps.c.outcome }}"]),
    Step("outer", parallel: [Step("after", run: ["after"], needs: ["b"])]),
  ])
  func aToleratedFailureBlocksNothingOutside(after: Step) throws {
    let run = try RunHarness(Workflow(steps: [tolerating(.all), after]))
    run.executor.exit("b", code: 1)
    #expect(run.running == ["after"])
    run.executor.exit("after")
    #expect(run.run.report.end?.outcome == .success)
  }

  @Test func itCountsAsSuccessInConditionsOutside() throws {
    let run = try RunHarness(
      Workflow(steps: [
        tolerating(.all),
        Step("on-failure", run: ["x"], needs: ["b"]).if("failure()"),
        Step("on-success", run: ["y"], needs: ["b"]).if("success()"),
      ]))
    run.executor.exit("b", code: 1)
    #expect(run.running == ["on-success"])
  }

  @Test func aFailureBeforeTheGroupStillCounts() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step("g", steps: [Step("b", run: ["b"])], allowFailure: .all).if("always()"),
        Step("x", run: ["x"], needs: ["b"]).if("failure()"),
      ]))
    run.executor.exit("a", code: 1)
    run.executor.exit("b", code: 1)
    #expect(run.running == ["x"])
  }

  @Test(arguments: [FailureResponse.stop, .continue])
  func aFailureThatTheGroupDoesNotTolerateBlocks(onFailure: FailureResponse) throws {
    let run = try RunHarness(
      Workflow(steps: [
        tolerating(.classes([.exit(2)])),
        Step("after", run: ["after", "${{ steps.b.outcome }}"], needs: []),
      ]), onFailure: onFailure)
    run.executor.exit("b", code: 1)
    #expect(run.running.isEmpty)
    #expect(run.states.contains("after: skipped after b"))
  }

  @Test func theTimeLimitOfAGroupThatIsToleratedBlocksNothingOutside() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("b", run: ["b"])], timeout: .seconds(5), allowFailure: .all),
        Step("after", run: ["after", "${{ steps.b.outcome }}"]),
      ]))
    run.time.advance(by: .seconds(5))
    run.executor.end("b", .stopped(.signal("TERM")))
    #expect(run.running == ["after"])
  }

  /// A group with a step that fails, and one after it.
  private func tolerating(_ tolerance: FailureTolerance) -> Step {
    Step("g", steps: [Step("b", run: ["b"]), Step("c", run: ["c"])], allowFailure: tolerance)
  }
}
