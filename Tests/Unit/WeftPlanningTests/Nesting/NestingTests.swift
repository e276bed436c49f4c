import Testing
import WeftDefinition
import WeftDiagnostics
import WeftTestKit

@testable import WeftPlanning

/// Nested workflows in the graph.
@Suite struct NestingTests {
  private static func plan(_ main: String, _ others: [String: String]) throws -> Plan {
    try planned(
      try WorkflowFiles(others.merging(["main.json": main]) { $1 }).workflow("main.json"))
  }

  @Test func nestedStepsAreInTheSameGraph() throws {
    let plan = try Self.plan(
      #"{"steps": ["a", {"id": "c", "workflow": "c.json"}, "z"]}"#,
      ["c.json": #"{"parallel": [{"id": "x", "run": "x"}, {"needs": ["x"], "run": "y"}]}"#])
    #expect(
      plan.waits == [
        "1:", "c(: 1", "c(: c(", "c/x: c(", "c/2: c( c/x", "c): c/x c/2", "c): c)", "3: c)",
      ])
  }

  @Test func eachCallHasStepsOfItsOwn() throws {
    let plan = try Self.plan(
      #"{"parallel": [{"id": "a", "workflow": "c.json"}, {"workflow": "c.json"}]}"#,
      ["c.json": #"{"steps": [{"id": "x", "run": "x"}, {"parallel": ["y", "z"]}]}"#])
    #expect(
      plan.steps.map(\.address.text) == ["a/x", "a/2.1", "a/2.2", "2/x", "2/2.1", "2/2.2"])
  }

  @Test func tooManyStepsAreReportedAtTheNestingStep() throws {
    let main = #"{"steps": ["a", {"steps": [{"id": "c", "workflow": "b.json"}]}, "z"]}"#
    let workflow = try WorkflowFiles([
      "main.json": main, "b.json": #"{"steps": [{"workflow": "c.json"}, {"workflow": "c.json"}]}"#,
      "c.json": #"{"steps": ["x", "y", {"steps": ["z"]}]}"#,
    ]).workflow("main.json")
    for limit in 1..<16 {
      let (outline, problems) = Outline.make(of: workflow, limit: limit)
      let reported = problems.map { $0.located(in: outline) }
      #expect(reported.map(\.code) == ["W0211"])
      let place = try #require(reported.first?.place, "with at most \(limit)")
      #expect(place.file.path.hasSuffix("main.json"))
      if limit > 5 { #expect(main.dropFirst(Int(place.range.start)).hasPrefix(#"{"id": "c""#)) }
    }
  }

  @Test func filesRunFilesThatRunFiles() throws {
    let plan = try Self.plan(
      #"{"steps": [{"id": "a", "workflow": "b.json"}]}"#,
      [
        "b.json": #"{"steps": [{"id": "b", "workflow": "c.json"}]}"#,
        "c.json": #"{"steps": [{"id": "c", "run": "x"}], "finally": ["y"]}"#,
      ])
    #expect(plan.steps.map(\.address.text) == ["a/b/c", "a/b/finally.1"])
  }

  @Test func aNameMeansTheStepOfItsOwnFile() throws {
    let plan = try Self.plan(
      """
      {"parallel": [
        {"id": "x", "run": "x"},
        {"id": "c", "workflow": "c.json"},
        {"id": "y", "needs": ["x"], "run": ["y", "${{ steps.x.stdout }}"]}]}
      """,
      [
        "c.json": """
        {"parallel": [
          {"id": "x", "run": "x"},
          {"id": "y", "needs": ["x"], "run": ["y", "${{ steps.x.stdout }}"]},
          {"id": "l", "run": "cat", "stdin": {"log": "y"}}]}
        """
      ])
    #expect(plan.waits.contains("c/y: c( c/x"))
    #expect(plan.waits.contains("c/l: c( c/y"))
    #expect(plan.waits.contains("y: x"))
  }

  @Test func finallyComesAfterTheFileAndBeforeWhatFollows() throws {
    let plan = try Self.plan(
      #"{"steps": [{"id": "c", "workflow": "c.json"}, "z"]}"#,
      ["c.json": #"{"steps": [{"run": "x", "cleanup": "u"}], "finally": ["f"]}"#])
    #expect(
      plan.waits == [
        "c(:", "c(: c(", "c/1: c(", "c/1.cleanup: c/1", "c): c/1 c/1.cleanup",
        "c/finally(: c/1 c/1.cleanup", "c/finally.1: c/finally(", "c/finally): c/finally.1",
        "c): c) c/finally)", "2: c)",
      ])
  }

  @Test func computedInputDelaysTheWholeFile() throws {
    let plan = try Self.plan(
      """
      {"parallel": [
        {"id": "c", "workflow": "c.json", "with": {"n": "${{ steps.a.stdout }}"}},
        {"id": "a", "run": "a"}]}
      """,
      ["c.json": #"{"inputs": {"n": {"type": "string"}}, "steps": ["x"]}"#])
    #expect(plan.waits.first == "c(: a")
  }

  @Test func defaultsAndSettingsStayInTheirFile() throws {
    let plan = try Self.plan(
      """
      {"env": {"A": "1"}, "cwd": "d", "shell": "bash", "defaults": {"timeout": "1m"},
       "steps": ["a", {"workflow": "c.json"}]}
      """,
      [
        "c.json":
          #"{"env": {"B": "2"}, "defaults": {"retry": 3}, "steps": ["x"], "finally": ["f"]}"#
      ])
    for step in plan.steps.dropFirst() {
      #expect(plan.environment(of: step) == ["B": "2"])
      #expect(plan.workingDirectory(of: step) == nil)
      #expect(plan.shell(of: step) == .sh)
      #expect(step.step.timeout == nil)
      #expect(step.step.control.retry.first?.max == 3)
    }
    #expect(plan.environment(of: plan.steps[0]) == ["A": "1"])
  }

  @Test func poolsOfOneNameAreOneAndTheSmallestHolds() throws {
    let plan = try Self.plan(
      """
      {"pools": {"db": {"slots": 4, "rate": "30/1m"}, "cpu": 2},
       "steps": [{"run": "a", "pool": ["db", "cpu"]}, {"workflow": "c.json"}]}
      """.replacing("[\"db\", \"cpu\"]", with: "{\"db\": 1, \"cpu\": 1}"),
      [
        "c.json": """
        {"pools": {"db": {"slots": 9, "rate": "10/1m"}, "own": 1, "cpu": 1},
         "steps": [{"run": "x", "pool": {"db": 3, "own": 1}}]}
        """
      ])
    #expect(plan.pools.map(\.name) == ["db", "cpu", "own"])
    #expect(plan.pools.map(\.slots) == [4, 1, 1])
    #expect(plan.pools[0].rate == Rate(count: 10, per: .seconds(60)))
  }

  @Test func groupsAreCountedWithinTheirFile() throws {
    let deep = { (depth: Int, inner: String) in
      String(repeating: #"{"steps": ["#, count: depth) + inner
        + String(repeating: "]}", count: depth)
    }
    let plan = try Self.plan(
      deep(64, #"{"workflow": "c.json"}"#), ["c.json": deep(64, "\"x\"")])
    #expect(plan.steps.count == 1)
  }

  @Test func stepsOfOtherFilesCanBeChosen() throws {
    let plan = try Self.plan(
      #"{"steps": ["a", {"id": "c", "workflow": "c.json"}, "z"]}"#,
      [
        "c.json":
          #"{"steps": [{"id": "x", "run": "x"}, {"id": "y", "run": "y"}], "finally": ["f"]}"#
      ])
    let left = { (choice: StepChoice) throws in
      try plan.stepsExcluded(by: choice).map { plan.steps[$0].address.text }
    }
    #expect(try left(StepChoice(only: ["c/x"])) == ["c/y", "3"])
    #expect(try left(StepChoice(skip: ["c"])) == ["c/x", "c/y", "c/finally.1"])
    #expect(try left(StepChoice(from: ["c/y"])) == ["1", "c/x"])
    #expect(try left(StepChoice(only: ["1"])) == ["c/x", "c/y", "c/finally.1", "3"])
  }
}
