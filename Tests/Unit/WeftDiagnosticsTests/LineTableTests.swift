import Testing
import WeftDiagnostics
import WeftTestKit

struct LineTableTests {
  @Test(arguments: [
    ("", 0, 1, 1), ("abc", 0, 1, 1), ("abc", 3, 1, 4), ("a\nb", 1, 1, 2), ("a\nb", 2, 2, 1),
    ("a\r\nb", 1, 1, 2), ("a\r\nb", 2, 1, 3), ("a\r\nb", 3, 2, 1), ("a\rb", 2, 2, 1),
    ("a\n\rb", 2, 2, 1), ("a\n\rb", 3, 3, 1), ("a\n", 2, 2, 1), ("\n\n\n", 3, 4, 1),
    ("é日😀x", 9, 1, 4), ("\tx", 1, 1, 2), ("e\u{301}x", 3, 1, 3), ("é", 1, 1, 2),
    ("\u{FEFF}{", 3, 1, 1), ("\u{FEFF}{", 0, 1, 1), ("\u{FEFF}{}\nx", 6, 2, 1), ("ab", 99, 1, 3),
  ])
  func placesAreCountedAsPeopleCount(text: String, offset: Int, line: Int, column: Int) {
    let file = SourceFile(path: "a", bytes: Array(text.utf8))
    #expect(file.position(of: offset) == SourcePosition(line: line, column: column))
  }

  @Test func bytesThatAreNotUTF8AreAColumnEach() {
    let file = SourceFile(path: "a", bytes: [0xFF, 0xC3, 0x61])
    #expect(file.position(of: 2).column == 3)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func everyPlaceIsTheOneFoundByCounting(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pieces = ["a", "é", "日", "😀", "\n", "\r\n", "\r", String(repeating: "x", count: 3000)]
    let text = (0..<60).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    let file = SourceFile(path: "a", bytes: Array(text.utf8))
    var position = SourcePosition(line: 1, column: 1)
    var offset = 0
    var wrong: [Int] = []
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      let isChecked = scalar != "x" || index % 61 == 0
      if isChecked, file.position(of: offset) != position { wrong.append(offset) }
      offset += UTF8.width(scalar)
      let isEnd = scalar == "\n" || scalar == "\r" && scalars.dropFirst(index + 1).first != "\n"
      position = SourcePosition(
        line: position.line + (isEnd ? 1 : 0), column: isEnd ? 1 : position.column + 1)
    }
    #expect(wrong == [])
    #expect(file.position(of: offset) == position)
  }

  @Test func aColumnInAVeryLongLineIsRight() {
    let file = SourceFile(path: "a", bytes: Array(String(repeating: "日", count: 100_000).utf8))
    for column in [1, 4096, 4097, 50_000, 99_999, 100_000] {
      #expect(file.position(of: (column - 1) * 3).column == column)
    }
  }
}
