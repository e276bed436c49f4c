import Testing
import Weft
import WeftJSON
import WeftTestKit

@testable import WeftLanguageServer

/// A client with one document open, in whose text `|` marks the position of requests.
private struct Client {
  static let uri = "file:///p/weft.json"
  var server = LanguageServer(version: "1") { text, _, _ in
    CheckedDocument(CheckedWorkflow(text, at: nil, startDirectory: "/"))
  }
  let text: String
  let position: JSONValue

  init(_ marked: String, encodings: JSONValue = ["utf-16"] as JSONValue) {
    let parts = marked.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    text = parts.joined()
    let lines = parts[0].split(separator: "\n", omittingEmptySubsequences: false)
    let isUTF8 = encodings == ["utf-8"]
    let last = lines[lines.count - 1]
    position = [
      "line": .int(lines.count - 1),
      "character": .int(isUTF8 ? last.utf8.count : last.utf16.count),
    ]
    _ = call(
      "initialize", ["capabilities": ["general": ["positionEncodings": encodings]]])
    notify(
      "textDocument/didOpen",
      ["textDocument": ["uri": .string(Client.uri), "version": 1, "text": .string(text)]])
  }

  mutating func call(_ method: String, _ parameters: JSONValue = [:]) -> JSONValue {
    let sent = server.receive(
      .message(["jsonrpc": "2.0", "id": 7, "method": .string(method), "params": parameters]))
    #expect(sent.count == 1 && sent[0]["id"] == 7)
    return sent[0]["result"] ?? sent[0]["error"] ?? "neither"
  }

  mutating func notify(_ method: String, _ parameters: JSONValue) {
    let sent = server.receive(.message(["method": .string(method), "params": parameters]))
    #expect(sent.isEmpty)
  }

  /// Asks about the marked position.
  mutating func ask(_ name: String, _ more: JSONObject = [:]) -> JSONValue {
    var parameters: JSONObject = [
      "textDocument": ["uri": .string(Client.uri)], "position": position,
    ]
    for member in more { parameters[member.key] = member.value }
    return call("textDocument/\(name)", .object(parameters))
  }

  /// The lines and characters of ranges in a result: `1:8-1:13`.
  static func ranges(_ value: JSONValue) -> [String] {
    (value.list ?? [value]).map { item in
      let range = item["range"] ?? .null
      return [range["start"], range["end"]].map {
        "\($0?["line"]?.whole ?? -1):\($0?["character"]?.whole ?? -1)"
      }.joined(separator: "-")
    }
  }

  mutating func labels() -> [String] {
    (ask("completion").list ?? []).compactMap { $0["label"]?.text }
  }
}

@Suite struct LanguageServerTests {
  /// The number of diagnostics of a document.
  private func problems(_ name: String, _ text: String) -> Int {
    var client = Client("{}")
    let uri = JSONValue.string("file:///p/\(name)")
    client.notify(
      "textDocument/didOpen", ["textDocument": ["uri": uri, "version": 1, "text": .string(text)]])
    let sent = client.server.settle().map { $0["params"] ?? .null }
    return sent.first { $0["uri"] == uri }?["diagnostics"]?.list?.count ?? -1
  }

