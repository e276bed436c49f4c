import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Groups that start despite failures or cancellations around them.
@Suite struct ImmunityRunTests {
  @Test(arguments: ["failure()", "always()"])
  func membersOfAnImmuneGroupAreNotBlocked(condition: String) throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step("g", steps: [Step("b", run: ["b"]), Step("c", run: ["c"])]).if(Condition(condition)),
        Step("d", run: ["d"]),
      ]))
    run.executor.exit("a", code: 1)
    #expect(run.running == ["b"])
    run.executor.exit("b")
    #expect(run.running == ["c"])
    run.executor.exit("c")
    #expect(run.states.last == "d: held back by a")
    #expect(run.run.report.end?.firstFailure?.text == "a")
  }

  @Test func readingTheFailureDoesNotBlockAnImmuneGroup() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step(
          "g", steps: [Step("b", run: ["b", "${{ steps.a.outcome }}"]), Step("c", run: ["c"])]
        ).if("failure()"),
      ]))
    run.executor.exit("a", code: 1)
    #expect(run.running == ["b"])
  }

  @Test(arguments: [FailureResponse.stop, .cancel])
  func failureInsideAnImmuneGroupBlocksItsRest(onFailure: FailureResponse) throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step(
          "g",
          parallel: [
            Step("b", run: ["b"]), Step("c", run: ["c"], needs: []),
            Step("d", run: ["d"], needs: ["c"]),
          ]
        ).if("failure()"),
      ]), onFailure: onFailure)
    run.executor.exit("a", code: 1)
    #expect(run.running == ["b", "c"])
    run.executor.exit("b", code: 2)
    #expect(run.executor.isStopping("c") == (onFailure == .cancel))
    run.executor.exit("c")
    #expect(run.states.last == "d: held back by b")
    #expect(run.run.report.end?.firstFailure?.text == "a")
    #expect(run.run.report.end?.counts.failed == 2)
  }

  @Test func aGroupForCancelledRunsRunsWhenTheRunIsCancelled() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step(
          "g", steps: [Step("b", run: ["b"]), Step("c", run: ["c"]).if("cancelled()")]
        ).if("always()"),
      ]))
    run.run.cancel(.requested)
    run.executor.end("a", .stopped(nil))
    #expect(run.running == ["b"])
    #expect(!run.executor.isStopping("b"))
    run.executor.exit("b")
    #expect(run.running == ["c"])
    run.executor.exit("c")
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func aGroupForFailuresEndsWhenTheRunIsCancelled() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step("g", steps: [Step("b", run: ["b"]), Step("c", run: ["c"])]).if("failure()"),
      ]))
    run.executor.exit("a", code: 1)
    run.run.cancel(.requested)
    #expect(run.executor.isStopping("b"))
    run.executor.end("b", .stopped(nil))
    #expect(run.states.last == "c: cancelled: requested")
  }

  @Test func immuneGroupIsRetried() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step("g", steps: [Step("b", run: ["b"]), Step("c", run: ["c"])])
          .retry(RetryPolicy(max: 1, delay: .seconds(1), jitter: .none)).if("failure()"),
      ]))
    run.executor.exit("a", code: 1)
    run.executor.exit("b", code: 1)
    #expect(run.running == [])
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["b"])
    run.executor.exit("b")
    #expect(run.running == ["c"])
  }

  @Test func aWaitThatIsAlwaysDoneIsCutShortByTheSecondRequestOnly() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step(id: "w", action: .wait(.duration(.seconds(60)))).if("always()"), Step("a", run: ["a"]),
      ]))
    run.run.cancel(.requested)
    #expect(run.states.first == "w: waiting")
    run.run.killNow()
    #expect(run.run.report.end?.outcome == .cancelled)
    #expect(run.states.first == "w: cancelled")
    #expect(run.time.scheduledCount == 0)
  }

  @Test func runContinuingDespiteAFailureCanBeCancelled() throws {
    let running = try RunHarness(Workflow(steps: [Step("a", run: ["a"]).if("always()")]))
    running.run.cancel(.requested)
    running.executor.exit("a")
    #expect(running.run.report.end?.outcome == .cancelled)

    let waiting = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("a", run: ["a"])]).retry(1),
        Step("b", run: ["b"]).if("always()"),
      ]))
    waiting.executor.exit("a", code: 1)
    waiting.run.cancel(.requested)
    waiting.executor.exit("b")
    #expect(waiting.run.report.end?.outcome == .cancelled)
  }

  @Test func aCancellationThatComesWhenAllHasEndedHasNotHappened() throws {
    var workflow = Workflow(steps: [Step("a", run: ["a"])])
    workflow.finally = [Step("f", run: ["f"])]
    let run = try RunHarness(workflow)
    run.executor.exit("a")
    run.run.cancel(.requested)
    run.executor.exit("f")
    #expect(run.run.report.end?.outcome == .success)
  }

  @Test func dependentOfAnInterruptedWaitIsCancelled() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step(
          "g",
          steps: [Step(id: "w", action: .wait(.duration(.seconds(60)))), Step("a", run: ["a"])]
        ).if("always()")
      ]))
    run.run.cancel(.signal("INT"))
    #expect(run.states == ["w: waiting", "a: pending"])
    run.run.killNow()
    #expect(run.states == ["w: cancelled", "a: cancelled: INT"])
    #expect(run.run.report.end?.outcome == .cancelled)
  }
}
