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

  /// The files that `hashFiles` or `glob` selects with these patterns.
  package init(
    _ patterns: [String], of function: ExpressionFunction
  ) throws(EvaluationError) {
    do throws(PathPatternError) {
      if function == .hashFiles {
        try self.init(patterns)
      } else {
        if patterns.contains("") { throw .empty }
        try self.init(each: patterns)
      }
    } catch {
      throw .filesNotRead(function, error.message)
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
    let exclusion = rules.lastIndex { $0.isExclusion && $0.pattern.covers(directory) }
    return rules[(exclusion.map { $0 + 1 } ?? 0)...].contains {
      !$0.isExclusion && $0.pattern.canCover(below: directory)
    }
  }

  /// Whether the patterns treat every path below `other` as they treat the same path below `directory`, or select more of
  /// them there.
  package func selects(below other: [String], allOf directory: [String]) -> Bool {
    rules.allSatisfy { rule in
      let (here, there) = (rule.pattern.progress(at: directory), rule.pattern.progress(at: other))
      return rule.isExclusion ? there.isSubset(of: here) : here.isSubset(of: there)
    }
  }

  /// The names in a directory of all files and directories that matter; `nil` if that depends on what is there, so that
  /// the directory must be read.
  package func onlyNames(in directory: [String]) -> Set<String>? {
    var names: Set<String> = []
    for rule in rules where !rule.isExclusion && rule.pattern.canCover(below: directory) {
      guard let name = rule.pattern.onlyName(at: directory.count) else { return nil }
      names.insert(name)
    }
    return names
  }
}

/// A pattern for paths, as in actions/glob: `*` and `?` within a name, `**` for any number of directories, `[…]` for
/// one of several characters, `\` to escape a character. Names that begin with a dot are not special; case is
/// significant.
struct PathPattern: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case name(NamePattern)
    /// `**`
    case anyDirectories
  }

  private let parts: [Part]

  /// - Parameter text: A relative pattern; `/` separates names.
  init(_ text: String) throws(PathPatternError) {
    guard text.utf8.first != UInt8(ascii: "/") else { throw .absolute(text) }
    var parts: [Part] = []
    for piece in text.unicodeScalars.split(separator: "/") {
      let name = String(piece)
      if name == "." { continue }
      if name == ".." { throw .leadsUp(text) }
      if name != "**" {
        parts.append(.name(NamePattern(name)))
      } else if parts.last != .anyDirectories {
        parts.append(.anyDirectories)
      }
    }
    self.parts = parts
  }

  /// - Parameter names: The patterns for the names of a path, or `**`.
  init(names: [String]) {
    parts = names.map { $0 == "**" ? .anyDirectories : .name(NamePattern($0)) }
  }

  /// Whether the pattern matches the path or one of its parent directories.
  func covers(_ path: [String]) -> Bool {
    let scalars = path.map { Array($0.unicodeScalars) }
    return (0...path.count).contains { matches(scalars[..<$0]) }
  }

  /// Whether the pattern can cover the directory itself or a path below it.
  func canCover(below directory: [String]) -> Bool {
    let names = directory.map { Array($0.unicodeScalars) }
    for (index, name) in names.enumerated() {
      guard index < parts.count else { return true }
      guard case .name(let pattern) = parts[index] else { return true }
      guard pattern.matches(name) else { return false }
    }
    return true
  }

  /// The numbers of parts that can match a directory or one around it: they decide which paths below it are covered.
  func progress(at directory: [String]) -> Set<Int> {
    var reached = afterWildcards([0])
    for name in directory.map({ Array($0.unicodeScalars) }) {
      let next = reached.filter { part in
        guard part < parts.count, case .name(let pattern) = parts[part] else { return false }
        return pattern.matches(name)
      }
      let kept = reached.filter { $0 == parts.count || parts[$0] == .anyDirectories }
      reached = afterWildcards(kept.union(next.map { $0 + 1 }))
    }
    return reached
  }

  /// A wildcard also matches no directory.
  private func afterWildcards(_ reached: Set<Int>) -> Set<Int> {
    var all = reached
    for part in parts.indices where all.contains(part) && parts[part] == .anyDirectories {
      all.insert(part + 1)
    }
    return all
  }

  /// The only name that a path can have after this number of names; `nil` if there are others.
  func onlyName(at index: Int) -> String? {
    guard index < parts.count, !parts[..<index].contains(.anyDirectories),
      case .name(let pattern) = parts[index]
    else { return nil }
    return pattern.literal
  }

  /// Whether the pattern matches the whole path.
  func matches(_ path: ArraySlice<[Unicode.Scalar]>) -> Bool {
    allMatch(path, parts, wildcard: .anyDirectories) { part, name in
      if case .name(let pattern) = part { pattern.matches(name) } else { false }
    }
  }
}

