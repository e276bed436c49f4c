import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Conditions, failures and time limits in `cleanup` and `finally`.
@Suite struct ClosingRunTests {
  private static func harness(_ main: String, _ child: String = "{}") throws -> RunHarness {
    let files = WorkflowFiles(["main.json": main, "c.json": child])
    return try RunHarness(try files.workflow("main.json"))
  }

  /// One step for each status function; each runs a program with the name of its id.
  private static func handlers(_ prefix: String) -> String {
    ["success", "failure", "cancelled"].map { function in
      #"{"id": "\#(prefix)\#(function)", "if": "\#(function)()", "run": ["x"]}"#
    }.joined(separator: ", ")
  }

  /// Ends the steps that run in `cleanup` and `finally`, each with a success.
  ///
  /// - Returns: The addresses of the steps, in order.
  private static func closing(_ run: RunHarness) -> [String] {
    var ended: [String] = []
    while let step = run.running.first {
      ended.append(step)
      run.executor.exit(step)
    }
    return ended
  }

  // MARK: Cancelled scopes

  @Test(arguments: [
    (#""id": "g", "timeout": "5s", "steps""#, "m"), (#""id": "g", "timeout": "5s", "race""#, "m"),
    (#""id": "g", "timeout": "5s", "forEach": ["x"], "steps""#, "g[0].m"),
    (#""id": "h", "timeout": "5s", "steps": [{"id": "g", "steps""#, "m"),
    (#""id": "h", "timeout": "5s", "steps": [{"id": "g", "retry": 1, "steps""#, "m"),
  ])
  func cleanupKnowsThatAGroupAroundItTimedOut(group: String, step: String) throws {
    let steps = #"[{"id": "m", "run": ["m"], "cleanup": [\#(Self.handlers(""))]}]"#
    let end = group.hasPrefix(#""id": "h""#) ? "}]" : ""
    let run = try Self.harness(#"{"steps": [{\#(group): \#(steps)\#(end)}]}"#)
    run.time.advance(by: .seconds(5))
    run.executor.end(step, .stopped(nil))
    #expect(Self.closing(run).map { $0.hasSuffix("cancelled") } == [true])
  }

  @Test(arguments: [#""race""#, #""join": {"atLeast": 1}, "parallel""#])
  func cleanupOfALoserIsCancelledAndThatOfTheWinnerSucceeded(group: String) throws {
    let run = try Self.harness(
      #"""
      {"steps": [{"id": "r", \#(group): [
        {"id": "a", "run": ["a"], "cleanup": [\#(Self.handlers("a-"))]},
        {"id": "b", "run": ["b"], "cleanup": [\#(Self.handlers("b-"))]},
        {"id": "g", "steps": [{"id": "c", "run": ["c"], "cleanup": [\#(Self.handlers("c-"))]}]}
      ]}]}
      """#)
    run.executor.exit("a")
    run.executor.end("b", .stopped(nil))
    run.executor.end("c", .stopped(nil))
    #expect(Self.closing(run) == ["c-cancelled", "b-cancelled", "a-success"])
    #expect(run.run.report.succeeded)
  }

  @Test(arguments: [#""race""#, #""join": {"atLeast": 1}, "parallel""#])
  func cleanupOfALoserInFinallyIsCancelledToo(group: String) throws {
    let run = try Self.harness(
      #"""
      {"steps": [], "finally": [{"id": "r", \#(group): [
        {"id": "a", "run": ["a"], "cleanup": [\#(Self.handlers("a-"))]},
        {"id": "b", "run": ["b"], "cleanup": [\#(Self.handlers("b-"))]}
      ]}, {"id": "last", "if": "success()", "run": ["last"]}]}
      """#)
    run.executor.exit("a")
    run.executor.end("b", .stopped(nil))
    #expect(Self.closing(run) == ["b-cancelled", "a-success", "last"])
    #expect(run.run.report.succeeded)
  }

  @Test func failureElsewhereUnderCancelCancelsAndOneInTheGroupDoesNot() throws {
    let run = try Self.harness(
      #"""
      {"onFailure": "cancel", "parallel": [
        {"id": "g", "steps": [{"id": "a", "run": ["a"], "cleanup": [\#(Self.handlers("a-"))]}]},
        {"id": "h", "parallel": [
          {"id": "b", "run": ["b"], "cleanup": [\#(Self.handlers("b-"))]}, {"id": "x", "run": ["x"]}]},
        {"id": "i", "if": "always()", "steps": [
          {"id": "d", "run": ["d"], "cleanup": [\#(Self.handlers("d-"))]}]}
      ], "finally": [\#(Self.handlers("f-"))]}
      """#)
    run.executor.exit("x", code: 1)
    run.executor.end("a", .stopped(nil))
    run.executor.end("b", .stopped(nil))
    #expect(Self.closing(run) == ["a-cancelled", "b-failure", "d", "d-success", "f-failure"])
  }

  @Test(arguments: [
    (#"{"steps": [{"id": "c", "timeout": "5s", "workflow": "c.json"}]}"#, "c/f-cancelled"),
    (
      #"{"onFailure": "cancel", "parallel": [{"id": "c", "workflow": "c.json"}, {"id": "y", "run": ["y"], "timeout": "5s"}]}"#,
      "c/f-cancelled"
    ),
    (
      #"{"steps": [{"id": "r", "race": [{"id": "c", "workflow": "c.json"}, {"id": "w", "wait": "5s"}]}]}"#,
      "c/f-cancelled"
    ),
    (#"{"timeout": "5s", "steps": [{"id": "c", "workflow": "c.json"}]}"#, "c/f-cancelled"),
  ])
  func finallyOfAFileKnowsThatTheFileWasCancelled(main: String, expected: String) throws {
    let run = try Self.harness(
      main, #"{"steps": [{"id": "m", "run": ["m"]}], "finally": [\#(Self.handlers("f-"))]}"#)
    run.time.advance(by: .seconds(5))
    if run.running.contains("y") { run.executor.exit("y", code: 1) }
    run.executor.end("c/m", .stopped(nil))
    #expect(Self.closing(run) == [expected])
  }

  // MARK: Failures in finally

  @Test(arguments: [FailureResponse.stop, .cancel])
  func aFailureInFinallyKeepsNoFileFromItsStepsAndNoGroupFromItsRetry(
    response: FailureResponse
  ) throws {
    let run = try Self.harness(
      #"""
      {"onFailure": "\#(response.rawValue)", "steps": [{"id": "a", "run": ["a"]}], "finally": [
        {"id": "x", "run": ["x"]}, {"id": "n", "workflow": "c.json"},
        {"id": "e", "forEach": ["i"], "workflow": "c.json"},
        {"id": "p", "steps": [{"id": "o", "workflow": "c.json"}]},
        {"id": "g", "retry": {"max": 1, "delay": "1s", "jitter": "none"}, "steps": [
          {"id": "y", "run": ["y"]}]}
      ]}
      """#,
      #"{"steps": [{"id": "s", "run": ["s"], "retry": {"max": 1, "delay": "1s", "jitter": "none"}}, {"id": "t", "run": ["t"]}]}"#
    )
    run.executor.exit("a")
    run.executor.exit("x", code: 1)
    for file in ["n", "e[0]", "o"] {
      try #require(run.running == ["\(file)/s"])
      run.executor.exit("\(file)/s", code: 1)
      run.time.advance(by: .seconds(1))
      try #require(run.running == ["\(file)/s"])
      run.executor.exit("\(file)/s")
      try #require(run.running == ["\(file)/t"])
      run.executor.exit("\(file)/t")
    }
    run.executor.exit("y", code: 2)
    run.time.advance(by: .seconds(1))
    try #require(run.running == ["y"])
    run.executor.exit("y", code: 2)
    #expect(run.run.report.end?.firstFailure?.text == "x")
  }

  @Test func aFailureOfAFileInFinallyHoldsTheRestOfTheFile() throws {
    let run = try Self.harness(
      #"""
      {"steps": [{"id": "a", "run": ["a"]}], "finally": [
        {"id": "n", "workflow": "c.json"}, {"id": "z", "run": ["z"]}]}
      """#,
      #"{"parallel": [{"id": "s", "run": ["s"]}, {"id": "w", "run": ["w"]}, {"id": "t", "needs": ["w"], "run": ["t"]}]}"#
    )
    run.executor.exit("a")
    run.executor.exit("n/s", code: 1)
    run.executor.exit("n/w")
    #expect(run.states.contains("n/t: held back by n/s"))
    #expect(run.running == ["z"])
  }

  @Test(arguments: [
    #"{"parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]}]}"#,
    #"{"parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]}], "allowFailure": true}"#,
    #"{"parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]}], "retry": 1}"#,
  ])
  func aFailureInFinallyUnderCancelEndsNoOtherStep(group: String) throws {
    let run = try Self.harness(
      #"{"onFailure": "cancel", "steps": [{"id": "a", "run": ["a"]}], "finally": [\#(group)]}"#)
    run.executor.exit("a")
    run.executor.exit("x", code: 1)
    #expect(run.running == ["y"])
    #expect(!run.executor.isStopping("y"))
    #expect(!run.newEvents().contains { $0.hasPrefix("run cancelling") })
  }

  @Test func aFileInFinallyKeepsItsOwnResponse() throws {
    let run = try Self.harness(
      #"{"steps": [{"id": "a", "run": ["a"]}], "finally": [{"id": "n", "workflow": "c.json"}]}"#,
      #"{"onFailure": "cancel", "parallel": [{"id": "x", "run": ["x"]}, {"id": "y", "run": ["y"]}]}"#
    )
    run.executor.exit("a")
    run.executor.exit("n/x", code: 1)
    #expect(run.executor.isStopping("n/y"))
    run.executor.end("n/y", .stopped(nil))
  }

  // MARK: The run's time limit

  @Test func theRunsTimeLimitIsWithoutCleanupsAndFinally() throws {
    let run = try Self.harness(
      #"""
      {"timeout": "10s", "steps": [{"id": "a", "run": ["a"], "cleanup": {"id": "u", "run": ["u"]}}],
        "finally": [{"id": "f", "run": ["f"]}, \#(Self.handlers("f-"))]}
      """#)
    run.time.advance(by: .seconds(6))
    run.executor.exit("a")
    run.time.advance(by: .seconds(6))
    run.executor.exit("u")
    run.time.advance(by: .seconds(6))
    #expect(Self.closing(run) == ["f", "f-success"])
    #expect(run.run.report.succeeded)
    #expect(run.time.scheduledCount == 0)
  }
}
