import TestSupport
import Testing
import WeftDiagnostics

@testable import WeftJSON

/// A wrong text, with the range to point at between `⟦` and `⟧`.
struct MalformedDocument: Sendable, CustomTestStringConvertible {
  var text: String
  var range: Range<Int>
  var code: String
  var message: String
  var help: String?
  /// Whether the reader continues to the end.
  var isReadOn: Bool

  init(_ marked: String, _ code: String, _ message: String, help: String? = nil, readOn: Bool) {
    let parts = marked.split(separator: "⟦", omittingEmptySubsequences: false)
    let inside = parts[1].split(separator: "⟧", omittingEmptySubsequences: false)
    text = String(parts[0] + inside[0] + inside[1])
    let start = parts[0].utf8.count
    range = start..<start + inside[0].utf8.count
    self.code = code
    self.message = message
    self.help = help
    isReadOn = readOn
  }

  var testDescription: String { text.debugDescription }
}

struct JSONSyntaxErrorTests {
  @Test("W04, W05: each fault is told by name, at its exact range", arguments: faults)
  func decodingErrorNamesItsFile(wrong: MalformedDocument) throws {
    let (root, diagnostics) = JSONReader.read(file(wrong.text), beside: nil)
    #expect(diagnostics.count == 1)
    let reported = try #require(diagnostics.first)
    let place = try #require(reported.place)
    #expect(reported.severity == .error)
    #expect(reported.code == wrong.code)
    #expect(reported.message == wrong.message)
    #expect(reported.help == wrong.help)
    #expect(Int(place.range.start)..<Int(place.range.end) == wrong.range)
    #expect((root != nil) == wrong.isReadOn)
  }

  static let faults: [MalformedDocument] = commas + words + numbers + quotes + strings + structure

