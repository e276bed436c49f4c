import Testing
import WeftDiagnostics

@testable import WeftJSON

struct JSONKeyTests {
  @Test(
    "W01: a repeated key is told with both places",
    arguments: [
      (#"{"a":1,"a":2}"#, 1..<4, 7..<10), (#"{"a":1, "\u0061":2}"#, 1..<4, 8..<16),
      (#"[{"":{"x":1},"b":2,"":3}]"#, 2..<4, 19..<21),
    ])
  func repeatedKeyErrorHasBothLocations(text: String, first: Range<Int>, second: Range<Int>) throws
  {
    let (root, diagnostics) = JSONReader.read(file(text))
    #expect(root != nil)
    #expect(diagnostics.count == 1)
    let reported = try #require(diagnostics.first)
    #expect(reported.code == "W0101")
    #expect(reported.severity == .error)
    #expect(reported.place?.range == SourceRange(start: second.lowerBound, end: second.upperBound))
    #expect(reported.related.map(\.message) == ["the first is here"])
    let related = reported.related.first?.place?.range
    #expect(related == SourceRange(start: first.lowerBound, end: first.upperBound))
  }

  @Test func keyRepeatedTwiceIsReportedTwice() {
    let (_, diagnostics) = JSONReader.read(file(#"{"a":1,"a":2,"a":3}"#))
    #expect(diagnostics.map(\.place?.range.start) == [7, 13])
    #expect(diagnostics.map { $0.related.first?.place?.range.start } == [1, 1])
  }

  @Test("W02: keys that are equal after normalisation show their code points")
  func keysEqualAfterNormalisationShowTheirCodePoints() throws {
    let (_, diagnostics) = JSONReader.read(file("{\"\u{E9}\":1,\"e\u{301}\":2}"))
    let reported = try #require(diagnostics.first)
    #expect(reported.code == "W0102")
    #expect(reported.message.contains("(U+0065 U+0301)"))
    #expect(reported.message.contains("(U+00E9)"))
    #expect(reported.place?.range == SourceRange(start: 8, end: 13))
    #expect(reported.related.first?.place?.range == SourceRange(start: 1, end: 5))
  }

  @Test("W02: an ASCII key and a singleton that normalises to it")
  func theKelvinSignIsTheLetterK() {
    #expect(JSONReader.read(file("{\"K\":1,\"\u{212A}\":2}")).diagnostics.map(\.code) == ["W0102"])
  }

  @Test func theSameKeyInDifferentObjectsIsNoRepetition() {
    let text = #"{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}"#
    #expect(JSONReader.read(file(text)).diagnostics.isEmpty)
  }

  @Test func theCallerSaysHowGraveARepeatedKeyIs() {
    let text = file(#"{"a":1,"a":2}"#)
    #expect(JSONReader.read(text, beside: .warning).diagnostics.map(\.severity) == [.warning])
    #expect(JSONReader.read(text, beside: nil).diagnostics.isEmpty)
  }

  @Test func dataKeepsTheLastOfEqualKeys() throws {
    let node = try root(of: #"{"a":1,"b":2,"a":3}"#)
    #expect(node.member("a")?.numberValue == 3)
    #expect(node.member(named: "a")?.numberValue == 3)
    #expect(JSONValue(node).description == #"{"a":3,"b":2}"#)
  }
}