/// The reason why a text is not a pattern.
package enum PathPatternError: Error, Sendable, Hashable {
  case absolute(String)
  case leadsUp(String)
  case empty

  package var message: String {
    switch self {
    case .empty: "a pattern is empty"
    case .absolute(let text):
      "the pattern \"\(text)\" is absolute, expected a relative one"
    case .leadsUp(let text):
      "the pattern \"\(text)\" leads out of the directory that is searched"
    }
  }
}

/// A pattern for one name of a path.
struct NamePattern: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case scalar(Unicode.Scalar)
    /// `?`
    case anyScalar
    /// `*`
    case anyScalars
    /// `[a-z]`, `[!a-z]`
    case oneOf([ClosedRange<Unicode.Scalar>], isNegated: Bool)

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .scalar(let own): own == scalar
      case .anyScalar: true
      case .anyScalars: false
      case .oneOf(let ranges, let isNegated):
        ranges.contains { $0.contains(scalar) } != isNegated
      }
    }
  }

  private let parts: [Part]

  init(_ text: String) {
    var parts: [Part] = []
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": if parts.last != .anyScalars { parts.append(.anyScalars) }
      case "?": parts.append(.anyScalar)
      case "[": parts.append(NamePattern.takeClass(from: &rest) ?? .scalar("["))
      case "\\": parts.append(.scalar(rest.popFirst() ?? "\\"))
      default: parts.append(.scalar(scalar))
      }
    }
    self.parts = parts
  }

  /// Parses the character class after a `[`; returns `nil` and consumes nothing if no `]` closes it.
  private static func takeClass(from rest: inout Substring.UnicodeScalarView) -> Part? {
    var tail = rest
    let isNegated = tail.first == "!" || tail.first == "^"
    if isNegated { tail.removeFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var isFirst = true
    while var scalar = tail.popFirst() {
      if scalar == "]", !isFirst {
        rest = tail
        return .oneOf(ranges, isNegated: isNegated)
      }
      isFirst = false
      if scalar == "\\" { scalar = tail.popFirst() ?? scalar }
      var ahead = tail
      if ahead.popFirst() == "-", let last = ahead.popFirst(), last != "]" {
        tail = ahead
        if scalar <= last { ranges.append(scalar...last) }
      } else {
        ranges.append(scalar...scalar)
      }
    }
    return nil
  }

  /// The only name that matches; `nil` if there are others.
  var literal: String? {
    var name = ""
    for part in parts {
      guard case .scalar(let scalar) = part else { return nil }
      name.unicodeScalars.append(scalar)
    }
    return name
  }

  func matches(_ name: [Unicode.Scalar]) -> Bool {
    allMatch(name[...], parts, wildcard: .anyScalars) { $0.matches($1) }
  }
}

/// Whether the parts of a pattern match all elements, a wildcard any number of them.
///
/// Matches greedily, backtracking to the last wildcard only: earlier ones need no second look.
private func allMatch<Element, Part: Equatable>(
  _ elements: ArraySlice<Element>, _ parts: [Part], wildcard: Part,
  isMatch: (Part, Element) -> Bool
) -> Bool {
  var (part, index) = (0, elements.startIndex)
  var retry: (part: Int, index: Int)?
  while index < elements.endIndex {
    if part < parts.count, parts[part] == wildcard {
      retry = (part + 1, index)
      part += 1
    } else if part < parts.count, isMatch(parts[part], elements[index]) {
      part += 1
      index += 1
    } else {
      guard let from = retry else { return false }
      (part, index) = (from.part, from.index + 1)
      retry = (from.part, from.index + 1)
    }
  }
  return parts[part...].allSatisfy { $0 == wildcard }
}
