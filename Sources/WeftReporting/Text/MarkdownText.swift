/// Text in Markdown (GitHub Flavored Markdown) that stays text.
package enum MarkdownText {
  /// Returns a code span that the text cannot end.
  package static func code(_ text: String) -> String {
    let longest = text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: longest + 1)
    let space = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
    // A table ends a cell at a bar, even within code (GitHub Flavored Markdown, §4.10).
    return fence + space + replaced(text, "|", by: "\\|") + space + fence
  }

  /// Returns text in which nothing is markup (CommonMark §2.4).
  package static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\`*_{}[]<>()#+-.!|~&@:".contains(character), !isInert(character) { result += "\\" }
      result.append(character)
    }
    return result
  }

  /// Marks that cannot begin anything within a sentence.
  private static func isInert(_ character: Character) -> Bool { ".-+()!:".contains(character) }

  private static func replaced(_ text: String, _ mark: Character, by other: String) -> String {
    text.contains(mark)
      ? text.split(separator: mark, omittingEmptySubsequences: false).joined(separator: other)
      : text
  }
}
