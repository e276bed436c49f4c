import Testing
import WeftDefinition

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

  @Test func finalStepsAreExcludedByNameOnly() throws {
    let kept = try StepChoiceTests.kept(StepChoice(only: ["fetch"], skip: ["finally"]))
    #expect(kept == ["fetch"])
  }

  @Test(arguments: [
    ("fetsh", "fetch"), ("Checks", "checks"), ("zzz", nil), ("", nil),
  ])
  func unknownStepSuggestsTheNearestName(name: String, nearest: String?) throws {
    let plan = try StepChoiceTests.plan()
    #expect(throws: StepChoice.UnknownStep(name: name, nearest: nearest)) {
      try plan.stepsExcluded(by: StepChoice(skip: ["fetch", name]))
    }
  }
}
