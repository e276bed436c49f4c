import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RetryRunTests {
  private let exactly = RetryPolicy(max: 2, delay: .seconds(10), factor: 1, jitter: .none)

  @Test func anAttemptThatFailsIsFollowedByAnotherAfterThePause() throws {
    let run = try RunHarness(Workflow(steps: [Step("a", run: ["a"]).retry(exactly)]))
    run.executor.exit("a", code: 1)
    #expect(run.states == ["a: retrying after 1"])
    run.time.advance(by: .seconds(9))
    #expect(run.running == [])
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["a"])
    run.executor.exit("a")
    #expect(run.run.report.succeeded)
    guard case .finished(let end) = run.run.report.steps[0].state else {
      Issue.record("a has not finished")
      return
    }
    #expect(end.attempts == 2)
  }

  @Test func aStepThatWaitsForItsNextAttemptHoldsNoSlot() throws {
    let run = try RunHarness(
      Workflow(parallel: [Step("a", run: ["a"]).retry(exactly), Step("b", run: ["b"])]),
      maxParallel: 1)
    run.executor.exit("a", code: 1)
    #expect(run.running == ["b"])
  }

  @Test func lastFailureCountsAfterAllAttempts() throws {
    let run = try RunHarness(Workflow(steps: [Step("a", run: ["a"]).retry(exactly)]))
    for code in 1...3 {
      run.executor.exit("a", code: code)
      run.time.advance(by: .seconds(10))
    }
    #expect(run.states == ["a: failure"])
    guard case .finished(let end) = run.run.report.steps[0].state else { return }
    #expect(end.exit == .code(3))
    #expect(end.notRetried == "all 2 retries have been used")
  }

  @Test("X41: a step cancelled between two attempts ends without another start")
  func aCancelledRunEndsThePause() throws {
    let run = try RunHarness(Workflow(steps: [Step("a", run: ["a"]).retry(exactly)]))
    run.executor.exit("a", code: 1)
    run.run.cancel(.requested)
    #expect(run.states == ["a: cancelled"])
    #expect(run.run.report.end?.outcome == .cancelled)
    #expect(run.time.scheduledCount == 0)
    let ends = run.newEvents().filter {
      $0.hasPrefix("a started") || $0.hasPrefix("a c") || $0.hasPrefix("a r")
    }
    #expect(ends == ["a started", "a retrying after 1", "a cancelled"])
  }

  @Test func aFailureElsewhereEndsThePauseAndTheFailureStands() throws {
    let run = try RunHarness(
      Workflow(parallel: [Step("a", run: ["a"]).retry(exactly), Step("b", run: ["b"])]))
    run.executor.exit("a", code: 1)
    run.executor.exit("b", code: 1)
    #expect(run.states == ["a: failure", "b: failure"])
    #expect(run.run.report.end != nil)
  }

  @Test func aGroupIsTriedAgainAsAWhole() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("a", run: ["a"]), Step("b", run: ["b"])]).retry(exactly),
        Step("c", run: ["c"]),
      ]))
    run.executor.exit("a")
    run.executor.exit("b", code: 1)
    #expect(run.running == [])
    run.time.advance(by: .seconds(10))
    #expect(run.running == ["a"])
    run.executor.exit("a")
    run.executor.exit("b")
    #expect(run.running == ["c"])
    run.executor.exit("c")
    #expect(run.run.report.succeeded)
    #expect(run.run.report.end?.counts.succeeded == 3)
    #expect(run.run.report.end?.counts.failed == 0)
  }

  @Test func aGroupThatFailsForGoodActsOutside() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("a", run: ["a"])]).retry(exactly), Step("c", run: ["c"]),
      ]))
    for _ in 0..<3 {
      run.executor.exit("a", code: 1)
      run.time.advance(by: .seconds(10))
    }
    #expect(run.states == ["a: failure", "c: skipped after a"])
    #expect(run.run.report.end?.firstFailure?.text == "a")
  }

  @Test func groupOutputsAreThoseOfTheLastAttempt() throws {
    var group = Step("g", steps: [Step("a", run: ["a"])]).retry(exactly)
    group.outputs = [OutputDeclaration("x", value: "${{ self.steps.a.stdout }}")]
    let run = try RunHarness(
      Workflow(steps: [group, Step("c", run: ["c", "${{ steps.g.outputs.x }}"])]))
    run.executor.write("first", from: "a")
    run.executor.exit("a", code: 1)
    run.time.advance(by: .seconds(10))
    run.executor.write("second", from: "a")
    run.executor.exit("a")
    #expect(
      run.executor.attempts.first?.resolved.command?.invocation == .program(["c", "second"]))
  }
}
