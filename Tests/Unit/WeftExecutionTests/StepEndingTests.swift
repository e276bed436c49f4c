import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Ways to end a step, with real programs.
@Suite struct StepEndingTests {
  @Test("K01: a time limit ends the step by TERM")
  func aTimeLimitEndsTheStep() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["sleep", "1000"]), timeout: .milliseconds(50))]))
    let end = try #require(run.end(of: "a"))
    #expect(end.outcome == .failure)
    #expect(end.failure?.classes == [.timeout])
    #expect(end.exit == .signal("TERM"))
  }

  @Test func aStepThatIsSilentForTooLongFailsAsAStall() async throws {
    var command = Command(.script("echo begun; sleep 1000"))
    command.stallTimeout = .milliseconds(80)
    let run = try await RealRun(Workflow(steps: [Step("a", command)]))
    let end = try #require(run.end(of: "a"))
    #expect(end.failure?.classes == [.stall])
    #expect(end.failure?.message == "wrote nothing for 80ms, so it was stopped")
    #expect(end.exit == .signal("TERM") && run.logs["a"] == "begun\n")
  }

  @Test(arguments: [FailureTolerance.classes([.stall]), .all])
  func aStallMayBeTolerated(tolerance: FailureTolerance) async throws {
    var command = Command(.program(["sleep", "1000"]))
    command.stallTimeout = .milliseconds(20)
    var step = Step("a", command)
    step.allowFailure = tolerance
    let run = try await RealRun(Workflow(steps: [step]))
    #expect(run.report.succeeded && run.end(of: "a")?.conclusion == .success)
  }

  @Test func aStepIsAskedToEndAsItWishes() async throws {
    // What a shell starts in the background ignores INT.
    var command = Command(
      .script("sleep 1000 & trap 'kill $!; echo got INT; exit 7' INT; wait"))
    command.stop = StopRequest(signal: "INT")
    let step = Step("a", command, timeout: .seconds(1))
    let run = try await RealRun(Workflow(steps: [step]))
    #expect(run.logs["a"] == "got INT\n")
    #expect(run.end(of: "a")?.exit == .code(7))
  }

  @Test func aStepWithoutAGraceIsKilledAtOnce() async throws {
    var command = Command(.script("trap '' TERM; sleep 1000 & wait"))
    command.stop = StopRequest(grace: .zero)
    let step = Step("a", command, timeout: .milliseconds(100))
    let run = try await RealRun(Workflow(steps: [step]))
    #expect(run.end(of: "a")?.exit == .signal("KILL"))
  }

  @Test(arguments: SignalName.ofStopping)
  func everySignalThatMayBeWrittenExistsHere(name: String) {
    let policy = StopPolicy(signal: .kill, grace: .zero)
    #expect(policy.following(StopRequest(signal: name)).signal.name == name)
    #expect(policy.following(StopRequest(signal: name)).grace == .zero)
    #expect(policy.following(nil) == policy)
  }
}
