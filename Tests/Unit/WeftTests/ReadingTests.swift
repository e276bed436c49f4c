import Testing
import Weft
import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A workflow read from a file together with the files that it names.
@Suite struct ReadingTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-test-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer { Directory.removeTree(path) }
    for (name, text) in [
      ("main.json", #"{"steps": [{"id": "build", "workflow": "lib/build.json"}]}"#),
      ("lib/build.json", #"{"name": "build", "steps": ["true"]}"#),
      ("wrong.json", #"{"steps": ["true", {"workflow": "lib/biuld.json"}]}"#),
    ] {
      try FileSystem.makeDirectories(path + "/lib")
      try Descriptor.creating("\(path)/\(name)", .onlyNew).writeAll(text)
    }
    try body(path)
  }

  private func nested(_ workflow: Workflow) -> NestedWorkflow? {
    guard case .workflow(let nested) = workflow.body.members[0].action else { return nil }
    return nested
  }

  @Test func theFilesThatAFileNamesAreReadWithIt() throws {
    try withFolder { path in
      let workflow = try Workflow(contentsOf: path + "/main.json", startDirectory: path)
      #expect(nested(workflow)?.workflow?.name == "build")
    }
  }

  @Test(arguments: [
    #"{"run": "x", "retry": {"max": 2, "delay": "5m", "maxDelay": "1m"}}"#, #"{"race": []}"#,
    #"{"http": ""}"#, #"{"run": "x", "matrix": {"a": 3}}"#,
    #"{"run": "x", "cache": {"inputs": ["/a"], "outputs": []}}"#,
  ])
  func aMistakeOfAStepIsReportedOnce(step: String) {
    let diagnostics = Engine().check(json: Array(#"{"steps": [\#(step)]}"#.utf8)).diagnostics
    #expect(diagnostics.count == 1, "\(diagnostics.map(\.message))")
  }

  @Test func filesOutsideOfTheStartDirectoryAreRefused() throws {
    try withFolder { path in
      let error = #expect(throws: WorkflowError.self) {
        try Workflow(contentsOf: path + "/main.json", startDirectory: path + "/lib")
      }
      #expect(error?.diagnostics.map(\.code) == ["W0602"])
    }
  }

  @Test func aFileThatIsNotThereRejectsTheOneThatNamesIt() throws {
    try withFolder { path in
      let error = #expect(throws: WorkflowError.self) {
        try Workflow(contentsOf: path + "/wrong.json", startDirectory: path)
      }
      #expect(error?.diagnostics.map(\.code) == ["W0601"])
      #expect(error?.diagnostics.first?.help == "did you mean \"build.json\"?")
    }
  }

  @Test func aTextIsDecodedAndNothingElseIsRead() throws {
    let workflow = try Workflow(json: #"{"steps": [{"workflow": "../nowhere.json"}]}"#)
    #expect(nested(workflow)?.workflow == nil)
    let script = try Workflow(json: #"{"steps": [{"script": {"file": "a.sh"}}]}"#)
    let error = #expect(throws: WorkflowError.self) { try Engine().start(script) }
    #expect(error?.diagnostics.map(\.code) == ["W0116"])
  }

  @Test func aScriptFileThatIsBuiltInSwiftRuns() async throws {
    let step = Step("a", script: ScriptFile(path: "a.sh", text: "exit 3"))
    let run = try Engine().start(Workflow(steps: [step]))
    #expect(await run.report.end?.outcome == .failure)
  }
}
