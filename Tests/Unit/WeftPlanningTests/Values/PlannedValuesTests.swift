import Testing
import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftPlanning

/// The expressions in a plan.
struct PlannedValuesTests {
  /// The parts of step `a` that a step with these arguments reads.
  private static func reads(_ expressions: String...) throws -> StepReads {
    let plan = try planned(
      Workflow(parallel: [
        Step(
          id: "a", action: .run(Command(.script("true"))),
          outputs: [OutputDeclaration("x", value: "1")]),
        Step("r", run: ["echo"] + expressions.map { "${{ \($0) }}" }),
      ]))
    return plan.values.reads(ofNode: plan.steps[0].node)
  }

  @Test func onlyReadValuesAreKept() throws {
    #expect(try Self.reads("1") == [])
    #expect(try Self.reads("steps.a.stdout") == .stdout)
    #expect(try Self.reads("steps.a.json.x[0]") == .stdout)
    #expect(try Self.reads("steps.a.stderr") == .stderr)
    #expect(try Self.reads("steps.a.outputs.x") == .result)
    #expect(try Self.reads("steps.a.outcome", "steps['a']['stderr']") == [.result, .stderr])
    #expect(try Self.reads("toJSON(steps.a)") == .everything)
    #expect(try Self.reads("steps.a[format('std{0}', 'out')]") == .everything)
  }

  @Test func selfReferencesAreKept() throws {
    let step = Step(
      id: "a", action: .run(Command(.script("true"))),
      outputs: [OutputDeclaration("x", value: "${{ self.stderr }}")])
    let plan = try planned(Workflow(steps: [step]))
    #expect(plan.values.reads(ofNode: plan.steps[0].node) == .stderr)
  }

  @Test func aPlanWithoutExpressionsHasNoValues() throws {
    #expect(try planned(Workflow(steps: [Step("a", run: "echo $HOME {{ x }}")])).values.isEmpty)
    #expect(try !planned(Workflow(steps: [Step("a", run: "echo ${{ 1 }}")])).values.isEmpty)
  }

  @Test func secretsThatAreReadAreKnown() throws {
    var workflow = Workflow(steps: [
      Step(
        id: "a", action: .run(Command(.script("true"))),
        settings: CommandSettings(environment: ["T": "${{ secrets.USED }}"]))
    ])
    workflow.secrets = [
      SecretDeclaration("USED", from: .environment("A")),
      SecretDeclaration("UNUSED", from: .environment("B")),
    ]
    #expect(try planned(workflow).usedSecrets.map(\.declaration.name) == ["USED"])
  }

  @Test func aWorkflowBuiltInSwiftIsCheckedAsWell() {
    var limited = Step("c", run: "true")
    limited.$timeout.expression = "${{ 5 }}"
    var workflow = Workflow(parallel: [
      Step("a", run: ["echo", "${{ steps.b.stdout }}", "${{ inputs.x }}"]),
      Step("b", run: ["echo", "${{ steps.a.stdout }}", "${{ 1 + }}"]),
      limited,
    ])
    workflow.outputs = [OutputDeclaration("o", value: nil)]
    let (plan, diagnostics) = Planner.plan(workflow)
    #expect(plan == nil)
    #expect(diagnostics.allSatisfy { $0.place == nil })
    #expect(
      Set(diagnostics.map(\.code)) == ["W0206", "W0302", "W0314", "W0321", "W0325"],
      "\(diagnostics.map(\.message))")
  }

  @Test(arguments: [
    (#"{ "type": "integer", "value": "${{ self.stdout }}" }"#, ["W0321"]),
    (#"{ "type": "boolean", "value": "v${{ self.exitCode }}" }"#, ["W0321"]),
    (#"{ "type": "array", "value": "${{ inputs.o }}" }"#, ["W0321"]),
    (#"{ "type": "integer", "value": "5" }"#, ["W0412"]),
    (#"{ "enum": ["a"], "value": "b" }"#, ["W0412"]),
    (#"{ "enum": ["a"], "value": "a" }"#, []),
    (#"{ "type": ["string", "null"], "value": "${{ self.stdout }}" }"#, []),
    (#"{ "type": "integer", "value": "${{ fromJSON(self.stdout) }}" }"#, []),
    (#"{ "type": "integer", "value": "${{ self.exitCode }}" }"#, []),
  ])
  func aValueOfAnOutputMayHaveItsType(output: String, codes: [String]) {
    var files = [
      #""steps": [{ "id": "a", "run": "true", "outputs": { "o": \#(output) } }]"#
    ]
    if !output.contains("self") {
      files += [
        #""steps": ["true"], "outputs": { "o": \#(output) }"#,
        #""steps": [{ "steps": ["true"], "outputs": { "o": \#(output) } }]"#,
      ]
    }
    func found(_ rest: String) -> [String] {
      let text = #"{ "inputs": { "o": { "type": "object" } }, \#(rest) }"#
      let file = SourceFile(path: "w.json", bytes: Array(text.utf8))
      let (workflow, diagnostics) = WorkflowDecoder.decode(file)
      return (diagnostics + (workflow.map { Planner.plan($0).diagnostics } ?? [])).map(\.code)
    }
    for file in files { #expect(found(file) == codes, "\(file)") }
    let state = #"{ "type": "integer", "default": 0, "value": "${{ steps.a.stdout }}" }"#
    #expect(
      found(#""steps": [{ "id": "a", "run": "true" }], "state": { "n": \#(state) }"#) == ["W0321"])
  }

  @Test func aScriptRefersToItsValuesByVariables() throws {
    let plan = try planned(
      Workflow(steps: [Step("s", run: "echo ${{ 'a' }} '${{ 'b' }}' \"${{ 'a' }}\"")]))
    let script = try #require(plan.values.script(ofStep: 0))
    #expect(!script.text(withValues: [1, 1]).contains("${{"))
    #expect(script.variables.map { $0.expression.text } == ["'a'", "'b'"])
  }

  @Test func aScriptRefersToEachElementOfAnArray() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("s", run: "echo ${{ split('a b', ' ') }} ${{ 'c' }} ${{ split('a b', ' ') }}")
      ]))
    let script = try #require(plan.values.script(ofStep: 0))
    #expect(script.variables.map(\.isList) == [true, false])
    #expect(
      script.text(withValues: [2, 1])
        == #"echo "${WEFT_VALUE_1_1}" "${WEFT_VALUE_1_2}" "${WEFT_VALUE_2}" "${WEFT_VALUE_1_1}" "${WEFT_VALUE_1_2}""#
    )
    #expect(script.text(withValues: [0, 1]) == #"echo  "${WEFT_VALUE_2}" "#)
  }
}
