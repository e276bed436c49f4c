import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The measured durations of a run's steps.
struct MeasuringTests {
  private func harness(_ workflow: Workflow) throws -> RunHarness {
    try RunHarness(workflow) {
      $0.measuresDurations = true
      $0.resources.approver = SilentPerson()
    }
  }

  /// The durations that a later run would know, each as `address milliseconds×times`.
  private func learnt(_ harness: RunHarness) throws -> [String] {
    let measures = try #require(harness.run.measures)
    let history = DurationHistory().adding(
      measures, of: harness.run.plan, succeeded: harness.run.report.succeeded)
    return history.entries.map { "\($0.address) \($0.step.typical / 1000)×\($0.step.times)" }
  }

  @Test func durationsAreMeasuredOnlyOnRequest() throws {
    let harness = try RunHarness(Workflow(steps: [Step("a", run: "true")]))
    harness.executor.exit("a")
    #expect(harness.run.measures == nil && harness.run.remainingTime == nil)
  }

  @Test func aStepThatSucceededIsMeasuredWithoutItsWaiting() throws {
    let harness = try harness(Workflow(steps: [Step("a", run: "true"), Step("b", run: "true")]))
    harness.time.move(to: .milliseconds(30))
    harness.executor.exit("a")
    harness.time.move(to: .milliseconds(50))
    harness.executor.exit("b")
    #expect(try learnt(harness) == ["a 30×1", "b 20×1"])
  }

  @Test func failedOrExcludedStepIsNotMeasured() throws {
    let harness = try harness(
      Workflow(steps: [
        Step("a", run: "true"), Step("never", run: "true").if("false"), Step("b", run: "false"),
        Step("c", run: "true"),
      ]))
    harness.time.move(to: .milliseconds(30))
    harness.executor.exit("a")
    harness.executor.exit("b", code: 1)
    #expect(try learnt(harness) == ["a 30×1"])
  }

  @Test func lastAttemptOfARetriedStepIsMeasured() throws {
    var step = Step("a", run: "true")
    step.control.retry = [RetryPolicy(max: 1, delay: .seconds(60), jitter: .none)]
    let harness = try harness(Workflow(steps: [step]))
    harness.time.move(to: .milliseconds(30))
    harness.executor.exit("a", code: 1)
    harness.time.advance(by: .seconds(60))
    let began = harness.time.now
    harness.time.move(to: began + .milliseconds(7))
    harness.executor.exit("a")
    #expect(try learnt(harness) == ["a 7×1"])
  }

  @Test func aServiceIsMeasuredUntilItIsReadyForTheFirstTime() throws {
    var command = Command(.program(["serve"]))
    command.service = Command.Service(ready: .tcp("127.0.0.1:1"), restarts: 1)
    let harness = try harness(Workflow(steps: [Step("db", command), Step("test", run: "true")]))
    harness.time.move(to: .milliseconds(30))
    harness.executor.beReady("db")
    harness.executor.exit("db", code: 1)
    harness.time.advance(by: .seconds(1))
    harness.time.advance(by: .seconds(2))
    harness.executor.beReady("db")
    harness.executor.exit("test")
    harness.executor.exit("db")
    #expect(try learnt(harness) == ["db 30×1", "test 3000×1"])
  }

  @Test func elementsAreMeasuredTogether() throws {
    let elements = JSONValue.array((0..<3).map { .number(JSONNumber($0)) })
    var step = Step("up", run: "true")
    step.control.fanOut = .forEach(ForEach(in: .values(elements)))
    let harness = try harness(Workflow(steps: [step]))
    for (index, moment) in [10, 20, 60].enumerated() {
      harness.time.move(to: .milliseconds(moment))
      harness.executor.exit("up[\(index)]")
    }
    #expect(try learnt(harness) == ["up 30×3"])
  }

  @Test func approvalTimeIsNotMeasured() throws {
    let harness = try harness(
      Workflow(steps: [Step("ask", approve: "really?"), Step("a", run: "true")]))
    harness.time.move(to: .seconds(500))
    harness.run.answer(StepAddress("ask"), .approved(by: "me"))
    harness.executor.exit("a")
    #expect(try learnt(harness) == ["a 0×1"])
  }
}
