import Testing
import WeftEncoding

@Suite struct TextSearchTests {
  @Test(arguments: [
    ("", "", true), ("abc", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "bc", true),
    ("abc", "abcd", false), ("aab", "ab", true), ("grün", "ü", true), ("e\u{301}", "e", true),
  ])
  func occurs(text: String, part: String, occurs: Bool) {
    #expect(text.contains(part) == occurs)
    #expect(text[...].contains(part[...]) == occurs)
  }

  @Test func rangesDoNotOverlap() {
    let text = "aaaxüaa"
    #expect(text.ranges(of: "aa").map { text[$0] } == ["aa", "aa"])
    #expect(text.ranges(of: "aa").last?.upperBound == text.endIndex)
    #expect(text.dropFirst(4).ranges(of: "aa").map { text[..<$0.lowerBound] } == ["aaaxü"])
    #expect(text.ranges(of: "b").isEmpty)
  }

  @Test(arguments: [
    ("it's", "'", "''", "it''s"), ("\\a\\", "\\", "\\\\", "\\\\a\\\\"), ("abc", "x", "y", "abc"),
    ("aaa", "aa", "b", "ba"), ("", "a", "b", ""),
  ])
  func replaces(text: String, part: String, replacement: String, replaced: String) {
    #expect(text.replacing(part, with: replacement) == replaced)
    #expect(text[...].replacing(part, with: replacement) == replaced)
  }
}
