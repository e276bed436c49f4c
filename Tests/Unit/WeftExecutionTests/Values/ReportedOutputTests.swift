import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Outputs of steps, groups and runs.
@Suite struct ReportedOutputTests {
  private typealias Act = ValueRun.Act

  // MARK: Steps

  @Test func stepHasComputedAndWrittenOutputs() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "a", "run": "x", "env": { "WHO": "me" }, "outputs": {
          "text": "${{ self.stdout }}!", "code": "${{ self.exitCode }}", "written": { "type": "integer" },
          "list": { "value": "${{ self.json }}", "type": "array" }, "fixed": "1", "who": "${{ env.WHO }}" } },
        { "id": "b", "run": ["echo", "${{ steps.a.outputs.text }}", "${{ steps.a.outputs.written }}",
          "${{ steps.a.outputs.list }}", "${{ toJSON(steps.a.outputs.code) }}", "${{ steps.a.outputs.who }}"] }
      ] }
      """#, acts: ["a": Act(stdout: [Array("[1,2]\n".utf8)], writesOutputs: "written=3\n")])
    #expect(
      run.outputs(of: "a") == [
        "text": #""[1,2]!""#, "code": "0", "written": "3", "list": "[1,2]", "fixed": #""1""#,
        "who": #""me""#,
      ])
    #expect(run.arguments(of: "b") == ["echo", "[1,2]!", "3", "1", "2", "0", "me"])
  }

  @Test func durationOfAStepCanBeRead() throws {
    let (plan, _, _) = try boundPlan(
      #"{ "steps": [{ "id": "a", "run": "x", "outputs": { "n": "${{ self.attempts }}", "d": "${{ self.duration }}" } }] }"#
    )
    let harness = RunHarness(plan)
    harness.time.advance(by: .milliseconds(1500))
    harness.executor.exit("a")
    guard case .finished(let end) = harness.run.report.steps[0].state else {
      Issue.record("step a did not end")
      return
    }
    #expect(shown(end.outputs) == ["n": "1", "d": "1.5"])
  }

  /// The declaration of an output `o`, the text that the step writes, and the expected message.
  static let misdeliveries: [(output: String, written: String, says: String)] = [
    (#"{ "type": "integer" }"#, "", "does not set the output"),
    (#"{ "type": "integer" }"#, "o=three\n", "invalid value"),
    (#"{ "type": "integer" }"#, "o=1\nx=2\n", #"sets "x", which is not declared"#),
    (#"{ "type": "integer" }"#, "o=1\no=2\n", "which line 1 already sets"),
    (#"{ "enum": ["a", "b"] }"#, "o=c\n", "invalid value"),
    (#"{ "value": "${{ self.stdout || 1 }}", "type": "integer" }"#, "", "output \"o\""),
    (#"{ "value": "${{ self.json.x }}", "type": "string" }"#, "", "is not JSON"),
    (#""a ${{ self.signal }}""#, "", #""self.signal" is null"#),
  ]

  @Test("outputs that are not as declared fail the step", arguments: misdeliveries)
  func undeclaredOutputsFailTheStep(output: String, written: String, says: String) throws {
    let run = try ValueRun(
      #"""
      { "steps": [{ "id": "a", "run": "x", "outputs": { "o": \#(output) } },
                  { "id": "b", "run": ["echo", "${{ steps.a.outcome }}"] }] }
      """#, acts: ["a": Act(stdout: [Array("text".utf8)], writesOutputs: written)])
    let failure = try #require(run.failure(of: "a"))
    #expect(failure.classes == [.output])
    #expect(failure.message.contains(says), "\(failure.message)")
    #expect(run.end(of: "a")?.exit == .code(0))
    #expect(run.outputs(of: "a") == [:])
    #expect(run.started["b"] == nil)
  }

  @Test func failedStepHasNoOutputs() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "a", "run": "x", "allowFailure": true, "outputs": { "o": { "type": "string" }, "p": "${{ self.stdout }}" } },
        { "id": "b", "run": ["echo", "${{ steps.a.outputs.o || 'none' }}", "${{ toJSON(steps.a.outputs) }}", "${{ steps.a.stdout }}"] }
      ] }
      """#,
      acts: ["a": Act(stdout: [Array("s".utf8)], writesOutputs: "o=1\n", status: .ended(.code(2)))])
    #expect(run.outputs(of: "a") == [:])
    #expect(run.end(of: "a")?.failure?.classes.first == .exit(2))
    #expect(run.arguments(of: "b") == ["echo", "none", "{}", "s"])
  }

  @Test(
    "a misdelivery can be tolerated by its class",
    arguments: [("true", Outcome.success), (#"["output"]"#, .success), (#"["exit"]"#, .failure)])
  func toleratedMisdelivery(allowFailure: String, outcome: Outcome) throws {
    let run = try ValueRun(
      #"""
      { "steps": [{ "id": "a", "run": "x", "allowFailure": \#(allowFailure), "outputs": { "o": { "type": "string" } } },
                  { "id": "b", "run": ["echo", "${{ steps.a.outputs.o || 'none' }}", "${{ steps.a.conclusion }}"] }] }
      """#)
    #expect(run.outcome == outcome)
    #expect(run.arguments(of: "b") == (outcome == .success ? ["echo", "none", "success"] : nil))
  }

  @Test func successCodesDecideWhetherOutputsAreRead() throws {
    let run = try ValueRun(
      #"{ "steps": [{ "id": "a", "run": "x", "successCodes": [0, 3], "outputs": { "c": "${{ self.exitCode }}" } }] }"#,
      acts: ["a": .exit(3)])
    #expect(run.outputs(of: "a") == ["c": "3"])
  }

  // MARK: Steps without an action

  @Test func aStepWithoutAnActionComputes() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "n": { "default": 2 } }, "maxParallel": 1,
        "steps": [
          { "id": "a", "run": "x" },
          { "id": "c", "env": { "V": "${{ steps.a.stdout }}" }, "outputs": {
            "sum": "${{ env.V }}-${{ inputs.n }}", "n": { "value": "${{ inputs.n }}", "type": "integer" } } },
          { "id": "b", "run": ["echo", "${{ steps.c.outputs.sum }}", "${{ steps.c.outputs.n }}", "${{ steps.c.outcome }}"] }
        ] }
      """#, acts: ["a": .writes("v")])
    #expect(run.outputs(of: "c") == ["sum": #""v-2""#, "n": "2"])
    #expect(run.end(of: "c")?.attempts == 1 && run.end(of: "c")?.exit == nil)
    #expect(run.arguments(of: "b") == ["echo", "v-2", "2", "success"])
    #expect(run.report.end?.counts.succeeded == 3)
  }

  @Test(
    "a step that cannot compute fails, and may be allowed to",
    arguments: [
      ("false", Outcome.failure), ("true", .success), (#"["output"]"#, .success),
      (#""${{ inputs.tolerant }}""#, .success), (#""${{ !inputs.tolerant }}""#, .failure),
    ])
  func failingComputation(allowFailure: String, outcome: Outcome) throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "none": { "default": null }, "tolerant": { "type": "boolean", "default": true } },
        "steps": [
          { "id": "c", "allowFailure": \#(allowFailure), "outputs": { "x": "a${{ inputs.none }}" } },
          { "id": "b", "run": ["echo", "${{ steps.c.outputs.x || 'none' }}", "${{ steps.c.outcome }}"] }
        ] }
      """#)
    #expect(run.failure(of: "c")?.classes == [.output])
    #expect(run.failure(of: "c")?.message.contains("workflow.json:3:") == true)
    #expect(run.outcome == outcome)
    #expect(run.arguments(of: "b") == (outcome == .success ? ["echo", "none", "failure"] : nil))
  }

  // MARK: Groups

  @Test func groupOutputsReadItsMembers() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "g", "parallel": [
          { "id": "x", "run": "x", "outputs": { "o": { "type": "integer" } } },
          { "id": "h", "steps": [{ "id": "deep", "run": "x" }], "outputs": { "inner": "${{ steps.deep.stdout }}" } }
        ], "outputs": { "sum": "${{ steps.x.outputs.o }}+${{ steps.h.outputs.inner }}", "n": "${{ steps.x.outputs.o }}",
                        "how": "${{ self.outcome }}", "member": "${{ steps.h.steps.deep.stdout }}" } },
        { "id": "b", "run": ["echo", "${{ steps.g.outputs.sum }}", "${{ steps.g.outputs.n }}", "${{ steps.g.outcome }}", "${{ steps.g.outputs.member }}"] }
      ] }
      """#, acts: ["x": .writesOutputs("o=3\n"), "deep": .writes("d\n")])
    let outputs = try #require(run.groups["g"]).outputs
    #expect(
      shown(outputs) == ["sum": #""3+d""#, "n": "3", "how": #""success""#, "member": #""d""#])
    #expect(run.arguments(of: "b") == ["echo", "3+d", "3", "success", "d"])
  }

  @Test func aGroupReadsItsMembersAsItsOwn() throws {
    let run = try ValueRun(
      #"""
      { "steps": [{ "id": "g", "parallel": [
          { "id": "a", "run": "x" },
          { "id": "h", "steps": [
            { "id": "b", "run": "y", "outputs": { "n": { "value": "${{ self.json.n }}", "type": "integer" } } }] }],
        "outputs": {
          "text": "${{ self.steps.a.stdout }}", "n": "${{ self.steps.h.steps.b.outputs.n }}",
          "all": "${{ toJSON(self.steps.h.steps.b.outputs) }}", "inner": "${{ self.steps.h.outcome }}" } }] }
      """#, acts: ["a": .writes("from a\n"), "b": .writes(#"{"n": 3}"#)])
    #expect(
      shown(try #require(run.groups["g"]).outputs) == [
        "text": #""from a""#, "n": "3", "all": #""{\n  \"n\": 3\n}""#, "inner": #""success""#,
      ])
  }

  @Test func aMemberIsReadByItsNameAndThroughItsGroups() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "g", "parallel": [{ "id": "h", "steps": [{ "id": "deep", "run": "x" }] }] },
        { "id": "b", "run": ["echo", "${{ steps.deep.stdout }}", "${{ steps.g.steps.h.steps.deep.stdout }}", "${{ steps.h.steps.deep.stdout }}"] }
      ] }
      """#, acts: ["deep": .writes("d\n")])
    #expect(run.arguments(of: "b") == ["echo", "d", "d", "d"])
  }

  @Test func aMemberIsReadThroughItsGroupAlone() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "g", "parallel": [{ "id": "h", "steps": [{ "id": "deep", "run": "x" }] }] },
        { "id": "b", "run": ["echo", "${{ steps.g.steps.h.steps.deep.stdout }}"] }
      ] }
      """#, acts: ["deep": .writes("d\n")])
    #expect(run.arguments(of: "b") == ["echo", "d"])
  }

  @Test func aGroupWhoseOutputsCannotBeHadFails() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "g", "parallel": [{ "id": "x", "run": "x" }], "outputs": { "o": { "value": "${{ steps.x.stdout || 1 }}", "type": "integer" } } },
        { "id": "b", "run": "true" }
      ] }
      """#, acts: ["x": .writes("no number")])
    let group = try #require(run.groups["g"])
    #expect(group.outcome == .failure && group.failure?.classes == [.output])
    #expect(group.outputs == [] && group.cause == nil)
    #expect(run.started["b"] == nil)
    #expect(run.outcome == .failure)
    #expect(run.report.end?.firstFailure?.text == "g")
  }

  @Test func failedGroupHasNoOutputs() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "g", "allowFailure": true, "parallel": [{ "id": "x", "run": "x" }, { "id": "y", "run": "y" }], "outputs": { "o": "1" } },
        { "id": "b", "run": ["echo", "${{ steps.g.outputs.o || 'none' }}", "${{ steps.g.outcome }}", "${{ steps.g.conclusion }}"] }
      ] }
      """#, acts: ["x": .exit(1)])
    #expect(run.groups["g"]?.outputs == [])
    #expect(run.arguments(of: "b") == ["echo", "none", "failure", "success"])
  }

  @Test func aWholeGroupIsAnObject() throws {
    let run = try ValueRun(
      #"""
      { "steps": [
        { "id": "g", "parallel": [{ "id": "x", "run": "x" }], "outputs": { "o": "1" } },
        { "id": "b", "run": ["echo", "${{ toJSON(steps.g) }}"] }
      ] }
      """#)
    let text = try #require(run.arguments(of: "b")?.last)
    #expect(text.contains(#""outcome": "success""#) && text.contains(#""o": "1""#))
    #expect(!text.contains("stdout") && !text.contains("exitCode"), "\(text)")
  }

  // MARK: Runs

  private static let steps = #""steps": [{ "id": "a", "run": "x" }]"#

  @Test func runHasItsOutputs() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "n": { "default": [1] } }, \#(Self.steps),
        "outputs": { "text": "${{ steps.a.stdout }}.", "n": "${{ inputs.n }}", "none": "${{ steps.a.signal }}" } }
      """#, acts: ["a": .writes("out\n")])
    #expect(run.outcome == .success)
    #expect(run.outputs == ["text": #""out.""#, "n": "[1]", "none": "null"])
  }

  @Test(
    "a run whose outputs cannot be had has failed, though every step succeeded",
    arguments: [
      #""x${{ steps.a.signal }}""#, #"{ "value": "${{ steps.a.stdout || 1 }}", "type": "number" }"#,
      #""${{ steps.a.json.x }}""#,
    ])
  func aRunWithoutItsOutputs(output: String) throws {
    let run = try ValueRun(
      "{ \(Self.steps), \"outputs\": { \"fine\": \"1\", \"o\": \(output) } }",
      acts: ["a": .writes("out\n")])
    #expect(run.outcome == .failure)
    #expect(run.report.end?.failure?.classes == [.output])
    #expect(run.report.end?.firstFailure == nil)
    #expect(run.outputs == [:])
    #expect(run.report.end?.counts.succeeded == 1)
  }

  @Test func failedRunHasNoOutputs() throws {
    let run = try ValueRun(
      "{ \(Self.steps), \"outputs\": { \"o\": \"x${{ steps.a.signal }}\" } }", acts: ["a": .exit(1)]
    )
    #expect(run.report.end?.failure == nil && run.report.end?.firstFailure?.text == "a")
    #expect(run.outputs == [:])
  }

  @Test("S09: a secret value is handed on, and told nowhere")
  func secretOutputs() throws {
    let run = try ValueRun(
      #"""
      { "secrets": { "T": { "env": "T" } },
        "steps": [
          { "id": "a", "run": "x", "outputs": { "kept": "${{ format('<{0}>', secrets.T) }}",
            "caught": "${{ self.stdout }}", "said": { "type": "string", "secret": true }, "open": "1" } },
          { "id": "b", "run": "x", "env": { "A": "${{ steps.a.outputs.kept }}", "B": "${{ steps.a.outputs.caught }}", "C": "${{ steps.a.outputs.said }}" } }
        ], "outputs": { "o": "${{ steps.a.outputs.said }}", "p": "${{ steps.a.outputs.open }}" } }
      """#, secrets: ["T": try Secret(Array("hush-hush".utf8))],
      acts: ["a": Act(stdout: [Array("it is hush-hush\n".utf8)], writesOutputs: "said=whisper\n")])
    #expect(run.outputs(of: "a") == ["kept": "-", "caught": "-", "said": "-", "open": #""1""#])
    #expect(run.variable("A", of: "b") == "<hush-hush>")
    #expect(run.variable("B", of: "b") == "it is hush-hush")
    #expect(run.variable("C", of: "b") == "whisper")
    #expect(run.outputs == ["o": "-", "p": #""1""#])
    #expect(!"\(run.report)".contains("whisper") && !"\(run.report)".contains("hush"))
  }

  @Test("S04: a captured value that holds a secret reaches no command line")
  func capturedSecrets() throws {
    let run = try ValueRun(
      #"""
      { "secrets": { "T": { "env": "T" } },
        "steps": [
          { "id": "a", "run": "x", "env": { "T": "${{ secrets.T }}" } },
          { "id": "b", "run": ["echo", "${{ steps.a.stdout }}"] }
        ] }
      """#, secrets: ["T": try Secret(Array("hush-hush".utf8))],
      acts: ["a": .writes("it is hush-hush")])
    #expect(run.failure(of: "b")?.classes == [.expression])
    #expect(run.failure(of: "b")?.message.contains("holds a secret") == true)
    #expect(run.started["b"] == nil)
  }
}
