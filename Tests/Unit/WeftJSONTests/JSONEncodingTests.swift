import Testing
import WeftDiagnostics
import WeftTestKit

@testable import WeftJSON

struct JSONEncodingTests {
  @Test(
    "W10: bytes that are not UTF-8 are told with their offset",
    arguments: [
      ([0xC0, 0x80], 1), ([0xE0, 0x80, 0x80], 1), ([0xED, 0xA0, 0x80], 1),
      ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF8], 1), ([0xFF], 1), ([0x80], 1), ([0xC3], 1),
      ([0xE2, 0x82], 2), ([0xF0, 0x9F, 0x98], 3),
    ] as [([UInt8], Int)])
  func invalidUTF8ErrorHasItsOffset(bad: [UInt8], length: Int) throws {
    let bytes = Array("[\"é\", \"ab".utf8) + bad + Array("c\"]".utf8)
    let (root, diagnostics) = JSONReader.read(file(bytes))
    #expect(root != nil)
    #expect(diagnostics.count == 1)
    let reported = try #require(diagnostics.first)
    #expect(reported.code == "W0005")
    #expect(reported.message == "the text is not UTF-8 at byte 10")
    #expect(reported.help == "save the file as UTF-8")
    #expect(reported.place?.range == SourceRange(start: 10, end: 10 + length))
  }

  @Test func invalidUTF8OutsideStringsIsReported() throws {
    let reported = try #require(JSONReader.read(file([0x5B, 0xFF, 0x5D])).diagnostics.first)
    #expect(reported.code == "W0005")
    #expect(reported.place?.range == SourceRange(start: 1, end: 2))
  }

  @Test(
    "W10: a lone surrogate is told, whichever half it is",
    arguments: [
      (#""\ud800""#, 1..<7), (#""x\udc00""#, 2..<8), (#""\ud83d\ud83d\ude00""#, 1..<7),
      (#""\uDBFFx""#, 1..<7), (#""\ude00\ud83d""#, 1..<7),
    ])
  func loneSurrogateIsReported(text: String, range: Range<Int>) throws {
    let reported = try #require(JSONReader.read(file(text)).diagnostics.first)
    #expect(reported.code == "W0024")
    let wanted = SourceRange(start: range.lowerBound, end: range.upperBound)
    #expect(reported.place?.range == wanted)
  }

  @Test("W10: U+0000 is told where a workflow may not have it, and only there")
  func escapedNULIsReported() throws {
    let text = #"{"a\\u0000": "x\\\u0000"}"#
    let (root, diagnostics) = JSONReader.read(file(text))
    #expect(diagnostics.map(\.code) == ["W0025"])
    #expect(diagnostics.first?.place?.range == SourceRange(start: 17, end: 23))
    #expect(try #require(root).member(#"a\u0000"#)?.stringValue == "x\\\u{0}")
    #expect(JSONReader.read(file(text), beside: nil).diagnostics.isEmpty)
  }

  @Test("W06: a byte order mark is skipped with a note")
  func aByteOrderMarkIsSkippedWithANote() throws {
    let (root, diagnostics) = JSONReader.read(file([0xEF, 0xBB, 0xBF] + Array("{}".utf8)))
    #expect(root?.range == SourceRange(start: 3, end: 5))
    #expect(diagnostics.map(\.severity) == [.note])
    #expect(diagnostics.map(\.code) == ["W0004"])
  }

  @Test(
    "W06: UTF-16 and UTF-32 are rejected, with the cure",
    arguments: [
      ("UTF-16", [0xFF, 0xFE, 0x7B, 0, 0x7D, 0]), ("UTF-16", [0xFE, 0xFF, 0, 0x7B, 0, 0x7D]),
      ("UTF-16", [0x7B, 0, 0x7D, 0]), ("UTF-16", [0, 0x7B, 0, 0x7D]),
      ("UTF-32", [0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0]), ("UTF-32", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x7B]),
      ("UTF-32", [0x7B, 0, 0, 0, 0x7D, 0, 0, 0]), ("UTF-32", [0, 0, 0, 0x7B, 0, 0, 0, 0x7D]),
    ] as [(String, [UInt8])])
  func otherEncodingsAreRejected(name: String, bytes: [UInt8]) throws {
    let (root, diagnostics) = JSONReader.read(file(bytes))
    #expect(root == nil)
    let reported = try #require(diagnostics.first)
    #expect(reported.message == "the text is \(name), expected UTF-8")
    #expect(reported.help == "save the file as UTF-8")
  }

  @Test func everySequenceIsJudgedAsTheStandardLibraryDoes() {
    var random = SeededGenerator(seed: 7)
    var wrong: [[UInt8]] = []
    for first in UInt8(0x80)...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let tail = (0..<2).map { _ in UInt8.random(in: 0x7E...0xC1, using: &random) }
        let bytes = [first, second] + tail
        let sequence = bytes.withUnsafeBufferPointer { UTF8Sequence(at: 0, in: $0) }
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var length: Int?
        if case .scalarValue(let scalar) = decoder.decode(&iterator) {
          length = UTF8.width(scalar)
        }
        if length != (sequence.isValid ? sequence.length : nil) { wrong.append(bytes) }
      }
    }
    #expect(wrong == [])
  }

  @Test func everyScalarSurvivesEscapedAndPlain() throws {
    for value in stride(from: UInt32(0x20), through: 0x10FFFF, by: 97) {
      guard let scalar = Unicode.Scalar(value), scalar != "\"", scalar != "\\" else { continue }
      let escaped = String(scalar).utf16.map {
        let digits = String($0, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
      let node = try root(of: "[\"\(escaped)\", \"\(scalar)\"]")
      #expect(node.elements.allSatisfy { $0.isString(equalTo: String(scalar)) })
    }
  }
}
