import Testing
import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning
import WeftTestKit

/// Steps that run actions: the available actions, and what other steps can read of them.
@Suite struct ActionTests {
  private static func found(_ json: String, _ actions: Set<ActionName> = ["resize"]) throws
    -> [String]
  {
    let workflow = try WorkflowFiles(["main.json": json]).workflow("main.json")
    let (plan, diagnostics) = Planner.plan(workflow, actions: actions)
    #expect((plan == nil) == diagnostics.contains(where: \.isError))
    return diagnostics.map { diagnostic in
      let column = diagnostic.place.map { place in
        "\(place.file.position(of: Int(place.range.start)).column) "
      }
      return "\(column ?? "")\(diagnostic.code) \(diagnostic.message)"
        + (diagnostic.help.map { "; \($0)" } ?? "")
    }
  }

  static let registrations: [(names: [String], help: String)] = [
    (["resize"], "did you mean \"resize\"?"),
    (["zoom", "blur"], "registered are blur, zoom"),
    (["zoom"], "registered is zoom"),
    ([], "actions are registered by programs that embed Weft; this program has registered none"),
  ]

  @Test(arguments: registrations)
  func unregisteredActionIsReported(names: [String], help: String) throws {
    let actions = Set(names.compactMap { ActionName($0) })
    #expect(
      try Self.found(#"{"steps": [{"id": "small", "use": "resise"}]}"#, actions) == [
        "35 W0224 step \"small\" uses the action \"resise\", which is not registered; \(help)"
      ])
  }

  @Test func everyPlaceOfAStepIsLookedAt() throws {
    let found = try Self.found(
      """
      {"steps": [
        {"race": [{"use": "a"}, "true"]},
        {"run": "true", "cleanup": {"use": "b"}},
        {"forEach": {"in": [1]}, "use": "c"}],
       "finally": [{"use": "d"}, {"use": "resize"}]}
      """)
    #expect(found.map { $0.split(separator: " ")[1] } == ["W0224", "W0224", "W0224", "W0224"])
  }

  @Test func actionResultIsReadAsJSON() throws {
    #expect(
      try Self.found(
        """
        {"steps": [
          {"id": "a", "use": "resize", "with": {"path": "a.png"},
           "outputs": {"width": "${{ self.json.width }}"}},
          {"id": "all", "forEach": {"in": [1]}, "use": "resize", "with": {"n": "${{ item }}"}},
          {"run": ["echo", "${{ steps.a.json.width }}", "${{ steps.a.outputs.width }}"]},
          {"run": ["echo", "${{ steps.all.results[0].json.width }}", "${{ steps.a.duration }}"]}]}
        """) == [])
  }

  @Test(arguments: ["stdout", "stderr", "exitCode", "signal"])
  func actionHasNoOtherResultFields(field: String) throws {
    let found = try Self.found(
      #"{"steps": [{"id": "a", "use": "resize"}, {"run": ["echo", "${{ steps.a.FIELD }}"]}]}"#
        .replacing("FIELD", with: field))
    #expect(found.count == 1)
    #expect(
      found[0].contains("the result of a step that runs an action has no"), "\(found)")
  }

  @Test func actionTakesSecretsAndHasComputedOutputsOnly() throws {
    #expect(
      try Self.found(
        """
        {"secrets": {"KEY": {"env": "KEY"}},
         "steps": [{"use": "resize", "with": {"key": "${{ secrets.KEY }}"}}]}
        """) == [])
    let found = try Self.found(
      #"{"steps": [{"id": "a", "use": "resize", "outputs": {"w": {"type": "string"}}}]}"#)
    #expect(found.count == 1 && found[0].contains("W0325"), "\(found)")
  }

  @Test func actionWaitsForItsReferences() throws {
    let workflow = try WorkflowFiles([
      "main.json": """
      {"parallel": [{"id": "b", "use": "resize", "with": {"path": "${{ steps.a.stdout }}"}},
                    {"id": "a", "run": "a"}]}
      """
    ]).workflow("main.json")
    let plan = try #require(Planner.plan(workflow, actions: ["resize"]).plan)
    #expect(plan.waits == ["b: a", "a:"])
  }

  @Test(arguments: [
    (PlanFormat.tree, "runs the action resize  # with path, size"),
    (PlanFormat.json, #""use":"resize","with":["path","size"]"#),
  ])
  func isPrinted(format: PlanFormat, text: String) throws {
    let step = Step(
      "small", use: "resize",
      with: [Parameter("path", .text("${{ 1 }}")), Parameter("size", .value(.number(640)))])
    let plan = try #require(Planner.plan(Workflow(steps: [step]), actions: ["resize"]).plan)
    let printed = String(decoding: plan.rendered(as: format), as: UTF8.self)
    #expect(printed.contains(text), "\(printed)")
  }
}
