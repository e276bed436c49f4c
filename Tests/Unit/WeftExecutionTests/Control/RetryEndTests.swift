import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RetryEndTests {
  private func waiting() throws -> RunHarness {
    let run = try RunHarness(
      Workflow(steps: [
        Step("a", run: ["a"])
          .retry(RetryPolicy(max: 1, delay: .seconds(60), jitter: .none))
      ]))
    run.executor.exit("a", code: 1)
    #expect(run.states == ["a: retrying after 1"])
    return run
  }

  @Test("K25: a cancelled run does not wait for the next attempt")
  func cancellingEndsTheWaiting() throws {
    let run = try waiting()
    run.run.cancel(.requested)
    #expect(run.states == ["a: cancelled"])
    #expect(run.run.report.end?.outcome == .cancelled)
    #expect(run.time.scheduledCount == 0)
  }

  @Test func retryStartsAfterExactlyItsDelay() throws {
    let run = try waiting()
    run.time.advance(by: .seconds(59))
    #expect(run.running == [])
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["a"])
  }

  /// A timer may fire before the slot of the last attempt is released.
  @Test func aStepMayWaitAgainBeforeItsSlotIsBack() throws {
    let (plan, _) = Planner.plan(Workflow(steps: [Step("a", run: ["a"])]))
    let slots = Slots(plan: try #require(plan), maxParallel: 1, time: ManualTime())
    let first = slots.acquire(0)
    #expect(first.isSettled)
    var second: Future<Slots.Response, Never>?
    postpone(Release(slots), 0)
    second = slots.acquire(0)
    #expect(second?.isSettled == true)
  }

  private final class Release: PostponedWorkOwner {
    private let slots: Slots

    init(_ slots: Slots) { self.slots = slots }

    func runPostponed(_ what: Int) { slots.release(what) }
  }
}

@Suite struct CleanupLimitTests {
  @Test func theTimeOfAGroupEndsWithItsMembers() throws {
    var group = Step("g", steps: [Step("a", run: ["a"]).cleanup(Step(run: ["c"]))])
    group.timeout = .seconds(10)
    let run = try RunHarness(Workflow(steps: [group, Step("b", run: ["b"])]))
    run.time.advance(by: .seconds(6))
    run.executor.exit("a")
    run.time.advance(by: .seconds(6))
    #expect(run.running == ["a.cleanup"])
    run.executor.exit("a.cleanup")
    #expect(run.running == ["b"])
    run.executor.exit("b")
    #expect(run.run.report.succeeded && run.time.scheduledCount == 0)
  }

  @Test("K24: a clean-up has a minute, a limit of its own, or what finally has for all")
  func finallyHasItsOwnLimits() throws {
    var workflow = Workflow(steps: [
      Step("a", run: ["a"]).cleanup(
        Step(run: ["default"]), Step(run: ["own"], timeout: .seconds(9)))
    ])
    workflow.finally = [Step("f", run: ["f"]), Step("g", run: ["g"])]
    let run = try RunHarness(workflow)
    run.executor.exit("a")
    #expect(run.executor.attempts.map(\.resolved.timeout) == [WorkflowLimits.cleanupTimeout])
    run.executor.exit("a.cleanup.1")
    #expect(run.executor.attempts.map(\.resolved.timeout) == [.seconds(9)])
    run.executor.exit("a.cleanup.2")
    #expect(run.running == ["f"])
    run.time.advance(by: WorkflowLimits.finallyTimeout)
    #expect(run.executor.isStopping("f"))
    run.executor.end("f", .stopped(nil))
    #expect(run.states.last == "g: cancelled: timeout of finally")
    #expect(run.run.report.end?.outcome == .failure)
    #expect(run.time.scheduledCount == 0)
  }
}
