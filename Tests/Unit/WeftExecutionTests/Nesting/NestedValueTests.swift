import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Inputs and outputs of nested workflows.
@Suite struct NestedValueTests {
  private static func run(
    _ main: String, _ others: [String: String], inputs: KeyValuePairs<String, JSONValue> = [:],
    secrets: [RunSecrets.Key: Secret] = [:], acts: [String: ValueRun.Act] = [:]
  ) throws -> ValueRun {
    let files = WorkflowFiles(others.merging(["main.json": main]) { $1 })
    return try ValueRun(
      try files.workflow("main.json"), inputs: inputs, secrets: RunSecrets(byFile: secrets),
      acts: acts)
  }

  private static let child = """
    {"inputs": {"name": {"type": "string"}, "count": {"type": "integer", "default": 1}},
     "outputs": {"said": "${{ steps.x.stdout }}", "twice": "${{ inputs.count }}"},
     "steps": [{"id": "x", "run": ["echo", "${{ inputs.name }}", "${{ inputs.count }}"]}]}
    """

  @Test func givenInputsOverrideDefaults() throws {
    let run = try Self.run(
      """
      {"inputs": {"who": {"type": "string"}},
       "steps": [{"id": "a", "run": ["a"]},
        {"id": "c", "workflow": "c.json", "with": {"name": "${{ inputs.who }}-${{ steps.a.stdout }}"}},
        {"id": "z", "run": ["z", "${{ steps.c.outputs.said }}", "${{ toJSON(steps.c.outputs) }}"]}]}
      """, ["c.json": Self.child], inputs: ["who": "you"],
      acts: ["a": .writes("7\n"), "c/x": .writes("hi\n")])
    #expect(run.arguments(of: "c/x") == ["echo", "you-7", "1"])
    #expect(run.arguments(of: "z")?[1] == "hi")
    #expect(run.groups["c"].map { shown($0.outputs) } == ["said": "\"hi\"", "twice": "1"])
  }

