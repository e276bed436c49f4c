import Testing
import WeftTestKit

@testable import WeftReporting

@Suite struct ScreenFilterTests {
  private static func filtered(
    _ bytes: [UInt8], colour: Bool = true, unicode: Bool = true
  ) -> String {
    var result: [UInt8] = []
    ScreenFilter(passesSGR: colour, passesUnicode: unicode).append(bytes[...], to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  @Test(
    "colours and \"erase to the end of the line\" pass, as GCC and clang write them",
    arguments: [
      ("\u{1B}[01m\u{1B}[Kbad.c:1:\u{1B}[m\u{1B}[K ok", "bad.c:1: ok"),
      ("\u{1B}[0;1;31merror: \u{1B}[0m", "error: "), ("\u{1B}[38:2::1:2:3mx\u{1B}[0Kx", "xx"),
      ("\u{1B}[mx", "x"),
    ])
  func coloursPass(line: String, plain: String) {
    let coloured = ScreenFilterTests.filtered(Array(line.utf8))
    #expect(coloured == line + "\u{1B}[0m")
    #expect(ScreenFilterTests.filtered(Array(line.utf8), colour: false) == plain)
  }

  @Test(
    "no other control sequence passes, complete or not",
    arguments: [
      ("\u{1B}", "\\x1b"), ("\u{1B}[", "\\x1b["), ("\u{1B}[31", "\\x1b[31"),
      ("\u{1B}[3;", "\\x1b[3;"),
      ("\u{1B}[1K", "\\x1b[1K"), ("\u{1B}[2K", "\\x1b[2K"), ("\u{1B}[00K", "\u{1B}[00K"),
      ("\u{1B}[2J", "\\x1b[2J"), ("\u{1B}[5A", "\\x1b[5A"), ("\u{1B}[?1049h", "\\x1b[?1049h"),
      ("\u{1B}[ m", "\\x1b[ m"), ("\u{1B}c", "\\x1bc"), ("\u{1B}\\", "\\x1b\\"),
      ("\u{1B}]8;;http://x\u{1B}\\l", "\\x1b]8;;http://x\\x1b\\l"),
      ("\u{1B}]52;c;eA==\u{7}", "\\x1b]52;c;eA==\\x07"),
      ("\u{1B}P1$qm\u{1B}\\", "\\x1bP1$qm\\x1b\\"),
      ("\u{1B}_x\u{1B}^y\u{1B}Xz", "\\x1b_x\\x1b^y\\x1bXz"), ("\u{9B}31m", "\\x9b31m"),
      ("\u{9D}0;t\u{9C}", "\\x9d0;t\\x9c"), ("\u{85}", "\\x85"), ("nul\u{0}", "nul\\x00"),
      ("\u{8}\u{B}\u{C}\u{7F}", "\\x08\\x0b\\x0c\\x7f"),
      ("\u{1B}[1\u{1B}[31mx", "\\x1b[1\u{1B}[31mx\u{1B}[0m"),
      ("a\rb", "a\\rb"), ("\u{202E}x", "\\u{202e}x"),
    ])
  func othersAreSpelledOut(line: String, shown: String) {
    #expect(ScreenFilterTests.filtered(Array(line.utf8)) == shown)
  }

  @Test(
    "what is not UTF-8 is replaced, as Swift does",
    arguments: [
      [0xFF], [0xC0, 0x80], [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xF0, 0x9F, 0x92],
      [0xED, 0xA0, 0x80],
      [0x41, 0x9B, 0x33, 0x31, 0x6D], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x1B, 0x5B, 0x6D],
    ] as [[UInt8]])
  func invalidTextIsReplaced(bytes: [UInt8]) {
    let shown = ScreenFilterTests.filtered(bytes, colour: false)
    let decoded = String(decoding: bytes, as: UTF8.self)
    #expect(shown == decoded.split(separator: "\u{1B}[m").joined())
    let ascii = ScreenFilterTests.filtered(bytes, colour: false, unicode: false)
    #expect(ascii.contains("\\u{fffd}") && ascii.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test(
    "a tab ends at the next multiple of 8 columns",
    arguments: [
      ("\tx", "        x"), ("ab\tx", "ab      x"), ("漢\tx", "漢      x"),
      ("\u{1B}[1m\t", "\u{1B}[1m        \u{1B}[0m"),
    ])
  func tabsAreExpanded(line: String, shown: String) {
    #expect(ScreenFilterTests.filtered(Array(line.utf8)) == shown)
  }

  @Test("a long line passes as a whole")
  func longLinesPass() {
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    #expect(ScreenFilterTests.filtered(line).utf8.count == 1 << 20)
    #expect(ScreenFilterTests.filtered(line + [0x1B, 0x5B]).hasSuffix("x\\x1b["))
  }

  @Test(
    "of random bytes a terminal gets printable text, colours and EL",
    arguments: 0..<300 as Range<UInt64>)
  func randomBytesAreHarmless(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pieces: [[UInt8]] = [
      [0x1B], [0x5B], [0x9B], [0xC2, 0x9B], [0x5D], [0x07], [0x33, 0x31], [0x6D], [0x4B], [0x3B],
      [0x4A], [0xE2, 0x80, 0xAE], [0xF0], [0x00], [0x0D], [0x09], [0x41], [0x3F], [0xC2], [0x20],
    ]
    let line = (0..<60).flatMap { _ in pieces.randomElement(using: &random)! }
    var screen = Screen(columns: 2000, rows: 3)
    let shown = ScreenFilterTests.filtered(line)
    screen.feed(Array(shown.utf8))
    #expect(screen.surprises == [])
    for scalar in shown.unicodeScalars where scalar != "\u{1B}" {
      #expect(scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value) && scalar != "\u{202E}")
    }
  }
}
