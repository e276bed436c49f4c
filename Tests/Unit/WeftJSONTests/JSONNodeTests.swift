import Testing
import WeftDiagnostics
import WeftTestKit

@testable import WeftJSON

struct JSONNodeTests {
  @Test func accessorsOfAnotherKindGiveNothing() throws {
    let node = try root(of: #"{"a":1}"#)
    #expect(node.stringValue == nil && node.numberValue == nil && node.boolValue == nil)
    #expect(node.elements.isEmpty && node.elements.count == 0)
    #expect(try root(of: "[1]").members.isEmpty)
    #expect(try root(of: "1").member("a") == nil)
    #expect(try root(of: "true").boolValue == true)
    #expect(try root(of: "false").boolValue == false)
    #expect(try root(of: "null").isNull)
  }

  @Test func membersComeInFileOrderWithRepeatedKeys() throws {
    let node = try root(of: #" { "b" : [ 1 , { } ] , "a" : "x" , "b" : null } "#)
    #expect(node.members.map { $0.key.stringValue } == ["b", "a", "b"])
    #expect(node.members.map { $0.value.kind } == [.array, .string, .null])
    #expect(node.members.count == 3)
    #expect(node.member("b")?.kind == .null)
  }

  @Test func keysAreComparedByScalars() throws {
    let node = try root(of: "[\"caf\u{E9}\", \"caf\\u00e9\", \"cafe\u{301}\"]")
    #expect(node.elements.map { $0.isString(equalTo: "caf\u{E9}") } == [true, true, false])
    #expect(node.elements.map { $0.isString("caf\u{E9}") } == [true, true, false])
    #expect(node.elements.map { $0.isString("cafe") } == [false, false, false])
  }

  @Test func aPlaceInAStringIsFoundThroughItsEscapes() throws {
    let node = try root(of: #"  "a\n\u00e9\ud83d\ude00z""#)
    let text = try #require(node.stringValue)
    #expect(text == "a\n\u{E9}\u{1F600}z")
    #expect((0...9).map { node.sourceOffset(ofUTF8: $0) } == [3, 4, 6, 6, 12, 12, 12, 12, 24, 25])
    let plain = try root(of: #""abc""#)
    #expect((0...3).map { plain.sourceOffset(ofUTF8: $0) } == [1, 2, 3, 4])
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func theRangeOfEveryNodeHoldsExactlyItsValue(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = JSONSample.text(depth: 5, using: &random)
    let node = try root(of: text)
    let bytes = Array(text.utf8)
    for index in 0..<node.document.nodeCount {
      let part = JSONNode(document: node.document, index: index)
      let slice = Array(bytes[Int(part.range.start)..<Int(part.range.end)])
      let (alone, diagnostics) = JSONReader.read(file(slice), beside: nil)
      #expect(diagnostics.isEmpty)
      #expect(alone?.range == SourceRange(start: 0, end: slice.count))
      #expect(alone.map(JSONValue.init) == JSONValue(part))
      #expect(part.sourceText == String(decoding: slice, as: UTF8.self))
    }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func writtenJSONReadsBackTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let value = JSONValue(try root(of: JSONSample.text(depth: 5, using: &random)))
    for style in [JSONWriter.Style.compact, .pretty] {
      var writer = JSONWriter(style)
      writer.value(value)
      let again = JSONValue(try root(of: writer.text))
      #expect(again == value)
      #expect(again.description == value.description)
    }
  }
}

/// Random valid texts, with every kind of value, escape and white space.
enum JSONSample {
  static func text(depth: Int, using random: inout SeededGenerator) -> String {
    space(&random) + value(depth, &random) + space(&random)
  }

  private static func value(_ depth: Int, _ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
    case 0: ["null", "true", "false"].randomElement(using: &random) ?? ""
    case 1, 2: numbers.randomElement(using: &random) ?? ""
    case 3...5: string(&random)
    case 6, 7: "[" + list(depth, &random) { value($0, &$1) } + "]"
    default:
      "{"
        + list(depth, &random) {
          string(&$1) + space(&$1) + ":" + space(&$1) + value($0, &$1)
        } + "}"
    }
  }

  private static func list(
    _ depth: Int, _ random: inout SeededGenerator, _ item: (Int, inout SeededGenerator) -> String
  ) -> String {
    let items = (0..<Int.random(in: 0...5, using: &random)).map { _ in
      space(&random) + item(depth - 1, &random) + space(&random)
    }
    return items.isEmpty ? space(&random) : items.joined(separator: ",")
  }

  private static func string(_ random: inout SeededGenerator) -> String {
    let count = Int.random(in: 0...12, using: &random)
    return "\"" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      + "\""
  }

  private static func space(_ random: inout SeededGenerator) -> String {
    ["", "", "", " ", "\n  ", "\t", "\r\n"].randomElement(using: &random) ?? ""
  }

  private static let numbers = [
    "0", "-0", "1", "-17", "3.25", "1e2", "1E-7", "9007199254740993", "18446744073709551616",
    "-9223372036854775808", "0.1", "1.0", "123456789012345678901234567890.5e-40",
  ]

  private static let pieces = [
    "a", "Z", " ", "steps", "é", "e\u{301}", "日本", "😀", "\\n", "\\t", "\\\"", "\\\\", "\\/",
    "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\u0000", "\u{2028}", "\u{7F}", "0123456789abcdef",
  ]
}
