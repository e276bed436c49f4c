/// The files that the patterns of `hashFiles` select.
///
/// Follows actions/glob: each line of each pattern counts separately; blank lines and lines that begin with `#` are
/// ignored. `!` before a pattern excludes its matches; if several patterns match a file, the last decides. A match of a
/// directory selects everything below it.
package struct FileSelection: Sendable, Hashable {
  private struct Rule: Sendable, Hashable {
    var pattern: PathPattern
    var isExclusion: Bool
  }

  private var rules: [Rule] = []

  package init(_ texts: [String]) throws(PathPatternError) {
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

  /// - Parameter texts: One pattern each, taken literally including white space and `#`; `!` before it excludes its
  ///   matches.
  package init(each texts: [String]) throws(PathPatternError) {
    for text in texts {
      let isExclusion = text.hasPrefix("!")
      let pattern = try PathPattern(isExclusion ? String(text.dropFirst()) : text)
      rules.append(Rule(pattern: pattern, isExclusion: isExclusion))
    }
  }

  /// A pattern that matches only the given text.
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

  /// Whether files below the directory can be selected; if not, it need not be read.
  package func canInclude(below directory: [String]) -> Bool {
    rules.contains { !$0.isExclusion && $0.pattern.canCover(below: directory) }
  }
}
