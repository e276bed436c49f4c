import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The start, progress and end of nested workflows, and failures in them.
@Suite struct NestedRunTests {
  private static func harness(
    _ main: String, _ child: String, onFailure: FailureResponse? = nil
  ) throws -> RunHarness {
    let files = WorkflowFiles(["main.json": main, "c.json": child])
    return try RunHarness(try files.workflow("main.json"), onFailure: onFailure)
  }

  private static let twoBesideEachOther = #"""
    {"parallel": [{"id": "c", "workflow": "c.json"}, {"id": "b", "run": ["b"]},
      {"id": "d", "needs": ["b"], "run": ["d"]}]}
    """#

  @Test func nestedStepsRunWithTheOthers() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}, {"id": "z", "run": ["z"]}]}"#,
      #"{"parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "needs": ["x"], "run": ["y"]}]}"#)
    #expect(run.running == ["c/x"])
    run.executor.exit("c/x")
    #expect(run.running == ["c/y"])
    run.executor.exit("c/y")
    #expect(run.running == ["z"])
    run.executor.exit("z")
    #expect(run.run.report.succeeded)
    #expect(
      run.newEvents().filter { $0.hasPrefix("c ") || $0.hasPrefix("group c") }.count == 2,
      "it is told of as one group, once when it begins and once when it ends")
  }

  @Test func aFailureActsWithinItsFileFirst() throws {
    let run = try Self.harness(
      Self.twoBesideEachOther,
      #"{"parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]},"#
        + #" {"id": "z", "needs": ["y"], "run": ["z"]}]}"#)
    run.executor.exit("c/x", code: 1)
    run.executor.exit("b")
    // The file has not failed as a whole while one of its steps runs.
    #expect(run.running == ["c/y", "d"])
    run.executor.exit("c/y")
    run.executor.exit("d")
    #expect(run.states.contains("c/z: held back by c/x"))
    #expect(run.run.report.end?.firstFailure?.text == "c/x")
  }

  @Test(arguments: FailureResponse.allCases)
  func nestedFileKeepsItsOwnFailurePolicy(response: FailureResponse) throws {
    let run = try Self.harness(
      Self.twoBesideEachOther,
      #"{"onFailure": "\#(response.rawValue)", "parallel": [{"id": "x", "run": ["x"]},"#
        + #" {"id": "y", "run": ["y"]}, {"id": "z", "needs": ["y"], "run": ["z"]}]}"#)
    run.executor.exit("c/x", code: 1)
    #expect(run.executor.isStopping("c/y") == (response == .cancel))
    #expect(!run.executor.isStopping("b"))
    if response == .cancel {
      run.executor.end("c/y", .stopped(nil))
    } else {
      run.executor.exit("c/y")
    }
    #expect(run.running.contains("c/z") == (response == .continue))
  }

  @Test func runOptionOverridesTheFailurePolicyOfAllFiles() throws {
    let run = try Self.harness(
      Self.twoBesideEachOther,
      #"{"onFailure": "stop", "parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]},"#
        + #" {"id": "z", "needs": ["y"], "run": ["z"]}]}"#, onFailure: .continue)
    run.executor.exit("c/x", code: 1)
    run.executor.exit("c/y")
    #expect(Set(run.running) == ["b", "c/z"])
  }

  @Test func aFailureMayBeToleratedFromOutside() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json", "allowFailure": true}, {"id": "z", "run": ["z"]}]}"#,
      #"{"steps": [{"id": "x", "run": ["x"]}]}"#)
    run.executor.exit("c/x", code: 1)
    run.executor.exit("z")
    #expect(run.run.report.succeeded)
  }

  @Test func nestedWorkflowIsRetriedAsAWhole() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json", "retry": {"max": 1, "delay": "1s", "jitter": "none"}}]}"#,
      #"{"steps": [{"id": "x", "run": ["x"], "cleanup": {"run": ["u"]}}], "finally": [{"id": "f", "run": ["f"]}]}"#
    )
    run.executor.exit("c/x", code: 1)
    #expect(run.running == ["c/x.cleanup"])
    run.executor.exit("c/x.cleanup")
    #expect(run.running == ["c/f"])
    run.executor.exit("c/f")
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["c/x"])
    run.executor.exit("c/x")
    run.executor.exit("c/x.cleanup")
    run.executor.exit("c/f")
    #expect(run.run.report.succeeded)
  }

  // MARK: Finally

  private static let withFinally =
    #"{"steps": [{"id": "x", "run": ["x"]}], "finally": [{"id": "f", "run": ["f"]}]}"#

  @Test func nestedFinallyDelaysDependents() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}, {"id": "z", "run": ["z"]}]}"#,
      Self.withFinally)
    run.executor.exit("c/x")
    #expect(run.running == ["c/f"])
    run.executor.exit("c/f")
    #expect(run.running == ["z"])
  }

  @Test func aFailureOfFinallyFailsTheStepThatRunsTheFile() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}, {"id": "z", "run": ["z"]}]}"#,
      Self.withFinally)
    run.executor.exit("c/x")
    run.executor.exit("c/f", code: 2)
    #expect(run.states.contains("z: skipped after c/f"))
    #expect(run.run.report.end?.firstFailure?.text == "c/f")
  }

  @Test func theFirstFailureStaysTheCause() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}]}"#, Self.withFinally)
    run.executor.exit("c/x", code: 1)
    run.executor.exit("c/f", code: 2)
    #expect(run.run.report.end?.firstFailure?.text == "c/x")
    #expect(run.run.report.end?.counts.failed == 2)
  }

  @Test func finallyRunsAlsoWhenTheRunIsCancelled() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}, {"id": "z", "run": ["z"]}]}"#,
      Self.withFinally)
    run.run.cancel(.requested)
    run.executor.end("c/x", .stopped(nil))
    #expect(run.running == ["c/f"])
    #expect(!run.executor.isStopping("c/f"))
    run.executor.exit("c/f")
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func finallyIsEndedWithARunThatIsEndedAtOnce() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}]}"#, Self.withFinally)
    run.executor.exit("c/x")
    run.run.killNow()
    #expect(run.executor.isStopping("c/f"))
    run.executor.end("c/f", .stopped(nil))
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func finallyIsNotDoneOfAFileThatWasNotRun() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "if": "false", "workflow": "c.json"}, {"id": "z", "run": ["z"]}]}"#,
      Self.withFinally)
    #expect(run.running == ["z"])
  }

  // MARK: Limits

  @Test func theFilesOwnTimeLimitIsWithoutWhatItDoesFinally() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", "workflow": "c.json"}]}"#,
      #"{"timeout": "10s", "steps": [{"id": "x", "run": ["x"]}], "finally": [{"id": "f", "run": ["f"]}]}"#
    )
    run.executor.exit("c/x")
    run.time.advance(by: .seconds(60))
    #expect(!run.executor.isStopping("c/f"))
    run.executor.exit("c/f")
    #expect(run.run.report.succeeded)
  }

  @Test(arguments: [
    (#""timeout": "5s", "#, ""), ("", #""timeout": "5s", "#),
  ])
  func aTimeLimitIsWithoutTheCleanupsOfTheFile(outer: String, inner: String) throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", \#(outer)"workflow": "c.json"}]}"#,
      #"{\#(inner)"steps": [{"id": "x", "run": ["x"], "cleanup": {"run": ["cx"]}}]}"#)
    run.executor.exit("c/x")
    run.time.advance(by: .seconds(10))
    #expect(run.running == ["c/x.cleanup"])
    #expect(!run.executor.isStopping("c/x.cleanup"))
    run.executor.exit("c/x.cleanup")
    #expect(run.run.report.succeeded)
  }

  @Test(arguments: [
    (#""timeout": "5s", "#, ""), ("", #""timeout": "5s", "#),
  ])
  func aTimeLimitEndsTheFileAndItsFinallyStillRuns(outer: String, inner: String) throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "c", \#(outer)"workflow": "c.json"}]}"#,
      #"{\#(inner)"steps": [{"id": "x", "run": ["x"]}], "finally": [{"id": "f", "run": ["f"]}]}"#)
    run.time.advance(by: .seconds(5))
    #expect(run.executor.isStopping("c/x"))
    run.executor.end("c/x", .stopped(nil))
    #expect(run.running == ["c/f"])
    run.executor.exit("c/f")
    #expect(run.run.report.end?.outcome == .failure)
    #expect(run.run.report.end?.firstFailure?.text == "c")
  }

  @Test func nestedLimitAppliesBesideTheRuns() throws {
    let run = try Self.harness(
      #"{"parallel": [{"id": "c", "workflow": "c.json"}, {"id": "b", "run": ["b"]}]}"#,
      #"{"maxParallel": 1, "parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]}]}"#)
    #expect(Set(run.running) == ["b", "c/x"])
  }

  @Test func aLoserOfARaceDoesItsFinallyStill() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "r", "race": [{"id": "c", "workflow": "c.json"}, {"id": "b", "run": ["b"]}]}]}"#,
      Self.withFinally)
    run.executor.exit("b")
    run.executor.end("c/x", .stopped(nil))
    #expect(run.running == ["c/f"])
    run.executor.exit("c/f")
    #expect(run.run.report.succeeded)
  }
}
