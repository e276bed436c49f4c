import TestSupport
import Testing
import WeftDiagnostics
import WeftTestKit

@testable import WeftJSON

struct JSONFormatterTests {
  /// The formatted text, which must not change when it is formatted again; `nil` if the text is not valid.
  static func formatted(_ text: String, _ path: String = "a.jsonc") -> String? {
    guard let once = format(Array(text.utf8), path) else { return nil }
    #expect(format(once, path).map(read) == read(once))
    return read(once)
  }

  private static func format(_ text: [UInt8], _ path: String) -> [UInt8]? {
    JSONFormatter.format(SourceFile(path: path, bytes: text)).text
  }

  private static func read(_ text: [UInt8]) -> String { String(decoding: text, as: UTF8.self) }

  struct Layout: Sendable, CustomTestStringConvertible {
    let name: String
    let source: String
    let result: String

    init(_ name: String, _ source: String, _ result: String) {
      (self.name, self.source, self.result) = (name, source, result)
    }

    var testDescription: String { name }
  }

  @Test(arguments: layouts + comments + commas)
  func aTextHasItsLayout(layout: Layout) {
    #expect(Self.formatted(layout.source) == layout.result)
    #expect(Self.formatted(layout.result) == layout.result)
  }

  private static let word = String(repeating: "a", count: 30)

