import Testing
import Weft

/// The questions that an engine answers without starting anything.
@Suite struct CheckingTests {
  private func text(_ diagnostics: [Diagnostic]) -> String {
    String(decoding: diagnostics.rendered(as: .text), as: UTF8.self)
  }

  // MARK: Check

  @Test func aSoundTextHasAPlanAndKeepsItsWarnings() throws {
    let checked = Engine().check(
      json: Array(#"{ "pools": { "db": 2 }, "steps": [{ "id": "a", "run": "true" }] }"#.utf8),
      named: "w.json")
    #expect(checked.plan?.steps.map(\.address.text) == ["a"])
    #expect(checked.diagnostics.map(\.isError) == [false])
    #expect(text(checked.diagnostics).hasPrefix("w.json:1:14: warning: "))
  }

  @Test func aRejectedTextKeepsWhatWasUnderstood() throws {
    let checked = Engine().check(
      json: Array(#"{ "name": "n", "steps": [{ "id": "a", "run": "true", "needs": ["b"] }] }"#.utf8)
    )
    #expect(checked.plan == nil)
    #expect(checked.workflow?.name == "n")
    #expect(checked.diagnostics.map(\.code) == ["W0203"])
    #expect(text(checked.diagnostics).hasPrefix("<json>:1:64: error: "))
  }

  @Test func acceptedWorkflowIsThatOfThePlan() throws {
    let sound = Engine().check(json: Array(#"{ "steps": ["true"] }"#.utf8))
    #expect(try sound.acceptedWorkflow == sound.workflow)
    let rejected = Engine().check(json: Array(#"{ "steps": [{ "use": "scan" }] }"#.utf8))
    let error = #expect(throws: WorkflowError.self) { try rejected.acceptedWorkflow }
    #expect(error?.diagnostics.map(\.code) == ["W0224"])
  }

  @Test func aTextThatIsNoJSONHasOnlyDiagnostics() {
    let checked = Engine().check(json: Array("{".utf8))
    #expect(checked.workflow == nil && checked.plan == nil)
    #expect(!checked.diagnostics.isEmpty)
  }

  @Test func actionsAreThoseOfTheEngine() throws {
    let json = Array(#"{ "steps": [{ "use": "scan" }] }"#.utf8)
    #expect(Engine().check(json: json).diagnostics.map(\.code) == ["W0224"])
    #expect(Engine(actions: [Action("scan") { _ in .null }]).check(json: json).plan != nil)
    #expect(Engine().check(Workflow(steps: [Step(use: "scan")])).plan == nil)
  }

  @Test func problemsOfNamedFilesAreReportedToo() throws {
    let folder = Folder()
    try folder.write("main.json", naming: "part.json")
    try folder.write("part.json", #"{ "steps": [{ "rnu": "true" }] }"#)
    var options = Engine.Options()
    options.startDirectory = folder.path
    let checked = Engine(options: options).check(contentsOf: folder.path + "/main.json")
    #expect(checked.plan == nil)
    #expect(text(checked.diagnostics).contains("part.json:1:15: error: \"rnu\""))
  }

  @Test func otherFilesOfATextAreRelativeToTheStartDirectory() throws {
    let folder = Folder()
    try folder.write("part.json", #"{ "steps": ["true"] }"#)
    let json = Array(Folder.workflow(naming: ["part.json"]).utf8)
    var options = Engine.Options()
    options.startDirectory = folder.path
    #expect(Engine(options: options).check(json: json).plan != nil)
    #expect(Engine().check(json: json).plan == nil)
  }

  @Test func anUnreadableFileIsADiagnosticThatNamesIt() {
    let checked = Engine().check(contentsOf: "/nowhere/at all.json")
    #expect(checked.workflow == nil)
    #expect(checked.diagnostics.map(\.code) == ["W0000"])
    #expect(text(checked.diagnostics).contains("\"/nowhere/at all.json\""))
  }

  @Test func aWorkflowBuiltInSwiftIsCheckedWithItsStepsNamed() {
    let checked = Engine().check(Workflow(steps: [Step("a", run: "echo ${{ inputs.x }}")]))
    #expect(checked.diagnostics.map { "\($0.step ?? "") \($0.code)" } == ["a W0314"])
  }

  // MARK: Preview

  private static let chain = Workflow(steps: [
    Step("a", run: "true"), Step("b", run: "true"), Step("c", run: "true"),
  ])

  @Test func aPreviewHasTheSelectionAndTheDurationsOfEarlierRuns() async throws {
    let folder = try Scratch()
    let store = FileRunStore(directory: folder.path + "/.weft")
    var workflow = CheckingTests.chain
    workflow.name = "chain"
    let before = try Engine().preview(workflow, in: store)
    #expect(before.expectedDuration == nil && before.criticalPath.isEmpty)

    // Measured several times, since a step that was measured once may not be predicted.
    for _ in 0..<3 { #expect(await (try Engine().start(workflow, in: store)).report.succeeded) }
    let after = try Engine().preview(workflow, in: store)
    #expect(try #require(after.expectedDuration) > .zero)
    #expect(after.criticalPath.map(\.text) == ["a", "b", "c"])
    #expect(store.runs.count == 3, "a preview starts nothing")

    var options = Engine.Options()
    options.skip = ["b"]
    let selected = try Engine(options: options).preview(workflow, in: store)
    #expect(!selected.criticalPath.map(\.text).contains("b"))
  }

  @Test func missingInputsStayOpenAndWrongOnesAreRejected() throws {
    let workflow = try Workflow(
      json: """
        { "inputs": { "n": { "type": "integer" } },
          "steps": [{ "id": "a", "run": "echo ${{ inputs.n }}" }] }
        """)
    #expect(try Engine().preview(workflow).plan.steps.count == 1)
    #expect(try Engine().preview(workflow, inputs: ["N": 3]).plan.steps.count == 1)
    for inputs: [String: JSONValue] in [["n": "three"], ["m": 1]] {
      #expect(throws: WorkflowError.self) { try Engine().preview(workflow, inputs: inputs) }
    }
  }

  @Test func aPreviewRejectsWhatARunRejects() {
    var options = Engine.Options()
    options.only = ["aa"]
    let rejection = #expect(throws: WorkflowError.self) {
      try Engine(options: options).preview(CheckingTests.chain)
    }
    #expect(rejection?.diagnostics.map(\.code) == ["W0226"])
    #expect(throws: WorkflowError.self) { try Engine().preview(Workflow(steps: [Step(use: "x")])) }
  }

  // MARK: Cached results

  @Test func aPreviewPredictsWhichStepsAreCached() async throws {
    let folder = Folder()
    try folder.write("in.txt", "one")
    var options = Engine.Options()
    options.startDirectory = folder.path
    options.cacheDirectory = folder.path + "/kept"
    let engine = Engine(options: options)
    let workflow = try Workflow(
      json: """
        { "steps": [
          { "id": "make", "run": "cat in.txt", "cache": { "inputs": ["in.txt"] } },
          { "id": "test", "run": "true" }] }
        """)
    let make = StepAddress("make")
    let first = try #require(try engine.preview(workflow).cachePrediction(of: make))
    #expect(first.isCached == false)
    #expect(first.explanation(of: make) == ["\"make\" would run: no result is cached"])
    #expect(try engine.preview(workflow).cachePrediction(of: StepAddress("test")) == nil)
    #expect(try engine.preview(workflow).cachePrediction(of: StepAddress("none")) == nil)

    let run = try engine.start(workflow)
    #expect(await run.report.succeeded)
    let second = try #require(try engine.preview(workflow).cachePrediction(of: make))
    #expect(second.isCached == true)
    #expect(second.explanation(of: make).first == "\"make\" would not run: its result is cached")

    try folder.write("in.txt", "two")
    let third = try #require(try engine.preview(workflow).cachePrediction(of: make))
    #expect(third.isCached == false)
    let lines = third.explanation(of: make)
    #expect(lines.first == "\"make\" would run: inputs changed")
    #expect(lines.contains { $0.hasPrefix("  inputs  in.txt  ") && $0.contains(" -> ") })
    #expect(lines.last?.hasPrefix("compared with its result in run \(run.id), at ") == true)

    // Steps that something else runs are not cached.
    let remote = Engine(options: options, commands: { _ in .code(0) })
    #expect(try remote.preview(workflow).cachePrediction(of: make) == nil)
  }

  // MARK: Expressions

  @Test func anExpressionIsEvaluatedInGivenContexts() throws {
    let contexts: JSONObject = ["inputs": ["version": "1.2.0"]]
    #expect(try JSONValue(evaluating: "inputs.version", in: contexts) == "1.2.0")
    #expect(try JSONValue(evaluating: "v${{ inputs.version }}", in: contexts) == "v1.2.0")
    let error = #expect(throws: WorkflowError.self) {
      try JSONValue(evaluating: "input.version", in: contexts)
    }
    #expect(error?.description.contains("<expression>:1:1: error: ") == true)
    #expect(error?.description.contains("did you mean \"inputs\"?") == true)
  }
}
