import Testing
import WeftDiagnostics

@testable import WeftJSON

/// Parts of a text that is written as an array of lines.
struct LinePlaceTests {
  @Test(arguments: [
    // The parts of "ab\ncd\n\nü\"x", and what is written there.
    (0, 2, "ab"), (0, 1, "a"), (3, 5, "cd"), (3, 4, "c"), (7, 9, "\\u00fc"), (9, 10, "\\\""),
    (10, 11, "x"),
    // A part of several lines ends with the line in which it begins; a newline is the end of its line.
    (1, 4, "b"), (0, 11, "ab"), (2, 3, ""), (6, 7, ""), (6, 11, ""),
  ])
  func aPartIsInItsLine(start: Int, end: Int, written: String) throws {
    let text = #"\#u{FEFF}[ "ab" , "cd", "", "\u00fc\"x" ]"#
    let file = file(Array(text.utf8))
    let (root, _) = JSONReader.read(file, beside: nil)
    let strings = try #require(root).elements.map(\.range)
    let part = SourceRange(start: start, end: end)
    let range = try #require(file.range(of: part, inLinesAt: strings))
    let bytes = file.bytes[Int(range.start)..<Int(range.end)]
    #expect(String(decoding: bytes, as: UTF8.self) == written)
  }

  @Test func aPartBeyondTheEndIsInTheLastLine() {
    let file = file(#"["a", "b"]"#)
    let strings = [SourceRange(start: 1, end: 4), SourceRange(start: 6, end: 9)]
    #expect(
      file.range(of: SourceRange(start: 9, end: 10), inLinesAt: strings)
        == SourceRange(start: 6, end: 9))
    #expect(file.range(of: SourceRange(start: 0, end: 0), inLinesAt: []) == nil)
  }
}
