import Testing
import WeftEvents

@testable import WeftReporting

@Suite struct DisplayTextTests {
  private static let plain = DisplayText(passesSGR: false, passesUnicode: true)
  private static let coloured = DisplayText(passesSGR: true, passesUnicode: true)
  private static let ascii = DisplayText(passesSGR: false, passesUnicode: false)

  @Test(
    "O09: only SGR passes, and never leaks into what follows",
    arguments: [
      ("\u{1B}[31mred\u{1B}[m", "\u{1B}[31mred\u{1B}[m\u{1B}[0m", "red"),
      ("\u{1B}[38;2;1;2;3;4:5mx", "\u{1B}[38;2;1;2;3;4:5mx\u{1B}[0m", "x"),
      ("\u{1B}[mx", "\u{1B}[mx\u{1B}[0m", "x"),
      ("\u{1B}[2J", "\\x1b[2J", "\\x1b[2J"),
      ("\u{1B}[?25l", "\\x1b[?25l", "\\x1b[?25l"),
      ("\u{1B}]0;title\u{7}", "\\x1b]0;title\\x07", "\\x1b]0;title\\x07"),
      ("\u{1B}", "\\x1b", "\\x1b"),
      ("\u{1B}[", "\\x1b[", "\\x1b["),
      ("\u{1B}[31", "\\x1b[31", "\\x1b[31"),
      ("\u{1B}[31;", "\\x1b[31;", "\\x1b[31;"),
      ("\u{1B}[>4;2m", "\\x1b[>4;2m", "\\x1b[>4;2m"),
      ("\u{1B}[1\u{1B}[2Jm", "\\x1b[1\\x1b[2Jm", "\\x1b[1\\x1b[2Jm"),
      ("\u{1B}\u{301}[31m", "\\x1b\u{301}[31m", "\\x1b\u{301}[31m"),
      ("\u{9B}31m", "\\x9b31m", "\\x9b31m"),
      (
        "bell\u{7} del\u{7F} nul\u{0}", "bell\\x07 del\\x7f nul\\x00", "bell\\x07 del\\x7f nul\\x00"
      ),
    ])
  func terminalCommandsAreSpelledOut(text: String, coloured: String, plain: String) {
    #expect(DisplayTextTests.coloured.line(Array(text.utf8)[...]) == coloured)
    #expect(DisplayTextTests.plain.line(Array(text.utf8)[...]) == plain)
  }

  @Test(
    "X29: \"erase to the end of the line\" passes with the colours before it, and is dropped without"
  )
  func eraseToEndOfLinePassesWithColours() {
    let text = "\u{1B}[01m\u{1B}[Kbad.c:1:\u{1B}[m\u{1B}[K \u{1B}[0Kx\u{1B}[1K"
    let bytes = Array(text.utf8)[...]
    #expect(DisplayTextTests.plain.line(bytes) == "bad.c:1: x\\x1b[1K")
    #expect(
      DisplayTextTests.coloured.line(bytes)
        == "\u{1B}[01m\u{1B}[Kbad.c:1:\u{1B}[m\u{1B}[K \u{1B}[0Kx\\x1b[1K\u{1B}[0m")
    #expect(DisplayTextTests.plain.cut(text, columns: 8) == "bad.c:1…")
  }

  @Test(
    "O09: text that reorders a line is spelled out",
    arguments: (Array(0x202A...0x202E) + Array(0x2066...0x2069)) as [UInt32])
  func bidiControlsAreSpelledOut(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    let line = DisplayTextTests.plain.name("a\(scalar)b")
    #expect(line == "a\\u{\(String(value, radix: 16))}b")
  }

  @Test("S20: a name stays on one line", arguments: ["\n", "\r", "\r\n", "\u{85}", "\u{2028}"])
  func lineBreaksAreSpelledOut(lineBreak: String) {
    let name = DisplayTextTests.plain.name("a\(lineBreak)weft: [a] succeeded")
    #expect(name.filter(\.isNewline) == "")
    #expect(name.hasPrefix("a\\"))
  }

  @Test("C07: outside UTF-8 locales everything is ASCII")
  func asciiSpellsTheRestOut() {
    #expect(DisplayTextTests.ascii.name("für 漢 👍🏽") == "f\\u{fc}r \\u{6f22} \\u{1f44d}\\u{1f3fd}")
    #expect(DisplayTextTests.ascii.cut("abcdefgh", columns: 6) == "abc...")
  }

  @Test(
    arguments: [
      ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
      ("", 3, ""), ("漢字漢字", 8, "漢字漢字"), ("漢字漢字", 7, "漢字漢…"), ("漢字漢字", 6, "漢字…"),
      ("漢", 1, "…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("👩‍👩‍👧x", 3, "👩‍👩‍👧x"),
      ("👩‍👩‍👧xy", 3, "👩‍👩‍👧…"), ("a\tb", 9, "a       b"), ("a\tb", 8, "a…"),
      ("\u{7}\u{7}", 8, "\\x07\\x07"), ("\u{7}\u{7}", 7, "\\x07…"),
    ])
  func linesAreCutByColumns(text: String, columns: Int, shown: String) {
    let line = DisplayTextTests.plain.cut(text, columns: columns)
    #expect(line == shown)
    #expect(DisplayText.columns(of: line) <= columns)
  }

  @Test func coloursFillNoColumnsAndEndWhereTheLineIsCut() {
    let line = DisplayTextTests.coloured.cut("\u{1B}[31mabcdef\u{1B}[0m", columns: 4)
    #expect(line == "\u{1B}[31mabc…\u{1B}[0m")
    #expect(DisplayText.columns(of: line) == 4)
  }

  @Test(
    "of a progress bar the last state remains",
    arguments: [
      ("10%\r20%\r30%", "30%"), ("10%\r20%\r", "20%"), ("text\r", "text"), ("\r\r", ""),
      ("\rtext", "text"), ("no return", "no return"), ("a\r\r", "a"),
    ])
  func aReturnStartsTheLineAnew(text: String, state: String) {
    #expect(StepOutput.lastState(of: Array(text.utf8)[...]).elementsEqual(state.utf8))
  }

  @Test func onlyTheStartOfAnEndlessLineIsLookedAt() {
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    #expect(DisplayTextTests.plain.line(line[...]).utf8.count == DisplayText.lineLimitBytes)
  }
}
