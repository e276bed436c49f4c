package import WeftDiagnostics
import WeftJSON

/// Decodes the text of a test file.
package enum TestFileDecoder {
  /// - Returns: The file as far as it was understood, `nil` if too much is missing; and all problems, sorted by
  ///   location. If there is an error among them, no case may be run.
  package static func decode(_ source: SourceFile) -> (file: TestFile?, diagnostics: [Diagnostic]) {
    let (root, textDiagnostics) = JSONReader.read(source)
    if let foreign = ForeignFormat.diagnostic(ofText: source, problems: textDiagnostics) {
      return (nil, [foreign])
    }
    guard let root else { return (nil, textDiagnostics) }
    let (file, diagnostics) = DecodingPass.reading(root) { pass in
      let file = pass.testFile(root, of: source)
      return (file, pass.diagnostics)
    }
    return (file, (textDiagnostics + diagnostics).sortedByLocation())
  }
}

extension TestFile: HasTestSettings {
  static let schema: StaticString = #"""
    {"examples": [{"workflow": "release.json", "cases": [{"name": "a failing test stops it",
    "steps": {"build": {}, "test": {"exit": 1}}, "expect": {"outcome": "failure",
    "neverStarts": ["publish"]}}]}],
    "defaultSnippets": [{"label": "tests of a workflow", "body": {"workflow": "$1",
    "cases": [{"name": "$2", "steps": {"$3": {}}, "expect": {"outcome": "success"}}]}}]}
    """#
  static let reportsAllMissingKeys = true

  static let format = ObjectFormat<TestFile>("a test file") {
    FormatKey(
      "$schema", "Schema of this file",
      "The location of this schema, for editors; ignored by weft.",
      schema: #"{"examples": ["../schemas/test.schema.json"]}"#
    ) { _, _, _, _ in }
    FormatKey("description", .verbatim, "Description", "A remark for readers.") { _, _ in }
    FormatKey(
      "workflow", ValueFormat<String>.filledVerbatim("the path of a workflow").placed, "Workflow",
      "The path of the workflow, relative to the folder of this file.",
      schema: #"{"type": "string", "minLength": 1, "examples": ["release.json"]}"#,
      synonyms: "file path target", required: "\"workflow\": \"release.json\"", at: \.workflow)
    FormatKey<TestFile>.testSettings
    FormatKey(
      "cases", ValueFormat { $0.testCases($1, $2) }, "Cases", "The cases; names are unique.",
      schema: #"{"type": "array", "items": "@case", "minItems": 1}"#, synonyms: "tests test",
      required: "\"cases\": [{ \"name\": \"…\", \"steps\": { … }, \"expect\": { … } }]"
    ) { $0.cases = $1 }
  }

  static func misplaced(_ key: String, _ value: JSONNode) -> Diagnostic? {
    TestCase.format.rule(named: key).map { _ in .caseKeyOfFile(key) }
  }
}

extension TestCase: HasTestSettings {
  static let schema: StaticString = #"""
    {"examples": [{"name": "a release", "steps": {"build": {}}, "expect": {"exitCode": 0}}]}
    """#
  static let reportsAllMissingKeys = true

  static let format = ObjectFormat<TestCase>("a case") {
    FormatKey(
      "name", ValueFormat<String>.filledVerbatim("a name").placed, "Name",
      "A name for reports.", schema: #"{"type": "string", "minLength": 1}"#,
      synonyms: "title id", required: "\"name\": \"a release\"", at: \.name)
    FormatKey("description", .verbatim, "Description", "A remark for readers.") { _, _ in }
    FormatKey<TestCase>.testSettings
    FormatKey(
      "startsAt", ValueFormat { $0.moment($1, $2) }, "Start",
      "The wall clock at the start of the run.",
      schema: #"""
        {"type": "string", "default": "2026-01-01T00:00:00Z",
        "examples": ["2026-11-21T09:00:00Z"]}
        """#, synonyms: "now clock time date", at: \.startsAt)
    FormatKey(
      "maxParallel", ValueFormat<Int>.integer(ValueRule.slots), "Parallel steps",
      "The maximum number of steps that run at once, as -j. Default: the workflow's, else 8.",
      synonyms: "jobs parallel", at: \.maxParallel)
    FormatKey(
      "onFailure", .word(of: FailureResponse.self), "Effect of a failure",
      "Overrides that of the workflow, as -k and --fail-fast.", at: \.onFailure)
    FormatKey(
      "timeout", ValueFormat(FormatType(.duration(allowsZero: false))) { $0.duration($1, $2) },
      "Time limit", "The time limit of the run, as --timeout. Default: the workflow's.",
      schema: #"{"examples": ["1h"]}"#, at: \.timeout)
    FormatKey("only", .patterns, "Only", "The selected steps, as --only.", at: \.only)
    FormatKey("skip", .patterns, "Skip", "The skipped steps, as --skip.", at: \.skip)
    FormatKey("from", .patterns, "From", "The first steps, as --from.", at: \.from)
    FormatKey(
      "args", ValueFormat { $0.placedTexts($1, $2) }, "Arguments",
      "The arguments of the run, as after --.",
      schema: #"{"type": "array", "items": {"type": "string"}, "examples": [["-v", "src"]]}"#,
      synonyms: "arguments argv", at: \.arguments)
    FormatKey(
      "state", .namedValues, "State",
      "The state that earlier runs have kept; what is not named has its default.",
      schema: #"{"type": "object", "examples": [{"last": "v1.2.0"}]}"#, at: \.state)
    FormatKey(
      "interrupt", ValueFormat { $0.interruptions($1, $2) }, "Interruptions",
      "Interferences from outside, at a time or when a step starts or ends.",
      schema: #"""
        {"anyOf": ["@interruption", {"type": "array", "items": "@interruption"}],
        "examples": [{"at": "10s", "do": "cancel"}]}
        """#, synonyms: "interruptions interrupts cancel kill crash", at: \.interruptions)
    FormatKey(
      "resume", ValueFormat { $0.resumptions($1, $2) }, "Resumption",
      """
      Resumes the run when its first engine has ended: it crashed, the run failed, or it \
      was suspended. An array: one engine after another.
      """,
      schema: #"""
        {"anyOf": [{"type": "boolean"}, "@resumption", {"type": "array",
        "items": {"anyOf": [{"const": true}, "@resumption"]}, "minItems": 1}], "examples": [true]}
        """#, synonyms: "resumes continue", at: \.resumptions)
    FormatKey(
      "orders", ValueFormat<Int>.integer(1...TestCase.mostOrders), "Orders",
      "The number of completion orders to try, each with its seed.",
      schema: #"{"default": 1}"#, synonyms: "seeds repeat interleavings", at: \.orders)
    FormatKey(
      "expect", ValueFormat("expectations") { $0.expectations($1, $2) }, "Expectations",
      "Everything that the run must do.", synonyms: "expected expectations assert asserts then",
      required: "\"expect\": { \"outcome\": \"success\" }", at: \.expected)
  }
}

extension FormatKey where Object: HasTestSettings {
  @FormatBuilder<Object> static var testSettings: [FormatKey] {
    FormatKey(
      "inputs", ValueFormat { $0.members($1, $2) }, "Inputs",
      "Inputs of the workflow; those of a case override those of the file.",
      schema: #"{"type": "object", "examples": [{"version": "1.2.0"}]}"#,
      synonyms: "parameters params with", at: \.settings.inputs)
    FormatKey(
      "secrets", .namedTexts, "Secrets",
      "Values of secrets by their names in the workflow; their sources are not read.",
      schema: #"{"examples": [{"TOKEN": "not-a-real-token"}]}"#,
      synonyms: "secret", at: \.settings.secrets)
    FormatKey(
      "env", .namedTexts, "Environment",
      "The environment of weft; nothing of the real one is inherited.",
      schema: #"{"examples": [{"CI": "true"}]}"#,
      synonyms: "environment variables", at: \.settings.environment)
    FormatKey(
      "steps", .scripts, "Results of steps",
      """
      Results by address or pattern (* is any text), of every attempt or of successive ones. \
      An exact address comes before a pattern, and a case before the file.
      """,
      synonyms: "results scripts mocks stubs jobs", at: \.settings.steps)
  }
}

extension DecodingPass {
  fileprivate mutating func testFile(_ root: JSONNode, of source: SourceFile) -> TestFile? {
    guard root.kind == .object else {
      if root.kind != .unreadable { report(.notATestFile(found: root.noun), at: root) }
      return nil
    }
    // The results of a test file are an object, the steps of a workflow are an array.
    if let steps = member("steps", of: root)?.value, steps.kind == .array,
      member("cases", of: root) == nil
    {
      report(.workflowInsteadOfTests, at: root)
      return nil
    }
    var file = TestFile(source: source)
    read(root, .itself, into: &file)
    return file
  }

  fileprivate mutating func testCases(_ node: JSONNode, _ field: Field) -> [TestCase]? {
    var names: [String: JSONNode] = [:]
    return elements(of: node, field, wanted: "an array of cases", atLeast: "a case") {
      pass, element, field in
      guard pass.isObject(element, field, wanted: "a case") else { return nil }
      var testCase = TestCase()
      pass.readInside(field, element, into: &testCase)
      let name = testCase.name.value
      if let first = names[name], let own = pass.member("name", of: element)?.value {
        pass.report(.repeatedCase(name), at: own, related: ("the first is here", first))
      }
      names[name] = names[name] ?? pass.member("name", of: element)?.value
      return testCase
    }
  }

  fileprivate mutating func expectations(_ node: JSONNode, _ field: Field) -> TestExpectations? {
    let help = "write { \"outcome\": \"success\" }"
    guard isObject(node, field, wanted: "an object", help: help) else { return nil }
    if node.members.isEmpty {
      report(.empty(path: path(field), wanted: "at least one expectation"), at: node)
    }
    var expected = TestExpectations()
    readInside(field, node, into: &expected)
    return expected
  }

  fileprivate mutating func moment(_ node: JSONNode, _ field: Field) -> WallMoment? {
    guard let text = plainText(node, path(field)) else { return nil }
    do { return try MomentText.moment(from: text) } catch {
      report(.invalidMoment(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }
}

extension TestFile {
  /// The error of a test file that is read as a workflow; `nil` if the file is none.
  static func diagnostic(forWorkflow root: JSONNode, of source: SourceFile) -> Diagnostic? {
    guard root.kind == .object, root.member("parallel") == nil,
      root.member("steps").map({ $0.kind == .object }) ?? true
    else { return nil }
    let hasCases = root.member("cases")?.kind == .array
    let isNamed = [".test.json", ".test.jsonc"].contains { source.path.hasSuffix($0) }
    guard hasCases || isNamed else { return nil }
    return Diagnostic(
      .error, code: DefinitionCode.wrongType.rawValue,
      message: "this is a test file, expected a workflow", place: root.place,
      help: "to run its cases: weft test \(source.path)")
  }
}

extension Diagnostic {
  fileprivate static func notATestFile(found: String) -> Diagnostic {
    Diagnostic(
      .wrongType, "a test file holds one object, found \(found)",
      help: "weft init --test FILE writes a first one")
  }

  fileprivate static var workflowInsteadOfTests: Diagnostic {
    Diagnostic(
      .wrongType, "this is a workflow, expected a test file",
      help: "weft init --test NAME.test.json writes a first test of NAME.json")
  }

  fileprivate static func caseKeyOfFile(_ key: String) -> Diagnostic {
    Diagnostic(
      .misplacedKey, "\"\(key)\" is a key of a case, not of the file",
      help: "move it into a case: \"cases\": [{ \"\(key)\": … }]")
  }

  fileprivate static func repeatedCase(_ name: String) -> Diagnostic {
    Diagnostic(
      .repeatedValue, "two cases have the name \(quoted(name))", help: "reports tell them by names")
  }
}