  static let layouts = [
    Layout("a scalar", " 1 ", "1\n"),
    Layout("empty containers", "[ [\n\n] , {  \n} ]", "[[], {}]\n"),
    Layout(
      "one line", "{\"a\":[1,{\"b\":null}],\n\"c\":true}",
      "{ \"a\": [1, { \"b\": null }], \"c\": true }\n"),
    Layout(
      "a first item on its own line", "{\n\"a\":[\n1],\"b\":{\"c\":1}}",
      "{\n  \"a\": [\n    1\n  ],\n  \"b\": { \"c\": 1 }\n}\n"),
    Layout(
      "an inner container that is not on one line", "[{\"a\":[\n{}]}]",
      "[\n  {\n    \"a\": [\n      {}\n    ]\n  }\n]\n"),
    Layout(
      "a line of 100 columns",
      "{\"a\":\"\(word)\", \"b\":\"\(word)\",\"c\":\"\(word.dropLast(20))é\"}",
      "{ \"a\": \"\(word)\", \"b\": \"\(word)\", \"c\": \"\(word.dropLast(20))é\" }\n"),
    Layout(
      "a line of 101 columns",
      "{\"a\":\"\(word)\", \"b\":\"\(word)\",\"c\":\"\(word.dropLast(19))é\"}",
      "{\n  \"a\": \"\(word)\",\n  \"b\": \"\(word)\",\n  \"c\": \"\(word.dropLast(19))é\"\n}\n"),
    Layout(
      "a comma in column 100", "[\n[\"\(word)\",\"\(word)\",\"\(word.dropLast(5))\"],1]",
      "[\n  [\"\(word)\", \"\(word)\", \"\(word.dropLast(5))\"],\n  1\n]\n"),
    Layout(
      "a comma in column 101", "[\n[\"\(word)\",\"\(word)\",\"\(word.dropLast(4))\"],1]",
      "[\n  [\n    \"\(word)\",\n    \"\(word)\",\n    \"\(word.dropLast(4))\"\n  ],\n  1\n]\n"),
    Layout(
      "no comma in column 101", "[\n[\"\(word)\",\"\(word)\",\"\(word.dropLast(4))\"]]",
      "[\n  [\"\(word)\", \"\(word)\", \"\(word.dropLast(4))\"]\n]\n"),
    Layout(
      "an array that is too long", "[\"\(word)\",\"\(word)\",\"\(word)\"]",
      "[\n  \"\(word)\",\n  \"\(word)\",\n  \"\(word)\"\n]\n"),
    Layout(
      "lines of scalars", "[\n1,2, 3,\n   4 ,5\n\n\n,6]", "[\n  1, 2, 3,\n  4, 5,\n\n  6\n]\n"),
    Layout(
      "a line of scalars that is too long",
      "[\n\"\(word)\",\"\(word)\",\"\(word)\",\n1,2]",
      "[\n  \"\(word)\", \"\(word)\",\n  \"\(word)\",\n  1, 2\n]\n"),
    Layout("objects share no line", "[\n1,{},2]", "[\n  1,\n  {},\n  2\n]\n"),
    Layout(
      "blank lines", "\n\n{\n\n\n\"a\":1,\n\n\n\n\"b\":2,\n\"c\":3\n\n}\n\n\n",
      "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n}\n"),
    Layout("leading commas", "[\n  1\n, 2\n, {}\n]", "[\n  1,\n  2,\n  {}\n]\n"),
    Layout(
      "texts and numbers", #"[ "\u0041\/\ud83d\ude00\u0000", -0.50E+07 ,"é // /*" ]"#,
      #"[ "\u0041\/\ud83d\ude00\u0000", -0.50E+07, "é // /*" ]"#.replacing("[ ", with: "[")
        .replacing(" ]", with: "]") + "\n"),
    Layout("repeated keys", #"{"a":1,"a":2}"#, "{ \"a\": 1, \"a\": 2 }\n"),
    Layout("a byte order mark", "\u{FEFF}[1]", "[1]\n"),
    Layout("CR LF", "[\r\n1,\n\n2]", "[\r\n  1,\r\n\r\n  2\r\n]\r\n"),
    Layout("LF first", "[\n1,\r\n2]", "[\n  1,\n  2\n]\n"),
    Layout("CR alone", "[\r1]", "[\n  1\n]\n"),
  ]

  static let comments = [
    Layout(
      "lines of their own",
      "// one\n\n\n\n/* two */\n[\n// three\n1, \n   // four\n2\n// five\n]\n// six",
      "// one\n\n/* two */\n[\n  // three\n  1,\n  // four\n  2\n  // five\n]\n// six\n"),
    Layout(
      "ends of lines", "{ // one\n\"a\":1,// two  \n\"b\":2 /* three */\n} // four",
      "{ // one\n  \"a\": 1, // two\n  \"b\": 2 /* three */\n} // four\n"),
    Layout(
      "the end of the line of an array", "[ /* one */\n1]", "[ /* one */\n  1\n]\n"),
    Layout(
      "before a comma", "[1 // one\n, 2 /* two */ , 3\n// three\n, 4]",
      "[\n  1, // one\n  2 /* two */,\n  3,\n  // three\n  4\n]\n"),
    Layout(
      "no comma hides a line break", "[1 // one\n,2 // two\n, // three\n3]",
      "[\n  1, // one\n  2, // two\n  // three\n  3\n]\n"),
    Layout(
      "on one line", "[/*a*/1/*b*/,/*c*/{/*d*/\"e\"/*f*/:/*g*/2/*h*/}/*i*/]",
      "[/*a*/ 1 /*b*/, /*c*/ { /*d*/ \"e\" /*f*/: /*g*/ 2 /*h*/ } /*i*/]\n"),
    Layout("alone in a container", "[[/* a */],{/* b */}]", "[[/* a */], { /* b */ }]\n"),
    Layout(
      "alone on a line in a container", "[[// a\n],{\n/* b */ }]",
      "[\n  [ // a\n  ],\n  {\n    /* b */\n  }\n]\n"),
    Layout(
      "before an item on its line", "[\n1, /* a */ 2,\n\n/* b */ 3 ]",
      "[\n  1,\n  /* a */ 2,\n\n  /* b */ 3\n]\n"),
    Layout(
      "between a key and its value",
      "{\"a\" // one\n: // two\n/* three */\n[\n1],\"b\":/* four */2}",
      "{\n  \"a\" // one\n    : // two\n    /* three */ [\n      1\n    ],\n  \"b\": /* four */ 2\n}\n"
    ),
    Layout(
      "aligned lines", "[\n      /**\n   * one\n\t\t\t*\n      * two  \n */\n1]",
      "[\n  /**\n   * one\n   *\n   * two\n   */\n  1\n]\n"),
    Layout(
      "lines as they are", "[\n      /* one\n   two  \n\n     three */ 1]",
      "[\n  /* one\n   two  \n\n     three */ 1\n]\n"),
    Layout(
      "lines of CR LF", "[\r\n/* one\ntwo */ 1]", "[\r\n  /* one\r\ntwo */ 1\r\n]\r\n"),
    Layout("after the value", "1 /* a */ /* b */\n\n\n// c\n", "1 /* a */ /* b */\n\n// c\n"),
  ]

  static let commas = [
    Layout("on one line", "[1,{\"a\":2,},/* c */]", "[1, { \"a\": 2 } /* c */]\n"),
    Layout("at the end of a line", "[\n1 ,\n]", "[\n  1,\n]\n"),
    Layout("before a comment", "[\n1, // a\n// b\n]", "[\n  1, // a\n  // b\n]\n"),
    Layout("after a comment", "[\n1 // a\n, ]", "[\n  1, // a\n]\n"),
  ]

  @Test func textsOfWeftStayAsTheyAre() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<100 {
      let value = JSONValue(try root(of: JSONSample.text(depth: 4, using: &random)))
      var writer = JSONWriter(.pretty)
      writer.value(value)
      writer.endLine()
      #expect(Self.formatted(writer.text, "a.json") == writer.text)
    }
  }

