import Testing
import WeftDefinition
import WeftPlanning

/// SPEC §1.1, a case for each rule.
struct EdgeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var workflow: Workflow
    var waits: [String]

    init(_ rule: String, _ workflow: Workflow, _ waits: [String]) {
      testDescription = rule
      self.workflow = workflow
      self.waits = waits
    }
  }

  static let cases = [
    Case(
      "members of `steps` wait for the one before",
      Workflow(steps: [Step("a"), Step("b"), Step("c")]),
      ["a:", "b: a", "c: b"]),
    Case(
      "members of `parallel` wait for nothing",
      Workflow(parallel: [Step("a"), Step("b")]),
      ["a:", "b:"]),
    Case(
      "`needs` replaces the step before, and the next waits for the needing one alone",
      Workflow(steps: [Step("a"), Step("b"), Step("c", needs: ["a"]), Step("d")]),
      ["a:", "b: a", "c: a", "d: c"]),
    Case(
      "an empty `needs` waits for nothing but the group",
      Workflow(steps: [Step("a"), Step("g", steps: [Step("b"), Step("c", needs: [])])]),
      ["a:", "g(: a", "b: g(", "c: g(", "g): b c"]),
    Case(
      "a group is a member like a step, and what follows waits for its end",
      Workflow(steps: [Step("a"), Step("g", parallel: [Step("b"), Step("c")]), Step("d")]),
      ["a:", "g(: a", "b: g(", "c: g(", "g): b c", "d: g)"]),
    Case(
      "needing a group is needing its end, from outside and from a sibling group",
      Workflow(parallel: [
        Step("g", steps: [Step("a")]), Step("h", steps: [Step("b", needs: ["g"])]),
        Step("c", needs: ["h", "g"]),
      ]),
      ["g(:", "a: g(", "g): a", "h(:", "b: g) h(", "h): b", "c: g) h)"]),
    Case(
      "a step inside a group may be needed from outside it",
      Workflow(parallel: [Step("g", steps: [Step("a"), Step("b")]), Step("c", needs: ["a"])]),
      ["g(:", "a: g(", "b: a", "g): a b", "c: a"]),
    Case(
      "a group's `needs` hold all of it",
      Workflow(parallel: [Step("a"), Step("g", parallel: [Step("b")], needs: ["a"])]),
      ["a:", "g(: a", "b: g(", "g): b"]),
    Case(
      "an empty group ends when it starts",
      Workflow(steps: [Step("a"), Step("g", steps: []), Step("b")]),
      ["a:", "g(: a", "g): g(", "b: g)"]),
    Case(
      "the second in a nested list waits for the end of a group, not for its start",
      Workflow(steps: [Step("g", steps: [Step("h", parallel: []), Step("a")])]),
      ["g(:", "h(: g(", "h): h(", "a: h)", "g): h) a"]),
    Case(
      "reading a log waits for that step too, and for the order besides",
      Workflow(steps: [Step("a"), Step("b"), Step("c", readingLogOf: "a")]),
      ["a:", "b: a", "c: a b"]),
    Case(
      "the same edge is drawn once",
      Workflow(steps: [Step("a"), Step("c", readingLogOf: "a")]),
      ["a:", "c: a"]),
    Case(
      "edges ascend in whatever order the needs are written",
      Workflow(parallel: [Step("a"), Step("b"), Step("c"), Step("d", needs: ["c", "a", "b"])]),
      ["a:", "b:", "c:", "d: a b c"]),
    Case(
      "a need may name a later step of a `parallel` list",
      Workflow(parallel: [Step("a", needs: ["b"]), Step("b")]),
      ["a: b", "b:"]),
  ]

  @Test(arguments: cases)
  func drawsExactlyTheseEdges(_ example: Case) throws {
    #expect(try planned(example.workflow).waits == example.waits)
  }

  @Test func sortsAndUnitesALongList() throws {
    var steps = (0..<100).map { Step(StepID("s\($0)")!) }
    steps.append(Step("last", needs: (0..<100).reversed().map { Need("s\($0)") }))
    let plan = try planned(Workflow(parallel: steps))
    #expect(Array(plan.dependencies[100]) == Array(0..<100))
  }

  @Test func anEmptyWorkflowIsAPlan() throws {
    let plan = try planned(Workflow(steps: []))
    #expect(plan.nodes.isEmpty && plan.dependencies.count == 0 && plan.groups.count == 1)
    #expect(plan.longestPath == 0 && plan.width == 0)
  }
}
