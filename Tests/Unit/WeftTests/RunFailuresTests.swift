import TestSupport
import Testing
import Weft
import WeftDiagnostics
import WeftJSON
import WeftPlatform

/// The failures of a run as its `finally` sees them: `run.failures`.
@Suite(.hangLimit) struct RunFailuresTests {
  private static let tell = StepAddress("tell")

  /// The failures as the step `tell` of `finally` sees them.
  private func failures(
    of steps: String, more: String = "", _ options: Engine.Options = Engine.Options(),
    inputs: [String: JSONValue] = [:]
  ) async throws -> [JSONValue] {
    let workflow = try Workflow(
      json: """
        { \(more) "steps": \(steps),
          "finally": [{ "id": "tell", "run": ["printf", "%s", "${{ toJSON(run.failures) }}"] }] }
        """)
    let run = try Engine(options: options).start(workflow, inputs: inputs)
    let report = await run.report
    #expect(!report.succeeded)
    let (node, _) = JSONReader.read(SourceFile(path: "told", bytes: run.output(of: Self.tell)))
    guard case .array(let failures)? = node.map({ JSONValue($0) }) else {
      Issue.record("no array")
      return []
    }
    return failures
  }

  private func steps(_ failures: [JSONValue]) -> [JSONValue?] { failures.map { $0["step"] } }

  @Test func aFailureHasItsClassItsMessageAndItsLastLines() async throws {
    let found = try await failures(
      of: #"[{ "id": "build", "run": "seq 30; echo 10%; printf 'no\n' >&2; exit 7" }, "true"]"#)
    #expect(steps(found) == ["build"])
    #expect(found[0]["class"] == "exit:7")
    #expect(found[0]["message"] == "exited with code 7")
    let lines = ((13...30).map { "\($0)" } + ["10%", "no"]).map(JSONValue.string)
    #expect(found[0]["lastLines"] == .array(lines))
  }

  @Test func theCauseComesFirst() async throws {
    let found = try await failures(
      of: #"""
        [{ "parallel": [
          { "id": "later", "needs": ["first"], "if": "always()", "run": "exit 3" },
          { "id": "first", "run": "exit 2" }] }]
        """#, more: #""onFailure": "continue","#)
    #expect(steps(found) == ["first", "later"])
  }

  @Test func whatIsToleratedIsNoFailure() async throws {
    let found = try await failures(
      of: #"""
        [{ "id": "lenient", "run": "exit 1", "allowFailure": true },
         { "id": "again", "run": "test $WEFT_ATTEMPT -gt 1", "retry": 1 },
         { "id": "group", "allowFailure": true, "steps": [{ "id": "inner", "run": "exit 1" }] },
         { "id": "won", "race": [{ "id": "lost", "run": "exit 1" }, "sleep 0.1"] },
         { "id": "each", "forEach": { "in": [0, 1], "tolerate": 1 }, "run": "exit ${{ item }}" },
         { "id": "slow", "timeout": "50ms", "steps": ["sleep 60"] }]
        """#)
    #expect(steps(found) == ["slow"])
    #expect(found[0]["class"] == "timeout")
    #expect(found[0]["lastLines"] == [])
  }

  @Test(
    "A nested file sees its own failures, by their ids in it",
    arguments: ["", #", "forEach": ["b"]"#])
  func aNestedFileSeesItsOwnFailures(loop: String) async throws {
    let folder = try Scratch()
    try Descriptor.creating(folder.path + "/n.json", .onlyNew).writeAll(
      #"""
      { "steps": [{ "id": "x", "run": "exit 3" }],
        "finally": [{ "id": "f", "run": ["printf", "%s", "${{ toJSON(run.failures) }}"] }] }
      """#)
    try Descriptor.creating(folder.path + "/w.json", .onlyNew).writeAll(
      #"""
      { "onFailure": "continue", "parallel": [
          { "id": "other", "run": "exit 9" },
          { "id": "n", "needs": ["other"], "if": "always()"\#(loop), "workflow": "n.json" }] }
      """#)
    let workflow = try Workflow(contentsOf: folder.path + "/w.json", startDirectory: folder.path)
    let run = try Engine().start(workflow)
    _ = await run.report
    let seen = run.output(of: StepAddress(loop.isEmpty ? "n/f" : "n[0]/f"))
    let text = String(decoding: seen, as: UTF8.self)
    #expect(text.contains(#""step": "x""#) && !text.contains("other"), "\(text)")
  }

  @Test func onlyTheLastAttemptIsTold() async throws {
    let found = try await failures(
      of: #"[{ "id": "again", "retry": 1, "run": "echo attempt $WEFT_ATTEMPT; exit 1" }]"#)
    #expect(found.map { $0["lastLines"] } == [["attempt 2"]])
  }

  @Test func secretsAreMasked() async throws {
    let found = try await failures(
      of:
        #"[{ "id": "leaks", "env": { "T": "${{ inputs.t }}" }, "run": "echo \"is $T\"; exit 1" }]"#,
      more: #""inputs": { "t": { "secret": true } },"#, inputs: ["t": "hush-hush"])
    #expect(found.map { $0["lastLines"] } == [["is ***"]])
  }

  @Test func elementsAndStepsOfOtherGroupsAreNamedByTheirAddresses() async throws {
    let found = try await failures(
      of: #"[{ "id": "each", "forEach": ["a", "b"], "run": "exit ${{ index }}" }]"#)
    #expect(steps(found) == ["each[1]"])
  }

  @Test func aRunThatHasNotFailedHasNone() async throws {
    let workflow = try Workflow(
      json: """
        { "steps": ["true"],
          "finally": [{ "id": "tell", "run": ["printf", "%s", "${{ length(run.failures) }}"] }] }
        """)
    let run = try Engine().start(workflow)
    #expect(await run.report.succeeded)
    #expect(String(decoding: run.output(of: Self.tell), as: UTF8.self) == "0")
  }

  @Test(arguments: [
    #"{ "steps": ["echo ${{ run.failures[0].step }}"] }"#,
    #"{ "steps": ["true"], "finally": [{ "name": "${{ run.failures[0].step }}", "run": "true" }] }"#,
    #"{ "steps": [{ "run": "true", "cleanup": ["echo ${{ run.failures[0].step }}"] }] }"#,
  ])
  func elsewhereTheyAreAnError(text: String) throws {
    let workflow = try Workflow(json: text)
    let error = #expect(throws: WorkflowError.self) { try Engine().plan(workflow) }
    #expect(error?.diagnostics.map(\.code) == ["W0317"])
  }
}