  @Test(
    "Files of others have no problems, whatever is in them",
    arguments: [
      ("tsconfig.json", #"{ "compilerOptions": {} }"#),
      ("package.json", #"{ "scripts": {}, "jobs": 1 }"#),
      (
        "workflow.schema.json",
        #"{ "$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {} }"#
      ),
      ("list.json", "[1]"), ("broken.json", #"{ "a": "#),
      (".github/workflows/x.json", #"{ "jobs": {} }"#),
    ])
  func foreignFilesHaveNoProblems(name: String, text: String) {
    #expect(problems(name, text) == 0)
  }

  @Test(arguments: [
    ("weft.json", #"{ "step": [] }"#), ("workflows/x.json", "[1]"),
    ("any.json", #"{ "steps": 1 }"#),
    ("any.json", #"{ "$schema": "./workflow.schema.json", "stpes": [] }"#), ("a.test.json", "{ }"),
    ("new.json", "{ }"),
  ])
  func workflowsAreKnownByNameFolderOrKeys(name: String, text: String) {
    #expect(problems(name, text) > 0)
  }

  private static let workflow = """
    {
      "inputs": { "version": { "type": "string", "description": "what to build", "default": "1" } },
      "secrets": { "TOKEN": { "env": "TOKEN" } },
      "steps": [
        { "id": "build", "run": "true", "outputs": { "size": "${{ length(inputs.version) }}" } },
        { "id": "all", "parallel": [
            { "id": "test", "run": ["echo", "${{ steps.build.outputs.size }}"] },
            { "id": "pack", "needs": ["build"], "if": "steps['build'].outcome == 'success'", "run": "true" }
        ] }
      ]
    }
    """

  private func marked(_ before: String, _ after: String = "") -> String {
    let text = Self.workflow
    guard let place = text.ranges(of: before + after).first else {
      Issue.record("no \(before + after)")
      return text
    }
    let end = text.index(place.lowerBound, offsetBy: before.count)
    return text[..<end] + "|" + text[end...]
  }

  @Test(
    "only steps are offered that may be named there",
    arguments: [
      (#"{"id": "b", "needs": ["|"], "run": "true"}"#, ["a", "i", "j", "k"]),
      (#"{"id": "b", "run": ["${{ steps.| }}"]}"#, ["a", "i", "j", "k"]),
      (#"{"id": "b", "needs": ["a", "|"], "run": "true"}"#, ["i", "j", "k"]),
      (
        #"{"id": "b", "steps": [{"id": "x", "run": "true"}, {"id": "y", "needs": ["|"]}]}"#,
        ["a", "i", "j", "k", "x"]
      ),
      (
        #"{"id": "b", "steps": [{"id": "x"}], "outputs": {"o": "${{ steps.| }}"}}"#,
        ["a", "i", "j", "k", "x"]
      ),
      (#"{"id": "b", "steps": [{"id": "x"}], "needs": ["|"]}"#, ["a", "i", "j", "k"]),
      (
        #"{"id": "b", "run": "true", "cleanup": {"run": ["${{ steps.| }}"]}}"#,
        ["a", "b", "c", "d", "i", "j", "k", "s"]
      ),
    ])
  func onlyNameableStepsAreOffered(step: String, expected: [String]) {
    let text = """
      { "parallel": [{ "id": "i" }, { "id": "j", "needs": ["i"] }, { "id": "k" },
        { "id": "main", "steps": [
            { "id": "a", "run": "true", "cleanup": { "id": "tidy", "run": "true" } }, \(step),
            { "id": "c", "run": "true" }, { "id": "d", "needs": ["b"], "run": "true" },
            { "id": "s", "retry": 1, "steps": [{ "id": "hidden", "run": "true" }] }] },
        { "id": "late", "needs": ["main"] }],
        "finally": [{ "id": "last", "run": "true" }] }
      """
    var client = Client(text)
    #expect(client.labels().sorted() == expected)
  }

  // MARK: Life

  @Test func aClientMustBeginAndEndInOrder() {
    var server = LanguageServer(version: "1") { text, _, _ in
      CheckedDocument(CheckedWorkflow(text, at: nil))
    }
    func code(_ method: String) -> Int? {
      server.receive(.message(["id": 1, "method": .string(method)]))[0]["error"]?["code"]?.whole
    }
    #expect(code("textDocument/hover") == -32002)
    #expect(code("initialize") == nil)
    #expect(code("initialize") == -32600)
    #expect(code("weft/nonsense") == -32601)
    #expect(code("textDocument/hover") == -32602)
    #expect(code("shutdown") == nil)
    #expect(code("textDocument/hover") == -32600)
    #expect(server.exitCode == nil)
    #expect(server.receive(.message(["method": "exit"])).isEmpty)
    #expect(server.exitCode == 0)
  }

  @Test func exitWithoutShutdownIsAFailure() {
    var server = LanguageServer(version: "1") { text, _, _ in
      CheckedDocument(CheckedWorkflow(text, at: nil))
    }
    _ = server.receive(.message(["method": "exit"]))
    #expect(server.exitCode == 1)
  }

  @Test(arguments: [
    (MessageStream.Incoming.unreadable, -32700), (.message([]), -32600),
    (.message(["id": 3]), -32600),
    (.message("x"), -32600),
  ])
  func messagesThatAreNoneAreAnswered(incoming: MessageStream.Incoming, code: Int) {
    var server = LanguageServer(version: "1") { text, _, _ in
      CheckedDocument(CheckedWorkflow(text, at: nil))
    }
    #expect(server.receive(incoming).first?["error"]?["code"]?.whole == code)
  }

  @Test func responsesAndUnknownNoticesAreIgnored() {
    var client = Client("{}")
    #expect(client.server.receive(.message(["id": 1, "result": .null])).isEmpty)
    client.notify("$/cancelRequest", ["id": 7])
    client.notify("textDocument/didChange", ["textDocument": ["uri": "file:///other"]])
  }

  // MARK: Values

  private static let stateful = """
    { "inputs": { "n": { "type": "integer", "default": 2 }, "late": { "type": "string" } },
      "state": { "last": { "type": "string", "default": "v0", "description": "the newest", "value": "${{ state.last }}" } },
      "steps": [{ "id": "a", "if": "inputs.n > 1", "run": "echo ${{ add(inputs.n, 40) }} ${{ state.last }} ${{ inputs.late }}" }] }
    """

  private func client(before text: String) -> Client {
    let place = Self.stateful.ranges(of: text).last!.lowerBound
    return Client(Self.stateful[..<place] + "|" + Self.stateful[place...])
  }

  @Test(arguments: [
    ("40)", "With the defaults of its inputs: `42`"),
    ("> 1", "With the defaults of its inputs: `true`"),
    ("ast }} ${{ inputs.late", "Default: `\"v0\"`"),
  ])
  func hoverShowsTheValueThatDefaultsGive(place: String, text: String) {
    var client = client(before: place)
    let hover = client.ask("hover")["contents"]?["value"]?.text ?? "none"
    #expect(hover.contains(text), "\(hover)")
  }

  @Test func anExpressionThatNeedsMoreHasNoValue() {
    var client = client(before: " }}\" }] }")
    #expect(client.ask("hover")["contents"]?["value"]?.text?.contains("defaults") != true)
  }

  @Test func stateIsCompletedAndRenamed() {
    var client = client(before: "last }} ${{ inputs.late")
    #expect(client.labels() == ["last"])
    let edits = client.ask("rename", ["newName": "newest"])["changes"]?[Client.uri]
    #expect((edits?.list ?? []).count == 3)
  }

  // MARK: Diagnostics

  @Test func problemsArePublishedOnceATextRests() {
    var client = Client(#"{"steps": [{"id": "ä😀", "run": "a", "needs": ["b"]}]}"#)
    client.notify(
      "textDocument/didChange",
      ["textDocument": ["uri": .string(Client.uri), "version": 2], "contentChanges": []])
    let sent = client.server.settle()
    #expect(sent.count == 1 && client.server.settle().isEmpty)
    let parameters = sent[0]["params"]
    #expect(parameters?["version"] == 2 && parameters?["uri"]?.text == Client.uri)
    let codes = (parameters?["diagnostics"]?.list ?? []).map { $0["code"]?.text }
    #expect(codes.contains("W0402"))
    client.notify("textDocument/didClose", ["textDocument": ["uri": .string(Client.uri)]])
    #expect(client.server.settle()[0]["params"]?["diagnostics"] == [])
  }

  @Test(arguments: [("utf-16", 27), ("utf-8", 30)])
  func columnsAreThoseOfTheClient(encoding: String, column: Int) {
    // "é😀" is three units of UTF-16, and six bytes.
    var client = Client(#"{"steps": [{"name": "é😀", "rnu": "a"}]}"#, encodings: [.string(encoding)])
    let sent = client.server.settle()
    let found = (sent[0]["params"]?["diagnostics"]?.list ?? []).first { $0["code"] == "W0103" }
    #expect(found?["range"]?["start"]?["character"]?.whole == column, "\(sent)")
  }

  @Test(arguments: 0..<200)
  func changesOfRangesMakeTheTextThatTheEditorHas(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = ["", "a", "é", "😀", "\n", "\r\n", "\r", "\"", "{}", "e\u{301}"]
    var editor = Array("{\n \"é😀\": [\r\n 1 ] }".utf16)
    let item: JSONValue = ["uri": "x:y", "text": .string(String(decoding: editor, as: UTF16.self))]
    var document = try #require(OpenDocument(item, .utf16))
    for _ in 0..<20 {
      let places = Self.places(in: editor)
      let chosen = [places.randomElement(using: &random)!, places.randomElement(using: &random)!]
        .sorted { $0.offset < $1.offset }
      let text = (0..<3).map { _ in pieces.randomElement(using: &random)! }.joined()
      editor.replaceSubrange(chosen[0].offset..<chosen[1].offset, with: text.utf16)
      document.apply(
        [
          [
            "range": ["start": chosen[0].position, "end": chosen[1].position],
            "text": .string(text),
          ]
        ],
        version: .null)
      #expect(
        String(decoding: document.source.bytes, as: UTF8.self)
          == String(decoding: editor, as: UTF16.self), "seed \(seed)")
    }
  }

  /// All offsets of a text that are not inside of a scalar or a line end, as an editor counts them.
  private static func places(in text: [UInt16]) -> [(offset: Int, position: JSONValue)] {
    var found: [(Int, JSONValue)] = []
    var (line, start) = (0, 0)
    for offset in 0...text.count {
      let before = offset > 0 ? text[offset - 1] : 0
      let isInLineEnd = before == 13 && offset < text.count && text[offset] == 10
      if before == 10 || before == 13, !isInLineEnd { (line, start) = (line + 1, offset) }
      if isInLineEnd || UTF16.isLeadSurrogate(before) { continue }
      found.append((offset, ["line": .int(line), "character": .int(offset - start)]))
    }
    return found
  }

  // MARK: Names

  @Test(arguments: [
    (#""needs": ["bu"#, "ild"), ("steps.bu", "ild.outputs"), ("steps['b", "uild']"),
    (#""id": "bui"#, "ld"),
  ])
  func aStepIsFoundFromAllThatNamesIt(before: String, after: String) {
    var client = Client(marked(before, after))
    #expect(Client.ranges(client.ask("definition")) == ["4:13-4:18"])
    #expect(client.ask("references").list?.count == 3)
    #expect(client.ask("references", ["context": ["includeDeclaration": true]]).list?.count == 4)
    let hover = client.ask("hover")["contents"]?["value"]?.text ?? ""
    #expect(hover.contains("**Step `build`**") && hover.contains("Waits for nothing."), "\(hover)")
  }

  @Test func aRenamedIDIsRenamedEverywhere() {
    var client = Client(marked("steps.bu", "ild"))
    #expect(client.ask("prepareRename")["placeholder"] == "build")
    let edits = client.ask("rename", ["newName": "make-it"])["changes"]?[Client.uri]?.list ?? []
    var document = OpenDocument(
      ["uri": "x:y", "text": .string(client.text)], .utf16)!
    document.apply(
      edits.reversed().map { ["range": $0["range"]!, "text": $0["newText"]!] }, version: .null)
    let expected = client.text
      .replacing(#""id": "build""#, with: #""id": "make-it""#)
      .replacing("steps.build", with: "steps.make-it").replacing("['build']", with: "['make-it']")
      .replacing(#"["build"]"#, with: #"["make-it"]"#)
    #expect(String(decoding: document.source.bytes, as: UTF8.self) == expected)
    #expect(CheckedWorkflow(document.source, at: nil).plan != nil)
  }

  @Test(arguments: ["", "a b", "test", "ä", "${{"])
  func aNameThatCannotBeIsRefused(_ name: String) {
    var client = Client(marked("steps.bu", "ild"))
    #expect(client.ask("rename", ["newName": .string(name)])["code"] == -32803)
  }

  @Test func inputsHaveTheirDeclarations() {
    var client = Client(marked("inputs.ver", "sion"))
    #expect(Client.ranges(client.ask("definition")) == ["1:15-1:22"])
    let hover = client.ask("hover")["contents"]?["value"]?.text ?? ""
    #expect(hover.contains("what to build") && hover.contains(#"Default: `"1"`"#), "\(hover)")
  }

  @Test func whatAStepWaitsForIsShown() {
    var client = Client(marked(#""id": "pa"#, "ck"))
    let hover = client.ask("hover")["contents"]?["value"]?.text ?? ""
    #expect(hover.contains("Waits for `build`, the start of `all`."), "\(hover)")
  }

  @Test func filesThatStepsNameAreOpened() {
    var client = Client(#"{"steps": [{"workflow": "sub/de|ploy.json"}]}"#)
    #expect(client.ask("definition")["uri"] == "file:///p/sub/deploy.json")
  }

  @Test func symbolsFollowTheGroups() {
    var client = Client(Self.workflow)
    let symbols = client.ask("documentSymbol").list ?? []
    #expect(symbols.map { $0["name"]?.text } == ["build", "all"])
    #expect(symbols[1]["children"]?.list?.map { $0["name"]?.text } == ["test", "pack"])
  }

  // MARK: Keys

  @Test(arguments: [
    (#"{"st|eps": []}"#, "One after another"),
    (#"{"steps": [{"run": "a", "sh|ell": "sh"}]}"#, "hell"),
    (#"{"steps": [{"run": "a", "cache": {"in|puts": ["x"]}}]}"#, "files"),
    (#"{"inputs": {"a": {"ty|pe": "string"}}}"#, "Values: "),
    (
      #"{"steps": [{"id": "a", "run": "b", "outputs": {"o": "${{ le|ngth(self.stdout) }}"}}]}"#,
      "length(value)"
    ),
  ])
  func keysAndFunctionsAreExplained(marked: String, part: String) {
    var client = Client(marked)
    let hover = client.ask("hover")["contents"]?["value"]?.text ?? ""
    #expect(hover.contains(part), "\(hover)")
  }

  @Test(arguments: [
    (#"{|}"#, "steps", "needs"), (#"{"steps": [{"run": "a", |}]}"#, "needs", "run"),
    (#"{"steps": [{"run": "a", "|"}]}"#, "cache", "run"),
    (#"{"steps": [{"run": "a", "cache": {|}}]}"#, "outputs", "needs"),
    (#"{"steps": [{"run": "a", "leftovers": "|"}]}"#, "keep", "steps"),
    (#"{"steps": [{"run": "a", "tty": |}]}"#, "true", "steps"),
    (#"{"steps": [{"id": "x", "run": "a"}, {"run": "b", "needs": ["|"]}]}"#, "x", "steps"),
    (#"{"steps": [{"id": "x", "run": "a"}, {"run": "b", "needs": [|]}]}"#, "x", "steps"),
    (
      #"{"inputs": {"v": {"type": "string"}}, "steps": [{"run": ["a", "${{ inputs.|"]}]}"#, "v",
      "steps"
    ),
    (#"{"steps": [{"id": "x", "run": "a"}, {"run": ["b", "${{ steps.| }}"]}]}"#, "x", "steps"),
    (
      #"{"steps": [{"id": "x", "run": "a"}, {"run": ["b", "${{ steps.x.| }}"]}]}"#, "stdout",
      "steps"
    ),
    (
      #"{"steps": [{"id": "x", "run": "a", "outputs": {"o": "1"}}, {"run": ["b", "${{ steps.x.outputs.| }}"]}]}"#,
      "o", "x"
    ),
    (#"{"steps": [{"id": "x", "run": "a"}, {"run": "b", "if": "st|"}]}"#, "steps", "x"),
    (#"{"steps": [{"run": ["b", "${{ f| }}"]}]}"#, "format", "b"),
  ])
  func whatFitsIsProposed(marked: String, included: String, excluded: String) {
    var client = Client(marked)
    let labels = client.labels()
    #expect(labels.contains(included) && !labels.contains(excluded), "\(labels)")
  }

  @Test func aTextIsFormatted() {
    var client = Client(#"{"steps":["a"]}"#)
    #expect(client.ask("formatting").list?.first?["newText"]?.text == "{ \"steps\": [\"a\"] }\n")
    var broken = Client(#"{"steps":["a"}"#)
    #expect(broken.ask("formatting") == .null)
  }

  /// Whatever is typed, every request is answered.
  @Test(arguments: 0..<100)
  func everyRequestAboutAnyTextIsAnswered(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = Array(Self.workflow.utf8)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let start = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, start + Int.random(in: 0...30, using: &random))
      bytes.replaceSubrange(
        start..<end, with: ["\"", "{", "${{ ", "é", "", "]"].randomElement(using: &random)!.utf8)
    }
    let at = Int.random(in: 0...bytes.count, using: &random)
    let text =
      String(decoding: bytes[..<at], as: UTF8.self) + "|"
      + String(decoding: bytes[at...], as: UTF8.self)
    var client = Client(text)
    for name in [
      "hover", "completion", "definition", "references", "documentSymbol", "formatting",
      "prepareRename",
    ] {
      #expect(client.ask(name) != "neither", "seed \(seed)")
    }
    #expect(client.server.settle().count == 1)
  }
}