  @Test func invalidNestedInputFailsTheStep() throws {
    let run = try Self.run(
      """
      {"steps": [{"id": "a", "run": ["a"]},
        {"id": "c", "workflow": "c.json",
         "with": {"name": "n", "count": "${{ fromJSON(steps.a.stdout) }}"}}]}
      """, ["c.json": Self.child], acts: ["a": .writes("\"many\"")])
    #expect(run.outcome == .failure)
    #expect(run.started["c/x"] == nil)
    #expect(run.groups["c"]?.failure?.classes == [.expression])
    #expect(
      run.groups["c"]?.failure?.message
        == "with.count is \"many\", expected a whole number (input of c.json)")
  }

  @Test func everyElementGivesItsOwn() throws {
    let run = try Self.run(
      """
      {"steps": [
        {"id": "c", "forEach": {"in": ["p", "q"], "key": "${{ item }}"}, "workflow": "c.json",
         "with": {"name": "${{ item }}", "count": "${{ index }}"}},
        {"id": "z", "run": ["z", "${{ toJSON(steps.c.results.*.outputs.twice) }}"]}]}
      """, ["c.json": Self.child])
    #expect(run.arguments(of: "z")?[1].filter { !$0.isWhitespace } == "[0,1]")
    #expect(run.groups["c[p]"]?.outcome == .success)
  }

  @Test func loopsInsideAreCalledByTheirPlaceInTheFile() throws {
    let run = try Self.run(
      #"{"steps": [{"id": "c", "forEach": {"in": [0]}, "workflow": "c.json"}]}"#,
      [
        "c.json": """
        {"steps": [{"id": "g", "forEach": {"in": ["k"], "key": "${{ item }}"}, "steps": [
          {"id": "x", "run": ["x"]}, "y", {"id": "d", "workflow": "d.json"}]}]}
        """, "d.json": #"{"steps": [{"id": "w", "run": ["w"]}, "v"]}"#,
      ])
    let addresses = run.addresses
    #expect(
      addresses == [
        "c[0]/g[k].x", "c[0]/g[k].2", "c[0]/g[k].d/w", "c[0]/g[k].d/2",
      ])
  }

  @Test func environmentsStayInTheirFile() throws {
    let run = try Self.run(
      """
      {"env": {"A": "outer", "B": "outer"}, "steps": [
        {"id": "g", "env": {"B": "group"}, "steps": [
          {"id": "c", "workflow": "c.json", "with": {"v": "${{ env.B }}"}}]}]}
      """,
      [
        "c.json": """
        {"inputs": {"v": {"type": "string"}}, "env": {"V": "${{ inputs.v }}"},
         "steps": [{"id": "x", "run": ["x", "${{ env.V }}"]}],
         "finally": [{"id": "f", "run": ["f", "${{ env.V }}", "${{ inputs.v }}"]}]}
        """
      ])
    #expect(run.arguments(of: "c/x") == ["x", "group"])
    #expect(run.arguments(of: "c/f") == ["f", "group", "group"])
    #expect(run.started["c/x"]?.groupEnvironments.values.map { Set($0.keys) } == [["V"]])
  }

  @Test func contextsAreThoseOfTheFile() throws {
    let run = try Self.run(
      """
      {"name": "main", "steps": [{"id": "x", "run": ["x", "${{ workflow.name }}"]},
        {"id": "c", "workflow": "c.json"}]}
      """,
      [
        "c.json": """
        {"name": "child", "steps": [{"id": "x", "run": ["x"]},
          {"id": "y", "run": ["y", "${{ workflow.name }}", "${{ workflow.file }}", "${{ run.id }}",
            "${{ steps.x.stdout }}"]}]}
        """
      ], acts: ["x": .writes("of main"), "c/x": .writes("of child")])
    #expect(run.arguments(of: "x") == ["x", "main"])
    #expect(run.arguments(of: "c/y") == ["y", "child", "c.json", "run-1", "of child"])
  }

  @Test("S04: a secret that is given to another file is hidden there")
  func secretsAreHiddenInOtherFiles() throws {
    let run = try Self.run(
      """
      {"secrets": {"T": {"env": "UNREAD"}}, "steps": [
        {"id": "c", "workflow": "c.json", "with": {"token": "${{ secrets.T }}"}}]}
      """,
      [
        "c.json": """
        {"inputs": {"token": {"type": "string", "secret": true}},
         "outputs": {"t": "${{ inputs.token }}"},
         "steps": [{"id": "x", "run": ["x"], "env": {"T": "${{ inputs.token }}"}}]}
        """
      ],
      secrets: [RunSecrets.Key("T", inFile: 0): try Secret(Array("canary-1".utf8))])
    #expect(run.variable("T", of: "c/x") == "canary-1")
    #expect(run.groups["c"].map { shown($0.outputs) } == ["t": "-"])
  }

  @Test func filesMayCallDifferentSecretsAlike() throws {
    let child =
      #"{"secrets": {"T": {"env": "B"}}, "steps": [{"id": "x", "run": ["x"], "env": {"T": "${{ secrets.T }}"}}]}"#
    let run = try Self.run(
      """
      {"secrets": {"T": {"env": "A"}}, "steps": [
        {"id": "x", "run": ["x"], "env": {"T": "${{ secrets.T }}"}}, {"id": "c", "workflow": "c.json"}]}
      """, ["c.json": child],
      secrets: [
        RunSecrets.Key("T", inFile: 0): try Secret(Array("canary-1".utf8)),
        RunSecrets.Key("T", inFile: 1): try Secret(Array("canary-2".utf8)),
      ])
    #expect(run.variable("T", of: "x") == "canary-1")
    #expect(run.variable("T", of: "c/x") == "canary-2")
  }

  @Test func aRaceInAnotherFileNamesItsWinnerAsThatDoes() throws {
    let run = try Self.run(
      #"{"steps": [{"id": "c", "workflow": "c.json"}]}"#,
      [
        "c.json": """
        {"steps": [{"id": "r", "race": [{"id": "p", "run": ["p"]}, {"id": "q", "run": ["q"]}]},
          {"id": "x", "if": "steps.r.winner == 'p'", "run": ["x", "${{ steps.r.winner }}"]}]}
        """
      ])
    #expect(run.arguments(of: "c/x") == ["x", "p"])
  }

  @Test func staticValuesAreKnownInNestedFiles() throws {
    let files = WorkflowFiles([
      "main.json": """
      {"inputs": {"n": {"type": "integer"}}, "steps": [{"id": "a", "run": ["a"]},
        {"id": "c", "workflow": "c.json", "with": {"n": "${{ inputs.n }}"}},
        {"id": "d", "workflow": "c.json", "with": {"n": "${{ fromJSON(steps.a.stdout) }}"}}]}
      """,
      "c.json": """
      {"inputs": {"n": {"type": "integer"}}, "steps": [
        {"id": "x", "name": "for ${{ inputs.n }}", "if": "inputs.n > 1", "run": ["x"]}]}
      """,
    ])
    let plan = try #require(Planner.plan(try files.workflow("main.json")).plan)
    let given = [GivenInput("n", .value(1), .program)]
    let inputs = try InputBinding.bind(plan.workflow.inputs, given, inputSource: .program)
    let names = { (plan: Plan) in plan.steps.map { plan.name(of: $0) } }
    #expect(names(plan.bound(to: inputs, run: RunID("r")).plan) == [nil, "for 1", "d/x"])
    let shown = plan.bound(to: inputs, run: nil).plan
    #expect(names(shown) == [nil, "for 1", "for ${{ inputs.n }}"])
    #expect(shown.forecast.conditions == [plan.steps[1].node: false])
  }
}
