import Testing
import WeftDiagnostics
import WeftJSON
import WeftTestKit

@testable import WeftDefinition

/// Workflows are printed as JSON that reads as the same workflow.
@Suite struct WorkflowPrintingTests {
  /// Reads what is printed.
  private func reread(_ workflow: Workflow) throws -> Workflow {
    let text = workflow.rendered()
    let (read, diagnostics) = WorkflowDecoder.decode(SourceFile(path: "printed", bytes: text))
    let errors = diagnostics.filter(\.isError).map(\.message)
    return try #require(
      errors.isEmpty ? read : nil, "\(errors): \(String(decoding: text, as: UTF8.self))")
  }

  private func checkRoundTrip(_ workflow: Workflow) throws {
    let again = try reread(workflow)
    #expect(again == workflow, "\(String(decoding: workflow.rendered(), as: UTF8.self))")
    #expect(again.rendered() == workflow.rendered())
  }

  @Test(arguments: CaseFile.all(in: .accepted))
  func anAcceptedFileIsReadAgain(_ file: CaseFile) throws {
    try checkRoundTrip(try #require(file.decoded().workflow))
  }

  private static let folder = "../../../workflows"

  private static let examples = Golden.names(in: Golden(folder).path)
    .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".test.json") }.sorted()

  private func example(_ name: String) throws -> Workflow {
    let bytes = try #require(Golden("\(WorkflowPrintingTests.folder)/\(name)").read())
    return try #require(WorkflowDecoder.decode(SourceFile(path: name, bytes: bytes)).workflow)
  }

  @Test(arguments: examples) func anExampleIsReadAgain(_ name: String) throws {
    try checkRoundTrip(try example(name))
  }

  @Test func thereAreExamples() { #expect(WorkflowPrintingTests.examples.count > 10) }

  @Test func everyKeyOfEveryTableIsPrinted() throws {
    var printed: Set<String> = []
    func collect(_ value: JSONValue) {
      switch value {
      case .object(let members):
        for member in members {
          printed.insert(member.key)
          collect(member.value)
        }
      case .array(let elements): for element in elements { collect(element) }
      case .null, .bool, .number, .string: break
      }
    }
    for file in CaseFile.all(in: .accepted) { collect(try #require(file.decoded().workflow).json) }
    for name in WorkflowPrintingTests.examples { collect(try example(name).json) }
    let tables = [
      WorkflowDraft.format.rules, StepDraft.format.rules, StepDefaults.format.rules,
      ConcurrencyDraft.format.rules, PoolDraft.format.rules, SecretDraft.format.rules,
      RetryDraft.format.rules, ForEachDraft.format.rules, JoinDraft.format.rules,
      StandardInputDraft.format.rules, ScriptFileDraft.format.rules, StopDraft.format.rules,
      Command.Caching.format.rules,
      WaitDraft.format.rules, HTTPDraft.format.rules, AuthDraft.format.rules,
      BasicAuthDraft.format.rules, HTTPCall.Timeouts.format.rules, RedirectsDraft.format.rules,
      PartDraft.format.rules, HTTPCall.Expectation.format.rules, HTTPCall.TLS.format.rules,
      HTTPCall.Polling.format.rules, HTTPCall.Paging.format.rules,
    ]
    let keys = Set(tables.joined().map { "\($0.name)" } + SchemaKey.allCases.map(\.rawValue))
    // Patterns of files are a call of glob() in "in".
    #expect(keys.subtracting(printed) == ["$schema", "glob"])
  }

  @Test func whatSwiftBuildsReadsWell() throws {
    let workflow = Workflow(
      name: "release",
      steps: [
        Step("build", run: "make all", timeout: .seconds(90)),
        Step("checks", parallel: [Step(run: "make test"), Step(run: ["make", "lint"])]),
        Step("upload", run: ["./upload", "${{ item }}"]).forEach("steps.build.outputs.files")
          .retry(3).if("!inputs.draft"),
      ])
    #expect(
      workflow.json == [
        "name": "release",
        "steps": [
          ["id": "build", "run": "make all", "timeout": "1m30s"],
          ["id": "checks", "parallel": ["make test", ["run": ["make", "lint"]]]],
          [
            "id": "upload", "run": ["./upload", "${{ item }}"], "if": "!inputs.draft", "retry": 3,
            "forEach": ["in": "${{ steps.build.outputs.files }}"],
          ],
        ],
      ])
    #expect(String(decoding: workflow.rendered(), as: UTF8.self).hasPrefix("{\n"))
    #expect(try reread(workflow).rendered() == workflow.rendered())
  }

  @Test func aRaceAtTheTopIsAStep() throws {
    let workflow = Workflow(body: StepGroup(.race, [Step(run: "a"), Step(run: "b")]))
    #expect(workflow.json == ["steps": [["race": ["a", "b"]]]])
  }
}
