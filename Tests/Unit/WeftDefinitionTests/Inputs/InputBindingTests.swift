import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftDefinition

@Suite struct InputBindingTests {
  private static let declarations = [
    InputDeclaration("version", ValueSchema(.string)),
    InputDeclaration("count", ValueSchema(.integer), default: 3),
    InputDeclaration("draft", ValueSchema(.boolean), default: true),
  ]

  private func bind(
    _ given: GivenInput..., to declarations: [InputDeclaration] = InputBindingTests.declarations,
    allowsMissing: Bool = false
  ) throws(InputsError) -> InputValues {
    try InputBinding.bind(
      declarations, given, inputSource: .commandLine, allowsMissing: allowsMissing)
  }

  private func faults(
    _ given: GivenInput..., to declarations: [InputDeclaration] = InputBindingTests.declarations
  ) -> [InputFault] {
    do throws(InputsError) {
      _ = try InputBinding.bind(declarations, given, inputSource: .commandLine)
      return []
    } catch {
      return error.faults
    }
  }

  private func option(_ name: String, _ text: String) -> GivenInput {
    GivenInput(name, .text(text), .option("-i " + name))
  }

  private func document(_ text: String) throws -> [GivenInput] {
    let (root, _) = JSONReader.read(SourceFile(path: "inputs.json", bytes: Array(text.utf8)))
    return GivenInput.all(in: try #require(root))
  }

  @Test func everyInputHasItsValueInTheOrderOfTheDeclarations() throws {
    let values = try bind(option("DRAFT", "false"), option("version", "1"))
    #expect(values.entries.map(\.name) == ["version", "count", "draft"])
    #expect(values.entries.map(\.value) == ["1", 3, false])
    #expect(values["Version"] == "1")
    #expect(values["COUNT"] == 3)
    #expect(values["other"] == nil)
    #expect(values["größe"] == nil)
  }

  @Test func anOptionWinsOverTheDocumentAndThatOverTheDefault() throws {
    let all = try document(#"{ "version": "2", "count": 2, "Draft": false }"#)
    let values = try InputBinding.bind(
      InputBindingTests.declarations, all + [option("Count", "1")], inputSource: .commandLine)
    #expect(values.entries.map(\.value) == ["2", 1, false])
  }

  @Test func overriddenInputIsNotChecked() throws {
    let all = try document(#"{ "version": 5 }"#)
    let values = try InputBinding.bind(
      InputBindingTests.declarations, all + [option("version", "1")], inputSource: .commandLine)
    #expect(values["version"] == "1")
  }

  @Test func allInputErrorsAreReportedTogether() {
    let found = faults(option("conut", "1"), option("draft", "yes"), option("draft", "true"))
    #expect(found.map(\.kind) == [.unknown, .repeated, .missing])
    #expect(found.map(\.name) == ["conut", "draft", "version"])
    let more = faults(option("count", "x"), option("draft", "yes"), option("version", ""))
    #expect(more.map(\.kind) == [.unfit, .unfit])
  }

  @Test func aMisspeltInputIsNotMissedAsWell() {
    let found = faults(option("versoin", "1"))
    #expect(found.map(\.kind) == [.unknown])
    #expect(found.first?.help == #"did you mean "version"?"#)
  }

  @Test func missingInputsAreOneDiagnosticWithWhatEachIsFor() throws {
    var token = InputDeclaration("token", ValueSchema(.string), isSecret: true)
    token.schema.description = "who publishes"
    let rejected = #expect(throws: InputsError.self) {
      try bind(to: [InputBindingTests.declarations[0], token])
    }
    let diagnostic = try #require(rejected?.diagnostics.first)
    #expect(rejected?.diagnostics.count == 1)
    #expect(rejected?.faults.map(\.kind) == [.missing, .missing])
    #expect(diagnostic.help == "write -i version=TEXT -i token=@FILE")
    #expect(
      diagnostic.related.map(\.message) == ["version: a string", "token: who publishes; a string"])
  }

  @Test func optionalMissingInputsAreOmitted() throws {
    let values = try bind(option("draft", "false"), allowsMissing: true)
    #expect(values.entries.map(\.name) == ["count", "draft"])
  }

  @Test func aDefaultThatWasBuiltInSwiftMustFitToo() {
    let found = faults(to: [InputDeclaration("count", ValueSchema(.integer), default: "x")])
    #expect(
      found.map(\.message) == [#"the default of input "count" is "x", expected a whole number"#])
  }

  @Test func aSecretIsNotShownHoweverItIsPrinted() throws {
    let token = InputDeclaration("token", isSecret: true)
    let values = try bind(option("token", "hunter2"), to: [token])
    #expect(values["token"] == "hunter2")
    var dumped = ""
    dump(values.entries[0], to: &dumped)
    for text in ["\(values.entries[0])", String(reflecting: values.entries[0]), dumped] {
      #expect(!text.contains("hunter2") && text.contains("***"))
    }
  }

  @Test(arguments: ["", "abc", String(repeating: "x", count: (64 << 10) + 1)])
  func aSecretThatCannotBeHiddenIsRefused(text: String) {
    let found = faults(option("token", text), to: [InputDeclaration("token", isSecret: true)])
    #expect(found.map(\.kind) == [.unfit])
    #expect(text.isEmpty || found.first?.message.contains(text) == false)
  }

  @Test(arguments: [("", true), ("abc", false), (" ab\n", false), ("abcd", true)])
  func theDefaultOfASecretIsEmptyOrCanBeHidden(text: String, isValid: Bool) {
    let token = InputDeclaration("token", default: .string(text), isSecret: true)
    #expect(faults(to: [token]).isEmpty == isValid)
    let declaration = #"{ "secret": true, "default": \#(JSONValue.string(text)) }"#
    let (_, diagnostics) = decode(
      #"{ "inputs": { "t": \#(declaration) }, "steps": [{ "run": "x" }] }"#)
    #expect(diagnostics.map(\.code) == (isValid ? [] : ["W0412"]))
  }

  @Test func locationsAreReportedUnlessTheDocumentIsSecret() throws {
    let all = try document(#"{ "count": "x", "version": "1" }"#)
    let declarations = InputBindingTests.declarations
    let open = #expect(throws: InputsError.self) {
      try InputBinding.bind(declarations, all, inputSource: .commandLine)
    }
    #expect(open?.diagnostics.first?.place?.range == SourceRange(start: 11, end: 14))
    let secret = InputDeclaration("token", default: "", isSecret: true)
    let hidden = #expect(throws: InputsError.self) {
      try InputBinding.bind(declarations + [secret], all, inputSource: .commandLine)
    }
    #expect(hidden?.diagnostics.first?.place == nil)
    #expect(hidden?.diagnostics.first?.message.hasPrefix("inputs.json:1:12: ") == true)
  }
}
