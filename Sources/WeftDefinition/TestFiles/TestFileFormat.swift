package import WeftDiagnostics
import WeftJSON

/// Decodes the text of a test file.
package enum TestFileDecoder {
  /// - Returns: The file as far as it was understood, `nil` if too much is missing; and all problems, sorted by
  ///   location. If there is an error among them, no case may be run.
  package static func decode(_ source: SourceFile) -> (file: TestFile?, diagnostics: [Diagnostic]) {
    let (root, textDiagnostics) = JSONReader.read(source)
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
    FormatKey(
      "description", .verbatim, "Description", "A remark for readers."
    ) { _, _ in }
    FormatKey(
      "workflow",
      ValueFormat { $0.filledVerbatim($1, $2, wanted: "the path of a workflow") }
        .placed,
      "Workflow", "The path of the workflow, relative to the folder of this file.",
      schema: #"{"type": "string", "minLength": 1, "examples": ["release.json"]}"#,
      synonyms: "file path target", required: "\"workflow\": \"release.json\""
    ) { $0.workflow = $1 }
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
      "name", ValueFormat { $0.filledVerbatim($1, $2, wanted: "a name") }.placed, "Name",
      "A name for reports.", schema: #"{"type": "string", "minLength": 1}"#,
      synonyms: "title id", required: "\"name\": \"a release\""
    ) { $0.name = $1 }
    FormatKey("description", .verbatim, "Description", "A remark for readers.") { _, _ in }
    FormatKey<TestCase>.testSettings
    FormatKey(
      "startsAt", ValueFormat { $0.moment($1, $2) }, "Start",
      "The wall clock at the start of the run.",
      schema: #"""
        {"type": "string", "default": "2026-01-01T00:00:00Z",
        "examples": ["2026-11-21T09:00:00Z"]}
        """#, synonyms: "now clock time date"
    ) { $0.startsAt = $1 }
    FormatKey(
      "maxParallel", ValueFormat<Int>.integer(ValueRule.slots), "Parallel steps",
      "The maximum number of steps that run at once, as -j. Default: the workflow's, else 8.",
      synonyms: "jobs parallel"
    ) { $0.maxParallel = $1 }
    FormatKey(
      "onFailure", .word(of: FailureResponse.self), "Effect of a failure",
      "Overrides that of the workflow, as -k and --fail-fast."
    ) { $0.onFailure = $1 }
    FormatKey(
      "only", ValueFormat { $0.placedTexts($1, $2) }, "Only", "The selected steps, as --only.",
      schema: #"{"$ref": "patterns"}"#
    ) { $0.only = $1 }
    FormatKey(
      "skip", ValueFormat { $0.placedTexts($1, $2) }, "Skip", "The skipped steps, as --skip.",
      schema: #"{"$ref": "patterns"}"#
    ) { $0.skip = $1 }
    FormatKey(
      "from", ValueFormat { $0.placedTexts($1, $2) }, "From", "The first steps, as --from.",
      schema: #"{"$ref": "patterns"}"#
    ) { $0.from = $1 }
    FormatKey(
      "interrupt", ValueFormat { $0.interruptions($1, $2) }, "Interruptions",
      "Interferences from outside, at a time or when a step starts or ends.",
      schema: #"""
        {"anyOf": ["@interruption", {"type": "array", "items": "@interruption"}],
        "examples": [{"at": "10s", "do": "cancel"}]}
        """#, synonyms: "interruptions interrupts cancel kill crash"
    ) { $0.interruptions = $1 }
    FormatKey(
      "resume", ValueFormat { $0.resumption($1, $2) }, "Resumption",
      """
      Resumes the run when its first engine has ended: it crashed, the run failed, or it \
      was suspended.
      """,
      schema: #"{"anyOf": [{"type": "boolean"}, "@resumption"], "examples": [true]}"#,
      synonyms: "resumes continue"
    ) { $0.resumption = $1 }
    FormatKey(
      "orders", ValueFormat<Int>.integer(1...TestCase.mostOrders), "Orders",
      "The number of completion orders to try, each with its seed.",
      schema: #"{"default": 1}"#, synonyms: "seeds repeat interleavings"
    ) { $0.orders = $1 }
    FormatKey(
      "expect", ValueFormat { $0.expectations($1, $2) }, "Expectations",
      "Everything that the run must do.", schema: #"{"$ref": "expectations"}"#,
      synonyms: "expected expectations assert asserts then",
      required: "\"expect\": { \"outcome\": \"success\" }"
    ) { $0.expected = $1 }
  }
}

extension FormatKey where Object: HasTestSettings {
  @FormatBuilder<Object> static var testSettings: [FormatKey] {
    FormatKey(
      "inputs", ValueFormat { $0.members($1, $2) }, "Inputs",
      "Inputs of the workflow; those of a case override those of the file.",
      schema: #"{"type": "object", "examples": [{"version": "1.2.0"}]}"#,
      synonyms: "parameters params with"
    ) { $0.settings.inputs = $1 }
    FormatKey(
      "secrets", ValueFormat { $0.namedTexts($1, $2) }, "Secrets",
      "Values of secrets by their names in the workflow; their sources are not read.",
      schema: #"{"$ref": "texts", "examples": [{"TOKEN": "not-a-real-token"}]}"#,
      synonyms: "secret"
    ) { $0.settings.secrets = $1 }
    FormatKey(
      "env", ValueFormat { $0.namedTexts($1, $2) }, "Environment",
      "The environment of weft; nothing of the real one is inherited.",
      schema: #"{"$ref": "texts", "examples": [{"CI": "true"}]}"#,
      synonyms: "environment variables"
    ) { $0.settings.environment = $1 }
    FormatKey(
      "steps", ValueFormat { $0.scripts($1, $2) }, "Results of steps",
      """
      Results by address or pattern (* is any text), of every attempt or of successive ones. \
      An exact address comes before a pattern, and a case before the file.
      """,
      schema: #"{"$ref": "scripts"}"#, synonyms: "results scripts mocks stubs jobs"
    ) { $0.settings.steps = $1 }
  }
}

// MARK: Interruptions and resumption

extension TestInterruption: FormatObject {
  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["at"]}, {"required": ["onStart"]}, {"required": ["onEnd"]}],
    "examples": [{"onStart": "deploy", "do": "crash"}]}
    """#

  static let format = ObjectFormat<TestInterruption>("an interruption") {
    FormatKey(
      "do", ValueFormat<Act>.word(of: Act.self).placed, "Act",
      """
      cancel: as the first ^C. kill: as the second. crash: the engine is gone, as after a \
      power failure. fullDisk: from now on, the journal cannot be written.
      """, synonyms: "act action kind", required: "{ \"at\": \"10s\", \"do\": \"cancel\" }"
    ) { $0.act = $1 }
    FormatKey(
      "at", .testDuration, "Time", "The virtual time since the start of the run.",
      synonyms: "time after when"
    ) { $0.moment = .time($1) }
    FormatKey(
      "onStart", ValueFormat<String>.verbatim.placed, "Start of a step",
      "The address of a step: when its first attempt starts.", synonyms: "started start"
    ) { $0.moment = .start(of: $1) }
    FormatKey(
      "onEnd", ValueFormat<String>.verbatim.placed, "End of a step",
      "The address of a step: when it has ended.", synonyms: "ended end"
    ) { $0.moment = .end(of: $1) }
  }
}

extension TestResumption: FormatObject {
  static let schema: StaticString = #"{"examples": [{"interrupted": "rerun"}]}"#

  static let format = ObjectFormat<TestResumption>("\"resume\"") {
    FormatKey(
      "interrupted", .word(of: Interrupted.self), "Interrupted steps",
      """
      The effect on steps that ran when the engine crashed, and are not idempotent: fail, \
      or as --rerun-interrupted and --skip-interrupted.
      """, schema: #"{"default": "fail"}"#
    ) { $0.interrupted = $1 }
    FormatKey(
      "rerun", ValueFormat { $0.placedTexts($1, $2) }, "Rerun",
      "Steps that run again whatever the journal says, as --rerun.",
      schema: #"{"$ref": "patterns"}"#
    ) { $0.rerun = $1 }
    FormatKey(
      "steps", ValueFormat { $0.scripts($1, $2) }, "Results of steps",
      "Results under the second engine; those of the case apply to other steps.",
      schema: #"{"$ref": "scripts"}"#
    ) { $0.steps = $1 }
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
    guard isArray(node, field, wanted: "an array of cases") else { return nil }
    if node.elements.isEmpty { report(.empty(path: path(field), wanted: "a case"), at: node) }
    var cases: [TestCase] = []
    var names: [String: JSONNode] = [:]
    for (index, element) in node.elements.enumerated() {
      guard isObject(element, field.element(index), wanted: "a case") else { continue }
      var testCase = TestCase()
      inside("cases", at: index) { $0.read(element, .itself, into: &testCase) }
      let name = testCase.name.value
      if let first = names[name], let own = member("name", of: element)?.value {
        report(.repeatedCase(name), at: own, related: ("the first is here", first))
      }
      names[name] = names[name] ?? member("name", of: element)?.value
      cases.append(testCase)
    }
    return cases
  }

  fileprivate mutating func expectations(_ node: JSONNode, _ field: Field) -> TestExpectations? {
    guard
      isObject(
        node, field, wanted: "an object", help: "write { \"outcome\": \"success\" }")
    else { return nil }
    var expected = TestExpectations()
    expected.range = node.range
    if node.members.isEmpty {
      report(.empty(path: path(field), wanted: "at least one expectation"), at: node)
    }
    inside("expect") { $0.read(node, .itself, into: &expected) }
    return expected
  }

  fileprivate mutating func interruptions(
    _ node: JSONNode, _ field: Field
  ) -> [TestInterruption]? {
    if node.kind == .object { return [inside("interrupt") { $0.interruption(node) }] }
    guard
      isArray(
        node, field, wanted: "an interruption, or an array of them",
        help: "write { \"at\": \"10s\", \"do\": \"cancel\" }")
    else { return nil }
    var interruptions: [TestInterruption] = []
    for (index, element) in node.elements.enumerated() {
      guard isObject(element, field.element(index), wanted: "an interruption") else { continue }
      interruptions.append(inside("interrupt", at: index) { $0.interruption(element) })
    }
    return interruptions
  }

  private mutating func interruption(_ node: JSONNode) -> TestInterruption {
    var interruption = TestInterruption()
    interruption.range = node.range
    let reading = read(node, .itself, into: &interruption)
    let moments = ["at", "onStart", "onEnd"].compactMap { member($0, of: node) }
    if moments.isEmpty, !reading.hasUnknownKey { report(.noMoment, at: node) }
    if moments.count > 1 { report(.twoMoments, at: moments[1].key) }
    return interruption
  }

  /// `true`, `false`, or the rules.
  fileprivate mutating func resumption(_ node: JSONNode, _ field: Field) -> TestResumption?? {
    var resumption = TestResumption()
    resumption.range = node.range
    if let flag = node.boolValue { return .some(flag ? resumption : nil) }
    guard isObject(node, field, wanted: "true, false or an object") else { return nil }
    inside("resume") { $0.read(node, .itself, into: &resumption) }
    return .some(resumption)
  }

  fileprivate mutating func moment(_ node: JSONNode, _ field: Field) -> WallMoment? {
    guard let text = plainText(node, path(field)) else { return nil }
    do { return try MomentText.moment(from: text) } catch {
      report(.invalidMoment(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }
}

// MARK: Shared parts

extension ValueFormat where Value: Sendable {
  /// The type, whose values keep their locations.
  var placed: ValueFormat<Placed<Value>> {
    ValueFormat<Placed<Value>>(type) { pass, node, field in
      read(&pass, node, field).map { Placed($0, node.range) }
    }
  }
}

extension JSONMember {
  func named<Value>(_ value: Value) -> Named<Value> {
    Named(name: key.stringValue ?? "", range: key.range, value: value)
  }
}

extension DecodingPass {
  mutating func isArray(
    _ node: JSONNode, _ field: Field, wanted: String, help: String? = nil
  ) -> Bool {
    if node.kind == .array { return true }
    reportType(of: node, field, wanted: wanted, help: help)
    return false
  }

  fileprivate mutating func filledVerbatim(
    _ node: JSONNode, _ field: Field, wanted: String
  ) -> String? {
    guard let text = plainText(node, path(field)) else { return nil }
    if text.isEmpty { report(.empty(path: path(field), wanted: wanted), at: node) }
    return text.isEmpty ? nil : text
  }

  /// The members of an object whose names the file chooses.
  mutating func named<Element>(
    _ node: JSONNode, _ field: Field, wanted: String,
    _ element: (inout DecodingPass, JSONMember) -> Element?
  ) -> [Element]? {
    guard isObject(node, field, wanted: wanted) else { return nil }
    return node.members.compactMap { member in
      inside(field.key, member: member.key) { element(&$0, member) }
    }
  }

  fileprivate mutating func members(_ node: JSONNode, _ field: Field) -> [JSONMember]? {
    guard isObject(node, field, wanted: "an object of names and values") else { return nil }
    return Array(node.members)
  }

  mutating func namedValues(_ node: JSONNode, _ field: Field) -> [Named<JSONValue>]? {
    named(node, field, wanted: "an object of names and values") { _, member in
      member.value.kind == .unreadable ? nil : member.named(JSONValue(member.value))
    }
  }

  mutating func namedTexts(_ node: JSONNode, _ field: Field) -> [Named<String>]? {
    named(node, field, wanted: "an object of names and strings") { pass, member in
      pass.plainText(member.value, pass.path(.itself)).map { member.named($0) }
    }
  }

  mutating func namedTextsOrNull(_ node: JSONNode, _ field: Field) -> [Named<String?>]? {
    named(node, field, wanted: "an object of names and strings") { pass, member in
      if member.value.isNull { return member.named(String?.none) }
      return pass.plainText(member.value, pass.path(.itself)).map { member.named(String?.some($0)) }
    }
  }

  mutating func placedTexts(_ node: JSONNode, _ field: Field) -> [Placed<String>]? {
    guard
      isArray(
        node, field, wanted: "an array of strings",
        help: node.stringValue.map { "write [\(quoted($0))]" })
    else { return nil }
    var texts: [Placed<String>] = []
    for (index, element) in node.elements.enumerated() {
      guard let text = plainText(element, path(field.element(index))) else { continue }
      texts.append(Placed(text, element.range))
    }
    return texts
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

  fileprivate static var noMoment: Diagnostic {
    Diagnostic(
      .missingKey, "the interruption has no moment, which is required",
      help: "write \"at\": \"10s\", \"onStart\": \"STEP\" or \"onEnd\": \"STEP\"")
  }

  fileprivate static var twoMoments: Diagnostic {
    Diagnostic(
      .severalActions, "the interruption has several moments, expected one of them",
      help: "write an array of interruptions")
  }
}
