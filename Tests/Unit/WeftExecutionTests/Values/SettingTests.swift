import Testing
import WeftDefinition
import WeftDiagnostics
import WeftFutures
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Computed settings of a command: variables, directories, limits, and names.
@Suite struct SettingTests {
  // MARK: Variables

  @Test func aVariableReadsTheLayersOutsideOfItsOwn() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "v": { "default": "1" } },
        "env": { "A": "w${{ inputs.v }}", "PLAIN": "p" },
        "steps": [
          { "id": "first", "run": "x" },
          { "id": "g", "env": { "A": "${{ env.A }}g", "FROM": "${{ steps.first.stdout }}", "NONE": null }, "steps": [
            { "id": "s", "run": ["echo", "${{ env.A }}", "${{ env.FROM }}", "${{ env.PLAIN || '-' }}", "${{ env.NONE || '-' }}"],
              "env": { "A": "${{ env.A }}s", "B": "${{ env.A }}", "PLAIN": null } },
            { "id": "t", "run": ["echo", "${{ env.A }}", "${{ env.PLAIN }}"] }
          ] },
          { "id": "u", "run": ["echo", "${{ env.A }}"] }
        ] }
      """#, acts: ["first": .writes("f")])
    #expect(run.variable("A", of: "s") == "w1gs")
    #expect(run.variable("B", of: "s") == "w1g")
    #expect(run.arguments(of: "s") == ["echo", "w1gs", "f", "-", "-"])
    #expect(run.arguments(of: "t") == ["echo", "w1g", "p"])
    #expect(run.arguments(of: "u") == ["echo", "w1"])
  }

  @Test func innerLayersWin() async throws {
    let plan = try boundPlan(
      #"""
      { "env": { "A": "w", "B": "${{ env.HOME }}", "GONE": "here" },
        "steps": [
          { "id": "first", "run": "echo f" },
          { "id": "g", "env": { "A": "${{ env.A }}${{ steps.first.stdout }}", "GONE": "${{ steps.first.signal }}" }, "parallel": [
            { "id": "s", "run": "echo $A $C ${GONE-gone} ${{ env.A }}", "env": { "C": "${{ env.A }}c" } },
            { "id": "t", "run": "echo $A ${C-none} ${GONE-gone}", "env": { "A": "t" } }
          ] },
          { "id": "u", "run": "test \"$B\" = \"$HOME\" && echo $A $GONE" }
        ] }
      """#
    ).plan
    let run = try await RealRun(plan)
    #expect(
      run.logs == ["first": "f\n", "s": "wf wfc gone wf\n", "t": "t none gone\n", "u": "w here\n"])
  }

  @Test func aProgramIsFoundInAnExtendedPath() async throws {
    let directory = try Folder()
    directory.write("tool", "#!/bin/sh\necho found\n", mode: 0o755)
    let (plan, inputs, _) = try boundPlan(
      #"""
      { "inputs": { "bin": { "type": "string" } }, "env": { "PATH": "${{ inputs.bin }}:${{ env.PATH }}" },
        "steps": [{ "id": "s", "run": ["tool"] }, { "id": "t", "run": "tool" }] }
      """#, inputs: ["bin": .string(directory.path)])
    var configuration = EngineConfiguration()
    configuration.inputs = inputs
    let run = try await RealRun(plan, configuration: configuration)
    #expect(run.logs == ["s": "found\n", "t": "found\n"])
  }

  // MARK: Other texts

  @Test func theInnermostDirectoryIsComputedAndTheOuterIsNot() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "none": { "default": null } }, "cwd": "/w/${{ inputs.none }}",
        "steps": [
          { "id": "s", "run": "x", "cwd": "/s/${{ env.D }}", "env": { "D": "d" } },
          { "id": "g", "cwd": "/g/${{ run.id }}", "steps": [{ "id": "t", "run": "x" }, { "id": "u", "run": "x", "cwd": "fixed" }] },
          { "id": "v", "run": "x" }
        ] }
      """#)
    #expect(run.started["s"]?.workingDirectory == "/s/d")
    #expect(run.started["t"]?.workingDirectory == "/g/run-1")
    #expect(run.started["u"]?.workingDirectory == "fixed")
    #expect(run.failure(of: "v")?.message.contains("cwd cannot be computed") == true)
  }

  @Test func runAndWorkflowContextsAreDefined() throws {
    let run = try ValueRun(
      #"""
      { "name": "release", "steps": [{ "id": "s", "run": ["echo", "${{ run.id }}", "${{ run.attempt }}", "${{ workflow.name }}", "${{ workflow.file }}", "${{ toJSON(run) }}"] }] }
      """#)
    #expect(
      run.arguments(of: "s")?.prefix(5) == ["echo", "run-1", "1", "release", "workflow.json"])
    #expect(run.arguments(of: "s")?.last?.contains(#""id": "run-1""#) == true)
  }

  // MARK: Computed keys

  @Test func everyKeyThatMayBeComputedIs() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "t": { "type": "string", "default": "90s" }, "f": { "type": "boolean", "default": true } },
        "steps": [
          { "id": "s", "run": "x", "timeout": "${{ inputs.t }}", "stallTimeout": "${{ format('{0}ms', 1500) }}",
            "stop": { "signal": "INT", "grace": "${{ '0s' }}" }, "logLimit": "${{ '10KiB' }}", "mergeOutput": "${{ inputs.f }}",
            "tty": "${{ !inputs.f }}", "jobserver": "${{ 1 < 2 }}", "allowFailure": "${{ fromJSON('[\"exit:3\", \"timeout\"]') }}" },
          { "id": "t", "run": "x", "allowFailure": "${{ inputs.f }}", "stop": { "grace": "${{ inputs.t }}" } }
        ] }
      """#)
    let step = try #require(run.started["s"])
    let command = try #require(step.command)
    #expect(step.timeout == .seconds(90))
    #expect(command.stallTimeout == .milliseconds(1500))
    #expect(command.stop == StopRequest(signal: "INT", grace: .zero))
    #expect(command.logLimit == ByteCount(10 << 10))
    #expect(command.mergesOutput && !command.usesTerminal && command.usesJobserver)
    #expect(step.allowFailure == .classes([.exit(3), .timeout]))
    #expect(run.started["t"]?.allowFailure == .all)
    #expect(run.started["t"]?.command?.stop == StopRequest(grace: .seconds(90)))
  }

  /// A computed key and its value, with the expected message.
  static let unfit: [(key: String, says: String)] = [
    (#""timeout": "${{ inputs.text }}""#, #"it evaluates to "soon""#),
    (#""timeout": "${{ inputs.any }}""#, #"expected a duration like "30s""#),
    (#""timeout": "${{ format('{0}', 0) }}""#, "it evaluates to \"0\""),
    (#""stallTimeout": "${{ '0s' }}""#, "it evaluates to \"0s\""),
    (#""logLimit": "${{ inputs.text }}""#, #"it evaluates to "soon""#),
    (#""mergeOutput": "${{ inputs.any }}""#, "expected true or false"),
    (#""tty": "${{ inputs.any }}""#, "expected true or false"),
    (#""jobserver": "${{ inputs.any }}""#, "expected true or false"),
    (#""allowFailure": "${{ inputs.any }}""#, "expected true, false or an array of error classes"),
    (
      #""allowFailure": "${{ split('exit,bang', ',') }}""#,
      #"it evaluates to "bang", expected an error class"#
    ),
    (#""stop": { "grace": "${{ inputs.any }}" }"#, "stop.grace cannot be computed"),
  ]

  @Test("a key whose value does not fit fails the step at its start", arguments: unfit)
  func unfitKeys(key: String, says: String) throws {
    let run = try ValueRun(
      #"{ "inputs": { "text": { "type": "string", "default": "soon" }, "any": { "default": 30 } }, "steps": [{ "id": "s", "run": "x", \#(key) }] }"#
    )
    let failure = try #require(run.failure(of: "s"))
    #expect(failure.classes == [.expression])
    #expect(failure.message.contains(says), "\(failure.message)")
    #expect(failure.message.contains("(workflow.json:1:"))
    #expect(run.started["s"] == nil)
  }

  @Test(
    "what is allowed to fail may fail at its own expressions too",
    arguments: [
      #""${{ inputs.f }}""#, "true", #"["expression"]"#, #""${{ split('expression', ',') }}""#,
    ])
  func toleratedExpressions(allowFailure: String) throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "f": { "type": "boolean", "default": true }, "none": { "default": null } },
        "steps": [{ "id": "s", "run": ["echo", "${{ inputs.none }}"], "allowFailure": \#(allowFailure), "env": { "X": "a${{ inputs.none }}" } },
                  { "id": "t", "run": "x" }] }
      """#)
    #expect(run.failure(of: "s")?.classes == [.expression])
    #expect(run.end(of: "s")?.conclusion == .success)
    #expect(run.started["t"] != nil && run.outcome == .success)
  }

  // MARK: Values needed before the start

  private static let early = #"""
    { "inputs": { "who": { "type": "string" }, "n": { "type": "integer", "default": 2 }, "t": { "default": "10s" }, "f": { "default": true } },
      "timeout": "${{ inputs.t }}", "maxParallel": "${{ inputs.n }}",
      "steps": [
        { "name": "for ${{ inputs.who }}", "run": "x" },
        { "id": "g", "name": "in ${{ run.id }}", "timeout": "${{ inputs.t }}", "maxParallel": "${{ inputs.n }}", "allowFailure": "${{ inputs.f }}",
          "parallel": [{ "name": "${{ inputs.n }} of ${{ workflow.file }}", "run": "x" }] }
      ] }
    """#

  @Test func namesAndLimitsAreBoundBeforeTheStart() throws {
    let (plan, _, problems) = try boundPlan(Self.early, inputs: ["who": "you"])
    #expect(problems.map(\.message) == [])
    #expect(plan.steps.map { plan.name(of: $0) } == ["for you", "2 of workflow.json"])
    #expect(plan.name(of: plan.groups[1]) == "in run-1")
    #expect(plan.workflow.timeout == .seconds(10) && plan.workflow.maxParallel == 2)
    #expect(plan.groups[1].maxParallel == 2 && plan.groups[0].maxParallel == 2)
    #expect(plan.groups[1].step?.timeout == .seconds(10))
    #expect(plan.groups[1].step?.allowFailure == .all)
  }

  @Test func knownValuesAreBoundWithoutARun() throws {
    let (plan, _, problems) = try boundPlan(Self.early, run: nil)
    #expect(problems.map(\.message) == [])
    #expect(
      plan.steps.map { plan.name(of: $0) } == ["for ${{ inputs.who }}", "2 of workflow.json"])
    #expect(plan.name(of: plan.groups[1]) == "in ${{ run.id }}")
    #expect(plan.workflow.maxParallel == 2)
  }

  @Test func unboundValueIsReportedWithItsLocation() throws {
    let (_, _, problems) = try boundPlan(
      #"""
      { "inputs": { "n": { "default": 0 }, "t": { "default": "soon" }, "none": { "default": null } },
        "timeout": "${{ inputs.t }}",
        "steps": [{ "name": "a ${{ inputs.none }}", "run": "x" },
                  { "id": "g", "maxParallel": "${{ inputs.n }}", "parallel": ["x"] }] }
      """#)
    #expect(
      problems.map {
        "\($0.place.map { "\($0.file.position(of: Int($0.range.start)).line)" } ?? "-") \($0.message)"
      }
        == [
          #"2 timeout: it evaluates to "soon", expected a duration like "30s""#,
          #"3 name: "inputs.none" is null, which cannot be inserted into text"#,
          #"4 maxParallel: it evaluates to "0", expected a whole number from 1 to 10000"#,
        ])
  }

  @Test func theTimeLimitOfAGroupThatIsComputedHolds() throws {
    let (plan, _, _) = try boundPlan(
      #"{ "inputs": { "t": { "default": "10s" } }, "steps": [{ "id": "g", "timeout": "${{ inputs.t }}", "parallel": [{ "id": "s", "run": "x" }] }] }"#
    )
    let harness = RunHarness(plan)
    harness.time.advance(by: .seconds(9))
    #expect(!harness.executor.isStopping("s"))
    harness.time.advance(by: .seconds(1))
    #expect(harness.executor.isStopping("s"))
    harness.executor.end("s", .stopped(nil))
    #expect(harness.run.completion.isSettled)
  }

  @Test("The parallelism of a loop over a group reads steps, like that of a loop over a step")
  func theParallelismOfALoopIsComputedWithItsElements() throws {
    let (plan, _, problems) = try boundPlan(
      #"""
      { "env": { "N": "2" }, "steps": [
        { "id": "n", "run": "x" },
        { "id": "l", "forEach": { "in": [1, 2, 3], "maxParallel": "${{ add(fromJSON(env.N), steps.n.exitCode) }}" },
          "steps": [{ "id": "s", "run": "x" }] }] }
      """#)
    #expect(problems.map(\.message) == [])
    let harness = RunHarness(plan)
    harness.executor.exit("n")
    #expect(harness.running == ["l[0].s", "l[1].s"])
  }

  @Test func aTolerantGroupThatIsComputedTolerates() throws {
    let run = try ValueRun(
      #"{ "inputs": { "f": { "default": true } }, "steps": [{ "id": "g", "allowFailure": "${{ inputs.f }}", "parallel": [{ "id": "s", "run": "x" }] }, { "id": "t", "run": "x" }] }"#,
      acts: ["s": .exit(1)])
    #expect(run.outcome == .success && run.started["t"] != nil)
  }
}