  @Test(arguments: ["", "[1", "{\"a\" 1}", "[1] 2", "\"\\ud800\"", "[1,]", "// a\n1", "\u{0}"])
  func whatIsNotJSONIsRejectedAsByTheReader(text: String) {
    let (result, errors) = JSONFormatter.format(file(text))
    #expect(result == nil)
    #expect(errors.map(\.code) == JSONReader.read(file(text)).diagnostics.map(\.code))
  }

  @Test func whatIsNotUTF8InACommentStays() throws {
    let bytes: [UInt8] = Array("[1] // ".utf8) + [0xFF, 0xC3]
    let result = JSONFormatter.format(SourceFile(path: "a.jsonc", bytes: bytes)).text
    #expect(result == bytes + Array("\n".utf8))
  }
}

/// Texts that are deep, long or many.
struct JSONFormatterLimitTests {
  @Test func nestingNeedsNoStack() throws {
    let depth = largeCount / 10
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let (result, errors) = JSONFormatter.format(file(text), limits: JSONLimits(depth: depth))
    let formatted = try #require(result)
    #expect(errors.isEmpty)
    #expect(formatted.filter { $0 == UInt8(ascii: "[") }.count == depth)
    #expect(JSONFormatter.format(file(text)).errors.map(\.code) == ["W0006"])
  }

  @Test(arguments: ["[\n", "["])
  func manyItemsAreFormatted(opening: String) throws {
    let items = (0..<largeCount).map { "\($0)" }
    let text = opening + items.joined(separator: ",") + "]"
    let result = try #require(JSONFormatter.format(file(text)).text)
    let lines = result.split(separator: UInt8(ascii: "\n"))
    #expect(lines.allSatisfy { $0.count <= JSONFormatter.width })
    #expect(lines.count > items.count / 30)
  }

  @Test func whiteSpaceIsLimitedToo() throws {
    let text = "[\n[\n[\n" + String(repeating: "[\n1],", count: 100) + "1]]]"
    let formatted = try #require(JSONFormatter.format(file(text)).text)
    #expect(formatted.count > 2 * text.utf8.count)
    let enough = JSONLimits(bytes: formatted.count)
    #expect(JSONFormatter.format(file(text), limits: enough).text == formatted)
    for size in [text.utf8.count, formatted.count - 1] {
      let (result, errors) = JSONFormatter.format(file(text), limits: JSONLimits(bytes: size))
      #expect(result == nil)
      #expect(
        errors.map(\.message) == ["the formatted text would exceed the limit of \(size) bytes"])
    }
  }

  @Test func manyCommentsAreFormatted() throws {
    let text = "[" + String(repeating: "/**/", count: largeCount) + "1,1]"
    let file = SourceFile(path: "a.jsonc", bytes: Array(text.utf8))
    let result = try #require(JSONFormatter.format(file).text)
    #expect(JSONFormatter.format(SourceFile(path: "a.jsonc", bytes: result)).text == result)
  }
}
