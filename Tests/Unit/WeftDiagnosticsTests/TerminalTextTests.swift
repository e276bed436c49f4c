import Testing

@testable import WeftDiagnostics

struct TerminalTextTests {
  @Test func theWideRangesAscendAndDoNotTouch() {
    for (left, right) in zip(WideScalars.ranges, WideScalars.ranges.dropFirst()) {
      #expect(left.upperBound + 1 < right.lowerBound)
    }
  }

  @Test(arguments: ["日", "Ａ", "、", "한", "😀", "🚀", "⌚", "㐀", "𠀀", "ｱ" as Character])
  func charactersAreAsWideAsTheTableSays(character: Character) {
    let wanted = character == "ｱ" ? 1 : 2
    #expect(TerminalText.width(of: character) == wanted)
  }

  @Test func everyScalarWithEmojiPresentationIsWide() {
    for value in UInt32(0xA0)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isEmojiPresentation else {
        continue
      }
      #expect(WideScalars.contains(scalar), "U+\(String(value, radix: 16))")
    }
  }

  @Test func harmlessTextIsLeftAsItIs() {
    let text = "plain, é, 日本, 👩‍👩‍👧, \u{FEFF}".dropLast()
    #expect(TerminalText.harmless(String(text)) == String(text))
    #expect(TerminalText.harmless("a\r\n\u{1B}b") == #"a\r\n\x1bb"#)
  }
}
