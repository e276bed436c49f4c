import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Pools in a run whose steps a test ends by hand, with a clock that it moves.
@Suite struct PooledRunTests {
  private static func workflow(_ pool: Pool, _ requests: [Int?]) -> Workflow {
    var workflow = Workflow(
      parallel: requests.enumerated().map { index, slots in
        var step = Step(StepID("s\(index)")!, run: "true")
        step.control.pools = slots.map { [PoolRequest(pool.name, slots: $0)] } ?? []
        return step
      })
    workflow.pools = [pool]
    return workflow
  }

  @Test func aPoolHoldsBesideTheRunsSlots() throws {
    let run = try RunHarness(Self.workflow(Pool("db", slots: 3), [2, 2, 1, nil]))
    #expect(run.running == ["s0", "s3"])
    run.executor.exit("s0")
    #expect(run.running == ["s1", "s2", "s3"])
  }

  @Test func aStepThatCannotStartSaysWhatItLacks() throws {
    let run = try RunHarness(Self.workflow(Pool("db", slots: 1), [1, 1, nil]))
    var reasons: [String: WaitReason] = [:]
    for event in try #require(run.subscription.takeAll()) {
      guard case .stepQueued(let step, _, let reason) = event.kind else { continue }
      reasons[step.text] = reason
    }
    #expect(reasons == ["s1": .pool("db", holders: [])], "the others start at once")
    let waiting = WaitingStep(
      StepAddress("s1"), .pool("db", holders: [StepAddress("s0")]))
    #expect(run.run.waitingSteps(atMost: 10) == WaitingSteps([waiting], count: 1))
    run.executor.exit("s0")
    #expect(run.run.waitingSteps(atMost: 10) == WaitingSteps())
  }

  @Test func aFailureAndACancellationGiveSlotsBack() throws {
    let run = try RunHarness(
      Self.workflow(Pool("db", slots: 1), [1, 1, 1]), onFailure: .continue)
    run.executor.exit("s0", code: 1)
    #expect(run.running == ["s1"])
    run.executor.end("s1", .stopped(nil))
    #expect(run.running == ["s2"])
  }

  @Test func aRateStartsStepsWhenItsTimeHasCome() throws {
    let pool = Pool("api", slots: 5, rate: Rate(count: 2, per: .seconds(60)))
    let run = try RunHarness(Self.workflow(pool, [1, 1, 1, 1, 1]))
    #expect(run.running == ["s0", "s1"])
    run.executor.exit("s0")
    run.time.advance(by: .seconds(30) - .nanoseconds(1))
    #expect(run.running == ["s1"])
    run.time.advance(by: .nanoseconds(1))
    #expect(run.running == ["s1", "s2"])
    #expect(run.time.scheduledCount == 1)
    run.time.advance(by: .seconds(90))
    #expect(run.running == ["s1", "s2", "s3", "s4"])
    #expect(run.time.scheduledCount == 0)
  }

  @Test func aRunThatEndsLeavesNoTimer() throws {
    let pool = Pool("api", slots: 5, rate: Rate(count: 1, per: .seconds(60)))
    let run = try RunHarness(Self.workflow(pool, [1, 1, 1]))
    run.executor.exit("s0", code: 1)
    #expect(run.run.completion.isSettled)
    #expect(run.time.scheduledCount == 0)
  }
}
