/// The files that the patterns of `hashFiles` mean.
///
/// As actions/glob has it: each line of each pattern counts by itself, blank lines and lines that
/// begin with `#` not at all; `!` before a pattern takes out what it means, of several that mean a file
/// the last decides; what means a directory means all that is below it.
package struct FileSelection: Sendable, Hashable {
  private struct Rule: Sendable, Hashable {
    var pattern: PathPattern
    var isExclusion: Bool
  }

  private var rules: [Rule] = []

  package init(_ texts: [String]) throws(PathPatternFault) {
    for line in texts.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
      var text = WhiteSpace.trimmed(String(line))
      if text.isEmpty || text.hasPrefix("#") { continue }
      var isExclusion = false
      while text.hasPrefix("!") {
        isExclusion.toggle()
        text = WhiteSpace.trimmed(String(text.dropFirst()))
      }
      rules.append(Rule(pattern: try PathPattern(text), isExclusion: isExclusion))
    }
  }

  /// - Parameter texts: One pattern each, as it stands: with white space and `#`; `!` before it takes out what it
  ///   means.
  package init(each texts: [String]) throws(PathPatternFault) {
    for text in texts {
      let isExclusion = text.hasPrefix("!")
      let pattern = try PathPattern(isExclusion ? String(text.dropFirst()) : text)
      rules.append(Rule(pattern: pattern, isExclusion: isExclusion))
    }
  }

  /// A text as a pattern that means nothing but it.
  package static func literally(_ text: String) -> String {
    var pattern = ""
    for scalar in text.unicodeScalars {
      if special.contains(scalar) { pattern.unicodeScalars.append("\\") }
      pattern.unicodeScalars.append(scalar)
    }
    return pattern
  }

  private static let special: Set<Unicode.Scalar> = ["*", "?", "[", "]", "\\", "!"]

  /// - Parameter path: The names from the root to the file.
  package func includes(_ path: [String]) -> Bool {
    let last = rules.last { $0.pattern.covers(path) }
    return last.map { !$0.isExclusion } ?? false
  }

  /// Whether there can be files below the directory that are meant; if not, it need not be read.
  package func canInclude(below directory: [String]) -> Bool {
    rules.contains { !$0.isExclusion && $0.pattern.canCover(below: directory) }
  }
}