  static let commas = [
    MalformedDocument(
      "[1⟦,⟧]", "W0012", #"trailing comma before "]""#, help: commaHelp, readOn: true),
    MalformedDocument(
      "{\"a\": 1 ⟦,⟧ \n }", "W0012", #"trailing comma before "}""#, help: commaHelp,
      readOn: true),
    MalformedDocument(
      "[1⟦⟧ 2]", "W0013", "missing comma between two values", help: #"add ",""#, readOn: true),
    MalformedDocument(
      "[[]⟦⟧\n{}]", "W0013", "missing comma between two values", help: #"add ",""#, readOn: true),
    MalformedDocument(
      "{\"a\": 1⟦⟧\n \"b\\\"\" : 2}", "W0013", "missing comma between two values",
      help: #"add ",""#, readOn: true),
    MalformedDocument("[1,⟦,⟧2]", "W0015", "missing value", readOn: true),
    MalformedDocument("[⟦,⟧]", "W0015", "missing value", readOn: true),
    MalformedDocument("{⟦,⟧}", "W0015", "missing value", readOn: true),
    MalformedDocument("{\"a\":⟦⟧ }", "W0015", "missing value", readOn: true),
    MalformedDocument("{\"a\":⟦⟧, \"b\": 1}", "W0015", "missing value", readOn: true),
    MalformedDocument("{\"a\"⟦⟧}", "W0015", "missing value", readOn: true),
    MalformedDocument(
      "{\"a\"⟦⟧ 1}", "W0014", "missing colon between a key and its value",
      help: #"write ":" between the key and its value"#, readOn: true),
    MalformedDocument(
      "{\"a\" ⟦=⟧ 1}", "W0014", #"found "=", expected a colon after the key"#,
      help: #"write ":" between the key and its value"#, readOn: true),
    MalformedDocument(
      "{\"a\": \"x\" ⟦\"⟧y\"}", "W0010", #"found """, expected "," or "}""#, readOn: false),
    MalformedDocument(
      "{\"run\": \"echo ⟦\"⟧hello\"world}", "W0010", "the string ended at this quote",
      help: #"inside a string write \""#, readOn: false),
    MalformedDocument(
      "[\"echo ⟦\"⟧hello\"\"]", "W0010", "the string ended at this quote",
      help: #"inside a string write \""#, readOn: false),
    MalformedDocument("[\"a\"⟦:⟧ 1]", "W0010", #"found ":", expected "," or "]""#, readOn: false),
    MalformedDocument("[1⟦;⟧ 2]", "W0010", #"found ";", expected "," or "]""#, readOn: false),
  ]

  static let words = [
    MalformedDocument(
      "[⟦NaN⟧]", "W0016", "NaN is not a JSON number",
      help: "JSON has only finite numbers; omit the value, or write null", readOn: true),
    MalformedDocument(
      "{\"a\": ⟦-Infinity⟧}", "W0016", "-Infinity is not a JSON number",
      help: "JSON has only finite numbers; omit the value, or write null", readOn: true),
    MalformedDocument(
      "[⟦True⟧]", "W0017", #""True" is not a JSON value"#, help: "write true", readOn: true),
    MalformedDocument(
      "⟦None⟧", "W0017", #""None" is not a JSON value"#, help: "write null", readOn: true),
    MalformedDocument(
      "[⟦yes⟧ ]", "W0017", #""yes" is not a JSON value"#,
      help: #"strings are written in double quotes: "yes""#, readOn: true),
    MalformedDocument(
      "{\"run\": ⟦swift⟧ build}", "W0017", #""swift" is not a JSON value"#,
      help: #"strings are written in double quotes: "swift""#, readOn: false),
    MalformedDocument(
      "[⟦nul⟧]", "W0017", #""nul" is not a JSON value"#,
      help: #"strings are written in double quotes: "nul""#, readOn: true),
    MalformedDocument(
      "[⟦steps⟧: 1]", "W0017", #""steps" is not a JSON value"#,
      help: #"strings are written in double quotes: "steps""#, readOn: false),
    MalformedDocument(
      "⟦error⟧: none", "W0017", #""error" is not a JSON value"#,
      help: #"strings are written in double quotes: "error""#, readOn: false),
    MalformedDocument("[⟦*⟧]", "W0010", #"found "*", expected a value"#, readOn: false),
    MalformedDocument("[⟦\u{1}⟧]", "W0010", "found U+0001, expected a value", readOn: false),
  ]

  static let numbers = [
    MalformedDocument(
      "[⟦007⟧]", "W0018", "007 is not a JSON number: it has a leading zero", help: "write 7",
      readOn: true),
    MalformedDocument(
      "[⟦-012.5⟧]", "W0018", "-012.5 is not a JSON number: it has a leading zero",
      help: "write -12.5", readOn: true),
    MalformedDocument(
      "[⟦00⟧]", "W0018", "00 is not a JSON number: it has a leading zero", help: "write 0",
      readOn: true),
    MalformedDocument(
      "[⟦0x1F⟧]", "W0018", "0x1F is not a JSON number: it is hexadecimal", help: "write 31",
      readOn: true),
    MalformedDocument(
      "[⟦+1⟧]", "W0018", "+1 is not a JSON number: it has a plus sign", help: "write 1",
      readOn: true),
    MalformedDocument(
      "[⟦-.5⟧]", "W0018", "-.5 is not a JSON number: there is no digit before the point",
      help: "write -0.5", readOn: true),
    MalformedDocument(
      "[⟦1.⟧]", "W0018", "1. is not a JSON number: there is no digit after the point",
      readOn: true),
    MalformedDocument(
      "[⟦2.e3⟧]", "W0018", "2.e3 is not a JSON number: there is no digit after the point",
      readOn: true),
    MalformedDocument(
      "[⟦1e⟧]", "W0018", "1e is not a JSON number: its exponent has no digits", readOn: true),
    MalformedDocument(
      "[⟦1E+⟧]", "W0018", "1E+ is not a JSON number: its exponent has no digits", readOn: true),
    MalformedDocument(
      "[⟦-⟧]", "W0018", "- is not a JSON number: there is no digit after the minus", readOn: true),
    MalformedDocument(
      "{\"timeout\": ⟦5m⟧}", "W0018",
      "5m is not a JSON number: only digits, one point and an exponent are allowed",
      help: #"if it is a string, write it in double quotes: "5m""#, readOn: true),
    MalformedDocument(
      "⟦1_000⟧", "W0018",
      "1_000 is not a JSON number: only digits, one point and an exponent are allowed",
      help: #"if it is a string, write it in double quotes: "1_000""#, readOn: true),
  ]

  static let quotes = [
    MalformedDocument(
      "[⟦'a b'⟧]", "W0019", "single quotes are not allowed in JSON",
      help: "write plain double quotes", readOn: true),
    MalformedDocument(
      "{⟦'a'⟧: 1}", "W0019", "single quotes are not allowed in JSON",
      help: "write plain double quotes", readOn: true),
    MalformedDocument(
      "[⟦'⟧it\\'s']", "W0019", "single quotes are not allowed in JSON",
      help: "write plain double quotes", readOn: false),
    MalformedDocument(
      "[⟦“⟧a”]", "W0019", "curly quotes are not allowed in JSON",
      help: "write plain double quotes", readOn: false),
    MalformedDocument(
      "{⟦timeout⟧ : 1}", "W0020", #"the key "timeout" is not in double quotes"#,
      help: #"write "timeout""#, readOn: true),
    MalformedDocument(
      "{⟦1⟧: 1}", "W0020", #"the key "1" is not in double quotes"#, help: #"write "1""#,
      readOn: true),
    MalformedDocument(
      "{⟦[⟧1]: 1}", "W0010", #"found "[", expected a key in double quotes"#, readOn: false),
  ]

  static let strings = [
    MalformedDocument(
      "[\"a⟦\t⟧b\"]", "W0021", "a string contains U+0009, an unescaped control character",
      help: #"write \t"#, readOn: true),
    MalformedDocument(
      "[\"⟦\0⟧\"]", "W0021", "a string contains U+0000, an unescaped control character",
      help: "remove it", readOn: true),
    MalformedDocument(
      "[\"⟦\u{1B}⟧[0m\"]", "W0021", "a string contains U+001B, an unescaped control character",
      help: #"write \u001b"#, readOn: true),
    MalformedDocument(
      "[⟦\"a⟧\nb\"]", "W0022", "the string is not closed at the end of its line",
      help: #"add the closing double quote; a line break inside a string is written \n"#,
      readOn: false),
    MalformedDocument(
      "[⟦\"a⟧\r\nb\"]", "W0022", "the string is not closed at the end of its line",
      help: #"add the closing double quote; a line break inside a string is written \n"#,
      readOn: false),
    MalformedDocument(
      #"["a⟦\q⟧"]"#, "W0023", #"unknown escape \q"#,
      help: #"valid escapes are \" \\ \/ \b \f \n \r \t and \uXXXX; a backslash itself is \\"#,
      readOn: true),
    MalformedDocument(
      #"["⟦\é⟧"]"#, "W0023", #"unknown escape \é"#,
      help: #"valid escapes are \" \\ \/ \b \f \n \r \t and \uXXXX; a backslash itself is \\"#,
      readOn: true),
    MalformedDocument(
      #"["⟦\u12⟧"]"#, "W0023",
      #"incomplete escape \u12, expected \u and four hexadecimal digits"#, readOn: true),
    MalformedDocument(
      #"["⟦\u⟧gggg"]"#, "W0023",
      #"incomplete escape \u, expected \u and four hexadecimal digits"#, readOn: true),
    MalformedDocument(
      "[⟦\"abc⟧", "W0009", "the string is not closed before the end of the text",
      help: "add the closing double quote", readOn: false),
    MalformedDocument(
      "⟦\"a\\⟧", "W0009", "the string is not closed before the end of the text",
      help: "add the closing double quote", readOn: false),
  ]

  static let structure = [
    MalformedDocument(
      "⟦⟧", "W0001", "the text is empty, expected a JSON value", readOn: false),
    MalformedDocument(
      "⟦⟧ \n\t", "W0001", "the text is empty, expected a JSON value", readOn: false),
    MalformedDocument(
      "[1, [2⟦⟧\n", "W0009", "the array is not closed before the end of the text",
      help: #"add the closing "]""#, readOn: false),
    MalformedDocument(
      "{\"a\": 1⟦⟧", "W0009", "the object is not closed before the end of the text",
      help: #"add the closing "}""#, readOn: false),
    MalformedDocument("[1⟦}⟧", "W0010", #"found "}", expected "]""#, readOn: false),
    MalformedDocument("{\"a\": 1⟦]⟧", "W0010", #"found "]", expected "}""#, readOn: false),
    MalformedDocument("⟦]⟧", "W0010", #"found "]", expected a value"#, readOn: false),
    MalformedDocument(
      "{} ⟦{}⟧\n", "W0008", "unexpected text after the end of the JSON value",
      help: "a file holds one value; put several into an array", readOn: true),
    MalformedDocument(
      "[1 ⟦// one⟧\n]", "W0011", "comments are not allowed in JSON", help: commentHelp,
      readOn: true),
    MalformedDocument(
      "⟦/* a\n * b */⟧ {}", "W0011", "comments are not allowed in JSON", help: commentHelp,
      readOn: true),
    MalformedDocument(
      "{\"a\" ⟦# one⟧\r\n: 1}", "W0011", "comments are not allowed in JSON", help: commentHelp,
      readOn: true),
    MalformedDocument(
      "{} ⟦/*⟧ *", "W0009", "the comment is not closed before the end of the text",
      help: #"add "*/", or remove the comment"#, readOn: true),
    MalformedDocument(
      "[⟦\u{A0}⟧1]", "W0010", "found U+00A0, which is not white space in JSON",
      help: "replace it with a plain space", readOn: true),
    MalformedDocument(
      "[1⟦\u{FEFF}⟧]", "W0010", "found U+FEFF, which is not white space in JSON",
      help: "replace it with a plain space", readOn: true),
  ]

  static let commaHelp = "remove the comma; only a file called NAME.jsonc may have it"
  static let commentHelp =
    "remove it; only a file called NAME.jsonc may have comments; "
    + #"in a workflow, "description" or a key that starts with "x-" can hold it"#

  @Test func allErrorsOfATextAreReportedTogether() {
    let text = "{a: 1, 'b' 2,\n \"c\": [1 2 007, NaN,], // end\n \"d\": \"\\q\\ud800\",}"
    let (root, diagnostics) = JSONReader.read(file(text))
    #expect(root != nil)
    #expect(
      diagnostics.map(\.code) == [
        "W0020", "W0019", "W0014", "W0013", "W0013", "W0018", "W0016", "W0012", "W0011", "W0023",
        "W0024",
        "W0012",
      ])
  }

  @Test func unreadableValueLeavesTheRestReadable() throws {
    let (root, _) = JSONReader.read(file("{a: 007, 'b': [NaN, 2]}"))
    let object = try #require(root)
    #expect(object.member("a")?.kind == .unreadable)
    #expect(object.member("b")?.elements.map(\.kind) == [.unreadable, .number])
  }

  @Test func theOpeningBracketIsShownWithTheOneThatIsMissing() throws {
    let reported = try #require(JSONReader.read(file(" {\"a\": [1}")).diagnostics.first)
    let related = try #require(reported.related.first)
    #expect(related.message == "opened here")
    #expect(related.place?.range == SourceRange(start: 7, end: 8))
  }

  @Test func readingStopsAfterAsManyProblemsAsAreAllowed() {
    let limits = JSONLimits(problems: 3)
    let (root, diagnostics) = JSONReader.read(file("[1 2 3 4 5 6]"), limits: limits)
    #expect(root == nil)
    #expect(diagnostics.map(\.code) == ["W0013", "W0013", "W0013", "W0007"])
  }

  @Test("W22: very many faults are counted, and cost no more than their number")
  func veryManyFaultsAreCounted() {
    let text = "[" + String(repeating: "[1,],\n", count: largeCount - 1) + "[1,]]"
    let (_, diagnostics) = JSONReader.read(file(text), limits: JSONLimits(problems: 200_000))
    let collection = DiagnosticCollection(diagnostics)
    #expect(collection.shown.count == 20)
    #expect(collection.remark == "… and \(largeCount - 20) more")
  }
}
