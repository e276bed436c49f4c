import Testing
import WeftDefinition
import WeftPlanning

/// Dependencies that follow from expressions.
struct ReferenceEdgeTests {
  private static func reader(_ id: StepID?, _ expressions: String..., needs: [Need]? = nil) -> Step
  {
    var step = Step(run: ["echo"] + expressions.map { "${{ \($0) }}" }, needs: needs)
    step.id = id
    return step
  }

  private static var limited: Step {
    var step = Step("r", run: ["true"])
    step.$timeout.expression = "${{ steps.a.stdout }}"
    return step
  }

  @Test func aStepWaitsForWhatItReads() throws {
    let plan = try planned(
      Workflow(parallel: [Self.reader("b", "steps.a.stdout"), Step("a", run: "true")]))
    #expect(plan.waits == ["b: a", "a:"])
  }

  @Test(
    "every text of a step waits for what it reads",
    arguments: [
      Step("r", run: "echo ${{ steps.a.stdout }}"),
      Step("r", Command(.program(["cat"]), stdin: .text("${{ steps.a.stdout }}"))),
      Step("r", Command(.program(["cat"]), stdin: .file("${{ steps.a.stdout }}"))),
      Step(
        id: "r", action: .run(Command(.program(["true"]))),
        settings: CommandSettings(environment: ["X": "${{ steps.a.stdout }}"])),
      Step(
        id: "r", action: .run(Command(.program(["true"]))),
        settings: CommandSettings(workingDirectory: "${{ steps.a.stdout }}")),
      Step(
        id: "r", action: .compute,
        outputs: [OutputDeclaration("o", value: "${{ steps.a.stdout }}")]),
      Self.limited,
    ])
  func everyTextIsRead(step: Step) throws {
    let plan = try planned(Workflow(parallel: [step, Step("a", run: "true")]))
    #expect(plan.waits == ["r: a", "a:"])
  }

  @Test func repeatedReferencesMakeOneEdge() throws {
    let plan = try planned(
      Workflow(parallel: [
        Step("a", run: "true"),
        Self.reader(
          "b", "steps.a.stdout", "steps.a.stderr", "steps.a.stdout", needs: ["a"]),
      ]))
    #expect(plan.waits == ["a:", "b: a"])
    let inOrder = try planned(
      Workflow(steps: [Step("a", run: "true"), Self.reader("b", "steps.a.stdout")]))
    #expect(inOrder.waits == ["a:", "b: a"])
  }

  @Test func aReferenceToAGroupWaitsForAllOfIt() throws {
    let plan = try planned(
      Workflow(parallel: [
        Self.reader("r", "steps.g.outcome"), Step("g", parallel: [Step("x", run: "true")]),
      ]))
    #expect(plan.waits == ["r: g)", "g(:", "x: g(", "g): x"])
  }

  @Test func aReferenceIntoAGroupWaitsForTheMemberAlone() throws {
    let group = Step("g", parallel: [Step("x", run: "true"), Step("y", run: "true")])
    for text in ["steps.x.outcome", "steps.g.steps.x.outcome", "steps['g'].steps['x'].outcome"] {
      let plan = try planned(Workflow(parallel: [Self.reader("r", text), group]))
      #expect(plan.waits.first == "r: x", "\(text)")
    }
  }

  @Test func aGroupsOwnKeysHoldTheWholeGroupAndAMembersOnlyTheMember() throws {
    var group = Step(
      "g", parallel: [Step("x", run: "true"), Self.reader("y", "steps.b.stdout")])
    group.settings.environment = ["V": "${{ steps.a.stdout }}"]
    let plan = try planned(
      Workflow(parallel: [Step("a", run: "true"), Step("b", run: "true"), group]))
    #expect(plan.waits == ["a:", "b:", "g(: a", "x: g(", "y: b g(", "g): x y"])
  }

  @Test func theOutputsOfAGroupAddNoEdgeToItsMembers() throws {
    var group = Step("g", parallel: [Step("x", run: "true")])
    group.outputs = [OutputDeclaration("o", value: "${{ steps.x.stdout }}")]
    #expect(try planned(Workflow(parallel: [group])).waits == ["g(:", "x: g(", "g): x"])
  }

  @Test func theOutputsOfTheWorkflowAddNoEdge() throws {
    var workflow = Workflow(parallel: [Step("a", run: "true"), Step("b", run: "true")])
    workflow.outputs = [OutputDeclaration("o", value: "${{ steps.a.stdout }}")]
    #expect(try planned(workflow).waits == ["a:", "b:"])
  }

  @Test func quotedTextIsNotAReference() throws {
    let plan = try planned(
      Workflow(parallel: [
        Step("a", run: ["echo", "${{ 'steps.b.stdout' }}", "steps.b.stdout", "{{ steps.b }}"]),
        Step("b", run: "true"),
      ]))
    #expect(plan.waits == ["a:", "b:"])
  }
}
