import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct GroupEndRunTests {
  @Test func theFirstSuccessWinsARace() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("r", race: [Step("a", run: ["a"]), Step("b", run: ["b"]), Step("c", run: ["c"])]),
        Step("z", run: ["z", "${{ steps.r.winner }}"]),
      ]))
    run.executor.exit("a", code: 1)
    #expect(run.running == ["b", "c"])
    run.executor.exit("c")
    #expect(run.executor.isStopping("b"))
    run.executor.end("b", .stopped(nil))
    #expect(run.running == ["z"])
    #expect(run.executor.attempts[0].resolved.command?.invocation == .program(["z", "c"]))
    run.executor.exit("z")
    #expect(run.run.report.succeeded)
  }

  @Test func aRaceThatAllLoseFails() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("r", race: [Step("a", run: ["a"]), Step("b", run: ["b"])])]))
    run.executor.exit("a", code: 1)
    run.executor.exit("b", code: 2)
    #expect(run.run.report.end?.outcome == .failure)
    #expect(run.run.report.end?.firstFailure?.text == "a")
  }

  @Test func aGroupThatWaitsForSomeEndsTheOthers() throws {
    var group = StepGroup(
      .parallel, [Step("a", run: ["a"]), Step("b", run: ["b"]), Step("c", run: ["c"])])
    group.join = .atLeast(2)
    let run = try RunHarness(Workflow(steps: [Step(id: "g", action: .group(group))]))
    run.executor.exit("a")
    run.executor.exit("b")
    #expect(run.executor.isStopping("c"))
    run.executor.end("c", .stopped(nil))
    #expect(run.run.report.succeeded)
  }

  @Test func cleanupsRunInReverseBeforeFinally() throws {
    var workflow = Workflow(steps: [
      Step("a", run: ["a"]).cleanup(Step(run: ["ca"])),
      Step("b", run: ["b"]).cleanup(Step(run: ["cb"])),
      Step("c", run: ["c"]).cleanup(Step(run: ["cc"])),
    ])
    workflow.finally = [Step("f", run: ["f"])]
    let run = try RunHarness(workflow)
    run.executor.exit("a")
    run.executor.exit("b", code: 1)
    #expect(run.running == ["b.cleanup"])
    run.executor.exit("b.cleanup")
    #expect(run.running == ["a.cleanup"])
    run.executor.exit("a.cleanup", code: 9)
    #expect(run.running == ["f"])
    run.executor.exit("f")
    #expect(run.run.report.end?.firstFailure?.text == "b")
  }

  @Test func aGroupsAttemptIsCleanedUpBeforeTheNext() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("a", run: ["a"]).cleanup(Step(run: ["c"])), Step("b", run: ["b"])])
          .retry(RetryPolicy(max: 1, delay: .seconds(1), jitter: .none))
      ]))
    run.executor.exit("a")
    run.executor.exit("b", code: 1)
    #expect(run.running == ["a.cleanup"])
    run.executor.exit("a.cleanup")
    #expect(run.running == [])
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["a"])
  }

  @Test func aFailingCleanUpFailsTheRun() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("a", run: ["a"]).cleanup(Step(run: ["c"]))]))
    run.executor.exit("a")
    run.executor.exit("a.cleanup", code: 1)
    #expect(run.run.report.end?.outcome == .failure)
    #expect(run.run.report.end?.firstFailure?.text == "a.cleanup")
  }

  @Test func finallyRunsAfterACancellationWithinItsOwnLimit() throws {
    var workflow = Workflow(steps: [Step("a", run: ["a"])])
    workflow.finally = [Step("f", run: ["f"]), Step("g", run: ["g"])]
    let run = try RunHarness(workflow)
    run.run.cancel(.requested)
    run.executor.end("a", .stopped(nil))
    #expect(run.running == ["f"])
    #expect(!run.executor.isStopping("f"))
    run.time.advance(by: .seconds(300))
    #expect(run.executor.isStopping("f"))
    run.executor.end("f", .stopped(nil))
    #expect(run.running == [])
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func killingAlsoEndsFinally() throws {
    var workflow = Workflow(steps: [Step("a", run: ["a"]).cleanup(Step(run: ["c"]))])
    workflow.finally = [Step("f", run: ["f"])]
    let run = try RunHarness(workflow)
    run.run.killNow()
    run.executor.end("a", .stopped(nil))
    #expect(run.running == [])
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func aStepWaitsForATimeWithoutASlot() throws {
    let run = try RunHarness(
      Workflow(parallel: [Step("w", wait: .seconds(5)), Step("a", run: ["a"])]), maxParallel: 1)
    #expect(run.running == ["a"])
    run.executor.exit("a")
    run.time.advance(by: .seconds(5))
    #expect(run.run.report.succeeded)
  }

  @Test func computedWaitReportsItsLength() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step("w", wait: .computedDuration(Condition("${{ steps.a.stdout }}"))),
      ]))
    run.executor.write("90s", from: "a")
    run.executor.exit("a")
    #expect(run.newEvents().contains("w waits for 90.0 seconds"))
    run.time.advance(by: .seconds(90))
    #expect(run.run.report.succeeded)
  }

  @Test func aFailureEndsWaiting() throws {
    let run = try RunHarness(
      Workflow(parallel: [Step("w", wait: .seconds(5)), Step("a", run: ["a"])]))
    run.executor.exit("a", code: 1)
    #expect(run.states == ["w: cancelled", "a: failure"])
  }

  @Test func aCleanUpThatFailsIsNotTheCauseOfWhatFailedInALoop() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("a", run: ["a"]).cleanup(Step(run: ["c"]))]).forEach(["x"])
      ]))
    run.executor.exit("g[0].a", code: 1)
    run.executor.exit("g[0].a.cleanup", code: 1)
    #expect(run.run.report.end?.firstFailure?.text == "g[0].a")
  }
}
