import Synchronization
import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Reports of orphans.
@Suite struct RunOrphansTests {
  /// An executor whose steps leave a process that cannot be killed, and whose run leaves one that can.
  private final class StubbornExecutor: StepExecutor {
    let containment: WeftEvents.ContainmentLevel? = .subreaper
    let held = Promise<RunOrphans, Never>(ifDropped: .success(RunOrphans()))
    let asked = Mutex<[StopLevel]>([])

    func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
      let undying = LeftoverProcess(process: Int32(attempt.index + 70), command: "dd")
      return Future(value: AttemptEnd(.ended(.code(0)), unkillable: [undying]))
    }

    func finish(stop: StopSwitch) -> Future<RunOrphans, Never> {
      asked.withLock { $0.append(stop.level) }
      return held.future.map { orphans in
        self.asked.withLock { $0.append(stop.level) }
        return orphans
      }
    }
  }

  private func start(_ executor: StubbornExecutor) throws -> (RunEngine, EventSubscription) {
    let (plan, _) = Planner.plan(Workflow(steps: [Step("a", run: "a"), Step("b", run: "b")]))
    var subscription: EventSubscription?
    let run = RunEngine.start(try #require(plan), executor: executor, time: ManualTime()) {
      subscription = $0.subscribe()
    }
    return (run, try #require(subscription))
  }

  @Test("K14: what could not be killed is told by step and by run, and is a promise not kept")
  func unkillableProcessesBreakAPromise() throws {
    let executor = StubbornExecutor()
    let (run, subscription) = try start(executor)
    // The last step has ended; the run has not.
    #expect(run.report.end == nil)
    var orphans = RunOrphans()
    orphans.leftovers = [LeftoverProcess(process: 80, command: "httpd")]
    orphans.unkillable = [LeftoverProcess(process: 81, command: "nfs")]
    executor.held.succeed(orphans)
    let end = try #require(run.report.end)
    #expect(end.leftovers.map(\.process) == [80])
    #expect(end.unkillable.map(\.process) == [70, 71, 81])
    #expect(
      run.engineFault == "could not kill processes of steps: 70 (dd), 71 (dd), 81 (nfs)")
    let ends = (subscription.takeAll() ?? []).compactMap { event in
      if case .stepFinished(_, let end) = event.kind { end.unkillable.map(\.process) } else { nil }
    }
    #expect(ends == [[70], [71]])
    #expect(run.report.start.containment == .subreaper)
  }

  @Test func killingTheRunHurriesItsEnd() throws {
    let executor = StubbornExecutor()
    let (run, _) = try start(executor)
    run.killNow()
    executor.held.succeed(RunOrphans())
    #expect(executor.asked.withLock { $0 } == [StopLevel.none, .now])
    #expect(run.report.end != nil)
  }
}
