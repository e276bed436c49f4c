import TestSupport
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Graphs of many steps, in debug builds too, on the stack of one of the engine's own threads.
@Suite(.serialized) struct LargeGraphTests {
  /// Runs `workflow` on a thread with 512 KiB of stack, and releases everything there.
  private func report(
    _ workflow: @escaping @Sendable () -> Workflow, failing: Set<Int> = []
  ) async throws -> RunReport {
    let promise = Promise<RunReport?, Never>(ifDropped: .success(nil))
    let threads = ThreadPool()
    try threads.submit {
      guard let plan = Planner.plan(workflow()).plan else {
        promise.succeed(nil)
        return
      }
      let executor = ImmediateExecutor { attempt in
        .ended(.code(failing.contains(attempt.index) ? 1 : 0))
      }
      let run = RunEngine.start(plan, executor: executor, time: ManualTime())
      promise.succeed(run.report)
    }
    return try #require(await promise.future.value)
  }

  @Test("G02: a chain of very many steps runs, and is released, without using the stack")
  func aLongChainRuns() async throws {
    let report = try await report {
      Workflow(steps: (0..<largeCount).map { _ in Step(run: "true") })
    }
    #expect(report.end?.counts.succeeded == largeCount)
  }

  @Test("G03: one step, very many side by side, one step")
  func aWideFanRuns() async throws {
    let report = try await report {
      let wide = (0..<largeCount).map { _ in Step(run: "true") }
      return Workflow(steps: [Step(run: "true"), Step(parallel: wide), Step(run: "true")])
    }
    #expect(report.end?.counts.succeeded == largeCount + 2)
  }

  @Test("G04: a failure at the root skips all dependants, each because of the root")
  func aFailureAtTheRootSkipsEverything() async throws {
    let report = try await report(
      {
        let wide = (0..<largeCount / 2).map { _ in Step(run: "true") }
        let long = (0..<largeCount / 2).map { _ in Step(run: "true") }
        return Workflow(
          steps: [Step("root", run: "false"), Step(parallel: wide), Step(steps: long)],
          onFailure: .continue)
      }, failing: [0])
    #expect(report.end?.counts.skipped == largeCount)
    let reasons = report.steps.dropFirst().filter {
      $0.state == .skipped(.dependencyFailed(StepAddress("root")))
    }
    #expect(reasons.count == largeCount)
  }

  @Test("W20: a file of very many steps and ten times as many needs is read and planned")
  func aLargeFileIsReadAndPlanned() {
    let count = largeCount
    var text = #"{"parallel":["#
    for step in 0..<count {
      let needs = (1...10).map { "\"s\(step - $0)\"" }
      text += step == 0 ? "" : ",\n"
      text += #"{"id":"s\#(step)","run":"true""#
      text += step < 10 ? "}" : #","needs":[\#(needs.joined(separator: ","))]}"#
    }
    text += "]}"
    let file = SourceFile(path: "large.json", bytes: Array(text.utf8))
    let (workflow, problems) = WorkflowDecoder.decode(file)
    #expect(problems.isEmpty)
    let plan = workflow.flatMap { Planner.plan($0).plan }
    #expect(plan?.steps.count == count)
    #expect(plan?.dependencies.count == 10 * (count - 10))
  }
}
