import Testing
import WeftDefinition
import WeftJSON

@testable import WeftPlanning

@Suite struct PlanDifferenceTests {
  @Test func textsForPeopleChangeNoStep() throws {
    func plan(_ text: String?) throws -> Plan {
      var (step, cleanup) = (Step("one", run: "true"), Step(run: "false"))
      (step.name, step.description) = (text, text)
      cleanup.description = text
      let steps = [step.cleanup(cleanup), Step(run: "true")]
      return try #require(Planner.plan(Workflow(steps: steps)).plan)
    }
    #expect(PlanDifference(from: try plan(nil), to: try plan("text")).isEmpty)
  }

  @Test("a step that becomes a group, and a group that becomes another thing, have changed")
  func kindsOfSteps() throws {
    let member = Step("m", run: ["x"])
    let kinds = [
      Step("x", run: ["x"]), Step(id: "x", action: .group(StepGroup(.steps, [member]))),
      Step(id: "x", action: .group(StepGroup(.race, [member]))),
      Step(
        id: "x",
        action: .workflow(NestedWorkflow(path: "n.json", workflow: Workflow(steps: [member])))),
    ]
    for (first, old) in kinds.enumerated() {
      for (second, new) in kinds.enumerated() {
        let difference = PlanDifference(
          from: try #require(Planner.plan(Workflow(steps: [old])).plan),
          to: try #require(Planner.plan(Workflow(steps: [new])).plan))
        let changed = (difference.changed + difference.changedGroups).map(\.text)
        #expect(changed.contains("x") == (first != second))
        #expect(!difference.removed.contains(StepAddress("x")))
      }
    }
  }

  @Test("values of groups and nested files are compared", arguments: 0..<5)
  func valuesOfGroups(edit: Int) throws {
    func plan(_ edit: Int?) throws -> Plan {
      func text(_ number: Int) -> String { edit == number ? "new" : "old" }
      var file = Workflow(steps: [Step("inner", run: ["x"])])
      file.inputs = [
        InputDeclaration("name", default: "a"),
        InputDeclaration("other", default: .string(text(0))),
      ]
      file.outputs = [OutputDeclaration("o", value: text(1))]
      let call = NestedWorkflow(
        path: "n.json", parameters: [Parameter("name", .text(text(2)))], workflow: file)
      var group = Step(id: "group", action: .group(StepGroup(.steps, [Step("member", run: ["x"])])))
      group.outputs = [OutputDeclaration("o", value: text(3))]
      var loop = Step(
        id: StepID(edit == 4 ? "renamed" : "loop")!,
        action: .group(StepGroup(.steps, [Step("each", run: ["x"])])))
      loop.control.fanOut = .forEach(ForEach(in: .values([1])))
      return try #require(
        Planner.plan(
          Workflow(steps: [Step(id: "call", action: .workflow(call)), group, loop])
        ).plan)
    }
    #expect(PlanDifference(from: try plan(nil), to: try plan(nil)).isEmpty)
    let difference = PlanDifference(from: try plan(nil), to: try plan(edit))
    #expect(difference.changed.isEmpty && difference.added.isEmpty && difference.removed.isEmpty)
    #expect(
      difference.changedGroups.map(\.text) == [["call"], ["call"], ["call"], ["group"], []][edit])
    #expect(difference.addedLoops.map(\.text) == (edit == 4 ? ["renamed"] : []))
    #expect(difference.removedLoops.map(\.text) == (edit == 4 ? ["loop"] : []))
  }
}
