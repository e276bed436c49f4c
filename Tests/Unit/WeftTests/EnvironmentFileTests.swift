import TestSupport
import Testing
import WeftDiagnostics

@testable import Weft

/// Env files of workflows that a program builds, or decodes from a text: their paths are relative to the start directory.
@Suite(.hangLimit) struct EnvironmentFileTests {
  private let folder = Folder()

  private var engine: Engine {
    var options = Engine.Options()
    options.startDirectory = folder.path
    options.environment = ["PATH": "/usr/bin:/bin", "OUTER": "outer"]
    return Engine(options: options)
  }

  private func output(of workflow: Workflow) async throws -> String {
    let run = try engine.start(workflow)
    #expect(await run.report.succeeded)
    return String(decoding: run.output(of: StepAddress("a")), as: UTF8.self)
  }

  private static let script = "printf '%s,%s,%s' $A $B $OUTER"

  @Test func aDecodedTextReadsThem() async throws {
    try folder.write("a.env", "A=1\nB=$OUTER\n")
    let workflow = try Workflow(
      json:
        #"{"envFile": "a.env", "env": {"A": 2}, "steps": [{"id": "a", "run": "\#(Self.script)"}]}"#)
    #expect(try await output(of: workflow) == "2,outer,outer")
  }

  @Test func aBuiltWorkflowReadsThem() async throws {
    try folder.write("a.env", "A=1\nB=1\n")
    try folder.write("b.env", "B=$B$A\n")
    var step = Step(id: "a", action: .run(Command(.script(Self.script))))
    step.settings.environmentFiles = [
      EnvironmentFile(path: "a.env"), EnvironmentFile(path: "none.env", isRequired: false),
      EnvironmentFile(path: "b.env"),
    ]
    #expect(try await output(of: Workflow(steps: [step])) == "1,11,outer")
  }

  @Test func aMissingFileStartsNothing() throws {
    var workflow = Workflow(steps: [Step(id: "a", action: .run(Command(.script("true"))))])
    workflow.settings.environmentFiles = [EnvironmentFile(path: "none.env")]
    let error = #expect(throws: WorkflowError.self) { try engine.start(workflow) }
    #expect(error?.diagnostics.map(\.code) == ["W0610"])
    #expect(engine.check(workflow).diagnostics.map(\.severity) == [.note])
    workflow.settings.environmentFiles = [EnvironmentFile(path: "")]
    #expect(engine.check(workflow).diagnostics.map(\.code) == ["W0404"])
  }
}
