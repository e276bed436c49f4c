import Testing
import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning

/// Dependencies that follow from cleanup, `finally`, and the expressions of control options.
struct ControlEdgeTests {
  private static func step(_ id: StepID, cleanup: [Step]) -> Step {
    var step = Step(id)
    step.control.cleanup = cleanup
    return step
  }

  @Test func cleanupWaitsForItsGroupAndDelaysItsEnd() throws {
    let group = Step("g", steps: [Self.step("a", cleanup: [Step(run: "x")]), Step("b")])
    let plan = try planned(Workflow(steps: [group, Step("c")]))
    #expect(
      plan.waits == ["g(:", "a: g(", "a.cleanup: a b", "b: a", "g): a a.cleanup b", "c: g)"])
  }

  @Test func stepsThatCleanUpAfterTheSameWaitForEachOther() throws {
    let cleanup = [Step(run: "x"), Step(run: "y")]
    let plan = try planned(
      Workflow(parallel: [
        Self.step("a", cleanup: cleanup), Self.step("b", cleanup: [Step(run: "z")]),
      ]))
    #expect(
      plan.waits == [
        "a:", "a.cleanup.1: a b", "a.cleanup.2: a a.cleanup.1 b", "b:", "b.cleanup: a b",
      ])
  }

  @Test func cleanupOfAGroupWaitsForTheEnclosingGroup() throws {
    var group = Step("g", steps: [Step("a")])
    group.control.cleanup = [Step(run: "x")]
    let plan = try planned(Workflow(parallel: [group, Step("b")]))
    #expect(plan.waits == ["g(:", "a: g(", "g): a", "g.cleanup: g) b", "b:"])
  }

  @Test func finallyWaitsForEverything() throws {
    var workflow = Workflow(parallel: [
      Self.step("a", cleanup: [Step(run: "x")]), Step("g", steps: [Step("b")]),
    ])
    workflow.finally = [Step("c"), Step("d")]
    #expect(
      try planned(workflow).waits == [
        "a:", "a.cleanup: a g)", "g(:", "b: g(", "g): b", "finally(: a a.cleanup g)",
        "c: finally(", "d: c", "finally): c d",
      ])
  }

  @Test(
    "a step waits for what its control reads",
    arguments: [
      StepControl(condition: "steps.a.outcome == 'success'"),
      StepControl(retry: [RetryPolicy(max: 1, condition: "steps.a.outcome == 'success'")]),
      StepControl(fanOut: .forEach(ForEach(in: .computed("${{ steps.a.json }}")))),
      StepControl(
        fanOut: .forEach(ForEach(in: .values([1]), key: "format('{0}{1}', steps.a.stdout, item)"))),
      StepControl(
        fanOut: .matrix(Matrix(axes: [Matrix.Axis("x", .computed("${{ steps.a.json }}"))]))),
      StepControl(
        fanOut: .matrix(Matrix(axes: [], include: .computed("${{ steps.a.json }}")))),
      StepControl(
        fanOut: .matrix(
          Matrix(axes: [Matrix.Axis("x", .values([1]))], exclude: .computed("${{ steps.a.json }}")))
      ),
    ])
  func controlIsRead(control: StepControl) throws {
    let action = StepAction.run(Command(.script("true")))
    let step = Step(id: "r", action: action, control: control)
    #expect(try planned(Workflow(parallel: [step, Step("a")])).waits == ["r: a", "a:"])
    let group = Step(
      id: "r", action: .group(StepGroup(.steps, [Step("b")])), control: control)
    #expect(
      try planned(Workflow(parallel: [group, Step("a")])).waits == [
        "r(: a", "b: r(", "r): b", "a:",
      ])
  }

  @Test(
    "what waits or asks waits for what it reads",
    arguments: [
      .wait(.computedDuration("${{ steps.a.stdout }}")),
      .wait(.computedMoment("${{ steps.a.stdout }}")),
      .approve(Approval(message: "is ${{ steps.a.stdout }} right?")),
    ] as [StepAction])
  func actionsAreRead(action: StepAction) throws {
    let step = Step(id: "r", action: action)
    #expect(try planned(Workflow(parallel: [step, Step("a")])).waits == ["r: a", "a:"])
  }

  @Test func aReferenceToAllElementsWaitsForAllOfThem() throws {
    let plan = try planned(
      Workflow(parallel: [
        Step("r", run: ["echo", "${{ steps.g.results[0].outcome }}"]),
        Step("g", parallel: [Step("x")]).repeated,
      ]))
    #expect(plan.waits == ["r: g)", "g(:", "x: g(", "g): x"])
  }
}
