import Testing
import WeftDiagnostics

@testable import WeftJSON

@Suite struct CommentedJSONTests {
  private static func read(_ text: String, _ path: String = "a.jsonc") -> (JSONValue?, [String]) {
    let (root, diagnostics) = JSONReader.read(SourceFile(path: path, bytes: Array(text.utf8)))
    return (
      root.map { JSONValue($0) },
      diagnostics.map { "\($0.code)@\($0.place?.range.start ?? 0)" }
    )
  }

  @Test(arguments: [
    "// a\n[1, 2]", "/* a */ [1, 2] /* b */", "[1, 2,]", "[1/* a */,/* b\n */2,// c\n]//",
    "[1, 2, /* ] */ ]", "/**/[/**/1/**/,/**/2/**/]/**/", "[1,// a\r\n2]", "/***/[1,2]",
  ])
  func commentsAndTrailingCommasAreAllowed(text: String) {
    let (value, problems) = Self.read(text)
    #expect(value == [1, 2] && problems == [])
    #expect(!Self.read(text, "a.json").1.isEmpty)
    #expect(!Self.read(text, "<stdin>").1.isEmpty)
  }

  @Test(
    arguments: [
      ("{\"a\": 1,}", ["a": 1]), ("{\"a\"/**/:/**/1}", ["a": 1]),
      (
        "[\"// no comment\", \"/* nor this */\"]",
        .array([.string("// no comment"), .string("/* nor this */")])
      ),
    ] as [(String, JSONValue)])
  func theyStandBetweenTokensOnly(text: String, expected: JSONValue) {
    let (value, problems) = Self.read(text)
    #expect(value == expected && problems == [])
  }

  @Test(arguments: [
    ("[1, 2] # a", "W0011@7"), ("[1, /* 2]", "W0009@4"), ("[1,,2]", "W0015@3"), ("[,]", "W0015@1"),
    ("[1 2]", "W0013@2"), ("// only", "W0001@0"), ("[1] / 2", "W0008@4"), ("{,}", "W0015@1"),
  ])
  func nothingElseIs(text: String, expected: String) {
    #expect(Self.read(text).1.contains(expected), "\(Self.read(text).1)")
  }

  @Test func placesAreExactBehindComments() {
    let text = "/* \u{E9} */ { // one\n  \"a\": nul }"
    let (root, diagnostics) = JSONReader.read(SourceFile(path: "a.jsonc", bytes: Array(text.utf8)))
    let place = diagnostics.first?.place
    let position = place.map { $0.file.position(of: Int($0.range.start)) }
    #expect(root != nil || diagnostics.count == 1)
    #expect(position == SourcePosition(line: 2, column: 8))
  }
}
