import Testing
import Weft

@Suite struct InputTests {
  private static let text = #"""
    {
      "inputs": {
        "version": { "type": "string", "pattern": "^[0-9]+$", "description": "what to publish" },
        "draft": { "type": "boolean", "default": true },
        "servers": { "type": "array", "items": { "type": "object", "required": ["name"] }, "default": [] }
      },
      "steps": ["true"]
    }
    """#

  @Test func aRunStartsWithInputsThatFit() async throws {
    let workflow = try Workflow(json: InputTests.text)
    let run = try Engine().start(
      workflow, inputs: ["Version": "12", "servers": [["name": "a", "port": 80]]])
    #expect(await run.report.succeeded)
  }

  @Test func missingRequiredInputStartsNothing() throws {
    let workflow = try Workflow(json: InputTests.text)
    let rejection = #expect(throws: WorkflowError.self) { try Engine().start(workflow) }
    #expect(rejection?.inputFaults.map(\.kind) == [.missing])
    #expect(rejection?.inputFaults.map(\.name) == ["version"])
    #expect(rejection?.description.contains("version: what to publish") == true)
    #expect(rejection?.description.contains(#"inputs: ["version": …]"#) == true)
  }

  @Test func everythingThatIsWrongWithInputsIsThrown() throws {
    let plan = try Engine().plan(Workflow(json: InputTests.text))
    let rejection = #expect(throws: WorkflowError.self) {
      try Engine().start(
        plan, inputs: ["version": "1.2", "darft": false, "servers": [["nmae": "a"]]])
    }
    #expect(rejection?.inputFaults.map(\.kind) == [.unknown, .unfit, .unfit])
    #expect(rejection?.inputFaults.compactMap(\.help) == [#"did you mean "draft"?"#])
  }

  @Test func aWorkflowBuiltInSwiftHasInputsToo() async throws {
    var workflow = Workflow(steps: [Step(run: "true")])
    var count = ValueSchema(.integer)
    count.number.minimum = 1
    workflow.inputs = [InputDeclaration("count", count), InputDeclaration("note", default: nil)]
    #expect(throws: WorkflowError.self) {
      try Engine().start(workflow, inputs: ["count": 0, "note": 1])
    }
    #expect(try await Engine().start(workflow, inputs: ["count": 1, "note": 1]).report.succeeded)
  }
}
