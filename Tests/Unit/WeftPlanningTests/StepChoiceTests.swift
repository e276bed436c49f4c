import Testing
import WeftDefinition
import WeftDiagnostics

@testable import WeftPlanning

@Suite struct StepChoiceTests {
  /// fetch → checks (unit, lint, docs → links) → pack → finally, with cleanup for unit.
  private static func plan() throws -> Plan {
    var workflow = Workflow(steps: [
      Step("fetch", run: "fetch"),
      Step(
        "checks",
        parallel: [
          Step("unit", run: "unit").cleanup(Step(run: "rm")), Step("lint", run: "lint"),
          Step("docs", steps: [Step("html", run: "html"), Step("links", run: "links")]),
        ]),
      Step("pack", run: "pack", needs: ["unit"]),
      Step("publish", run: "publish"),
    ])
    workflow.finally = [Step(run: "bye")]
    return try #require(Planner.plan(workflow).plan)
  }

  private static func kept(_ choice: StepChoice) throws -> [String] {
    let plan = try plan()
    let excluded = Set(try plan.stepsExcluded(by: choice))
    return plan.steps.indices.filter { !excluded.contains($0) }.map { plan.steps[$0].address.text }
  }

  /// A step reads `made`, a program with an output, and `loop`, whose elements have one.
  @Test(arguments: [
    ("${{ steps.made.outputs.x }}", ["made"]),
    (
      "${{ join(steps.loop.results.*.outputs.x, ' ') }}-${{ steps.made.outputs.x }}",
      ["loop", "made"]
    ),
    ("${{ steps.all.outputs.x }}", ["all"]),
    ("${{ steps.made.outputs.x || 'none' }}", []),
    ("${{ 'none' || steps.made.outputs.x }}", ["made"]),
    ("${{ case(steps.made.outputs.x == null, 'none', 'some') }}", []),
    ("${{ steps.made.outcome }}", []),
    ("${{ steps.kept.outputs.x }}", []),
  ])
  func readsOfStepsThatAreNotSelectedAreFound(text: String, sources: [String]) throws {
    let outputs = #""outputs":{"x":{"type":"string"}}"#
    let source = """
      {"steps":[{"id":"made","run":"a",\(outputs)},{"id":"loop","forEach":["a","b"],"run":"a",\(outputs)},
      {"id":"all","steps":[{"id":"inner","run":"a",\(outputs)}],
        "outputs":{"x":{"type":"string","value":"${{ steps.inner.outputs.x }}"}}},
      {"id":"kept","run":"a",\(outputs)},
      {"id":"use","if":"steps.made.outputs.x != 'no'","run":["echo","\(text)"]}]}
      """
    let workflow = try #require(
      WorkflowDecoder.decode(SourceFile(path: "w.json", bytes: Array(source.utf8))).workflow)
    let plan = try #require(Planner.plan(workflow).plan)
    let excluded = try plan.stepsExcluded(by: StepChoice(skip: ["made", "loop", "all"]))
    let reads = plan.unselectedReads(excluding: excluded)
    #expect(reads.map(\.source.text) == sources && reads.allSatisfy { $0.reader.text == "use" })
    #expect(plan.unselectedReads(excluding: []).isEmpty)
  }

  private static let all = [
    "fetch", "unit", "lint", "html", "links", "pack", "publish",
  ]

  @Test(
    arguments: [
      (StepChoice(), all),
      (StepChoice(only: ["fetch"]), ["fetch"]),
      (StepChoice(only: ["pack"]), ["fetch", "unit", "pack"]),
      (StepChoice(only: ["links"]), ["fetch", "html", "links"]),
      (StepChoice(only: ["checks"]), ["fetch", "unit", "lint", "html", "links"]),
      (StepChoice(only: ["lint", "unit"]), ["fetch", "unit", "lint"]),
      (StepChoice(skip: ["docs"]), ["fetch", "unit", "lint", "pack", "publish"]),
      (StepChoice(skip: ["fetch", "pack"]), ["unit", "lint", "html", "links", "publish"]),
      (StepChoice(from: ["pack"]), ["pack", "publish"]),
      (StepChoice(from: ["html"]), ["html", "links"]),
      (StepChoice(from: ["checks"]), ["unit", "lint", "html", "links", "pack", "publish"]),
      (StepChoice(from: ["fetch"]), all),
      (StepChoice(only: ["pack"], skip: ["fetch"]), ["unit", "pack"]),
      (StepChoice(only: ["publish"], from: ["unit"]), ["unit", "pack", "publish"]),
    ] as [(StepChoice, [String])])
  func aChoiceKeepsWhatItSays(choice: StepChoice, kept: [String]) throws {
    let cleanup = kept.contains("unit") ? ["unit.cleanup"] : []
    #expect(Set(try StepChoiceTests.kept(choice)) == Set(kept + cleanup + ["finally.1"]))
  }

  @Test(arguments: [
    (StepChoice(only: ["publish"], from: ["unit"]), false), (StepChoice(skip: ["fetch"]), false),
    (StepChoice(only: ["fetch"], from: ["pack"]), true), (StepChoice(from: ["pack"]), false),
    (StepChoice(only: ["html"], from: ["pack"]), true),
    (StepChoice(only: ["fetch"], skip: ["fetch"]), true),
    (StepChoice(from: ["unit.cleanup"]), true), (StepChoice(only: ["finally.1"]), false),
  ])
  func aChoiceMayHaveNothing(choice: StepChoice, hasNothing: Bool) throws {
    let plan = try StepChoiceTests.plan()
    if hasNothing {
      #expect(throws: StepChoiceError.nothing(choice)) { try plan.stepsSkipped(by: choice) }
    } else {
      #expect(try plan.stepsSkipped(by: choice) == plan.stepsExcluded(by: choice))
    }
  }

  @Test func finalStepsAreExcludedByNameOnly() throws {
    let kept = try StepChoiceTests.kept(StepChoice(only: ["fetch"], skip: ["finally"]))
    #expect(kept == ["fetch"])
  }

  /// Steps with cleanups, and a nested file with `finally`, of which some did not run at first.
  @Test(
    arguments: [
      (StepChoice(from: ["post"]), ["n/b"], ["n/b", "post", "n/finally.1"]),
      (StepChoice(skip: ["n"]), ["n/b"], ["up", "up.cleanup", "n/b", "post", "n/finally.1"]),
      (StepChoice(skip: ["n"]), ["up"], ["up", "up.cleanup", "post"]),
      (StepChoice(from: ["post"]), ["up"], ["up", "up.cleanup", "post"]),
      (StepChoice(skip: ["n/finally"], from: ["n/b"]), ["n/a"], ["n/a", "n/b", "post"]),
      (StepChoice(only: ["up"], skip: ["up.cleanup"]), ["post"], ["up", "post"]),
      (StepChoice(from: ["post"]), ["n/finally.1"], ["post", "n/finally.1"]),
    ] as [(StepChoice, [String], [String])])
  func aStepThatIsNamedLaterBringsItsFinalSteps(
    choice: StepChoice, named: [String], kept: [String]
  ) throws {
    var file = Workflow(steps: [Step("a", run: "a"), Step("b", run: "b")])
    file.finally = [Step(run: "bye")]
    let workflow = Workflow(steps: [
      Step("up", run: "up").cleanup(Step(run: "down")), Step("n", workflow: file),
      Step("post", run: "post"),
    ])
    let plan = try #require(Planner.plan(workflow).plan)
    let steps = Set(plan.steps.indices.filter { named.contains(plan.steps[$0].address.text) })
    let excluded = plan.stepsExcluded(Set(try plan.stepsExcluded(by: choice)), except: steps)
    let left = plan.steps.indices.filter { !excluded.contains($0) }
    #expect(Set(left.map { plan.steps[$0].address.text }) == Set(kept))
  }

  @Test(arguments: [
    ("unit", ["unit"]), ("checks", ["unit", "unit.cleanup", "lint", "html", "links"]),
    ("docs", ["html", "links"]),
  ])
  func aNameRefersToTheStepOrToAllInTheGroup(name: String, steps: [String]) throws {
    let plan = try StepChoiceTests.plan()
    #expect(try plan.steps(named: name).map { plan.steps[$0].address.text } == steps)
    #expect(throws: StepChoiceError.unknown("Docs", nearest: "docs")) {
      try plan.steps(named: "Docs")
    }
  }

  @Test(arguments: [
    ("fetsh", "fetch"), ("Checks", "checks"), ("zzz", nil), ("", nil),
  ])
  func unknownStepSuggestsTheNearestName(name: String, nearest: String?) throws {
    let plan = try StepChoiceTests.plan()
    #expect(throws: StepChoiceError.unknown(name, nearest: nearest)) {
      try plan.stepsExcluded(by: StepChoice(skip: ["fetch", name]))
    }
  }

  @Test(arguments: [("sign", "n/sign"), ("check", nil), ("n/sgin", "n/sign"), ("biuld", "build")])
  func aStepOfANestedFileIsFoundByItsName(name: String, nearest: String?) {
    let known = ["build", "n/sign", "first/check", "second/check"]
    #expect(NearestName.step(name, among: known) == nearest)
  }

  @Test(arguments: [
    ("build[eu]", "build"), ("group[x].test", "group"), ("plain[x]", nil), ("zzz[a]", nil),
  ])
  func anElementIsReportedWithItsLoop(name: String, loop: String?) throws {
    let text = #"""
      { "steps": [{ "id": "build", "forEach": ["eu"], "run": "a" }, { "id": "plain", "run": "b" },
        { "id": "group", "matrix": { "v": ["x"] }, "steps": [{ "id": "test", "run": "c" }] }] }
      """#
    let (workflow, _) = WorkflowDecoder.decode(SourceFile(path: "w.json", bytes: Array(text.utf8)))
    let plan = try #require(workflow.flatMap { Planner.plan($0).plan })
    #expect {
      try plan.stepsExcluded(by: StepChoice(only: [name]))
    } throws: { error in
      if case .element(name, let found)? = error as? StepChoiceError {
        found == loop
      } else {
        loop == nil
      }
    }
  }
}
