/// The files of a tree that its `.gitignore` files exclude, by the rules of gitignore(5).
///
/// In each directory, the last line that matches decides; lines of a directory take precedence over those above it. A
/// file below an excluded directory is excluded, whatever other lines say.
package struct IgnoreRules: Sendable {
  /// The name of the files with rules.
  package static let fileName = ".gitignore"

  private let base: IgnoreFile
  private let read: @Sendable ([String]) -> String?
  private var files: [[String]: IgnoreFile] = [:]
  private var directories: [[String]: Bool] = [:]

  /// - Parameters:
  ///   - base: The text of the rules for the whole tree, such as `.git/info/exclude`, which all others override.
  ///   - read: Returns the text of the file with rules in a directory; `nil` if there is none. Called once for each.
  package init(base: String = "", read: @escaping @Sendable ([String]) -> String?) {
    self.base = IgnoreFile(base)
    self.read = read
  }

  /// Whether a path is excluded.
  ///
  /// - Parameters:
  ///   - path: The names from the root of the tree on.
  ///   - depth: The number of leading names that a user has named, and that count as not excluded.
  package mutating func ignores(_ path: [String], isDirectory: Bool, below depth: Int = 0) -> Bool {
    guard path.count > depth else { return false }
    for count in (depth + 1)..<(path.count + 1) {
      let (names, isWhole) = (Array(path.prefix(count)), count == path.count)
      if isWhole, !isDirectory { return matches(names, isDirectory: false) }
      let isIgnored = directories[names] ?? matches(names, isDirectory: true)
      directories[names] = isIgnored
      if isIgnored { return true }
    }
    return false
  }

  private mutating func matches(_ path: [String], isDirectory: Bool) -> Bool {
    for depth in (0..<path.count).reversed() {
      let file = file(in: Array(path.prefix(depth)))
      if let verdict = file.ignores(path[depth...], isDirectory: isDirectory) { return verdict }
    }
    return base.ignores(path[...], isDirectory: isDirectory) ?? false
  }

  private mutating func file(in directory: [String]) -> IgnoreFile {
    if let known = files[directory] { return known }
    let file = IgnoreFile(read(directory) ?? "")
    files[directory] = file
    return file
  }
}

/// The lines of one file with rules.
private struct IgnoreFile: Sendable {
  private struct Rule: Sendable {
    var pattern: PathPattern
    var isException: Bool
    var isForDirectories: Bool
  }

  private var rules: [Rule] = []

  init(_ text: String) {
    let text =
      text.unicodeScalars.first == "\u{FEFF}"
      ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
    for line in text.split(separator: "\n") {
      let line = line.last == "\r" ? line.dropLast() : line
      if let rule = IgnoreFile.rule(line) { rules.append(rule) }
    }
  }

  /// Whether the file excludes a path, relative to its directory; `nil` if no line matches.
  func ignores(_ path: ArraySlice<String>, isDirectory: Bool) -> Bool? {
    if rules.isEmpty { return nil }
    let scalars = path.map { Array($0.unicodeScalars) }
    return rules.last { rule in
      (isDirectory || !rule.isForDirectories) && rule.pattern.matches(scalars[...])
    }.map { !$0.isException }
  }

  private static func rule(_ line: Substring.UnicodeScalarView) -> Rule? {
    guard line.first != "#" else { return nil }
    var rest = withoutTrailingSpaces(line)
    let isException = rest.first == "!"
    if isException { rest.removeFirst() }
    let isForDirectories = rest.last == "/"
    if isForDirectories { rest.removeLast() }
    guard !rest.isEmpty, !endsInBackslash(rest) else { return nil }
    var pieces = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    // A slash elsewhere than at the end ties the pattern to the directory of the file.
    if pieces.count == 1 {
      pieces.insert("**", at: 0)
    } else if pieces[0].isEmpty {
      pieces.removeFirst()
    }
    // A last "**" is everything inside, but not the directory itself.
    if pieces.last == "**" { pieces.append("*") }
    guard !pieces.contains(where: \.isEmpty) else { return nil }
    return Rule(
      pattern: PathPattern(names: pieces.map(withPlainClasses)), isException: isException,
      isForDirectories: isForDirectories)
  }

  /// Spaces at the end count only after a backslash.
  private static func withoutTrailingSpaces(
    _ line: Substring.UnicodeScalarView
  ) -> Substring.UnicodeScalarView {
    var rest = line
    while rest.last == " ", !endsInBackslash(rest.dropLast()) { rest.removeLast() }
    return rest
  }

  /// Whether the last scalar is a backslash that no other one escapes.
  private static func endsInBackslash(_ text: Substring.UnicodeScalarView) -> Bool {
    text.reversed().prefix { $0 == "\\" }.count % 2 == 1
  }

  private static let classes = [
    ("alpha", "a-zA-Z"), ("digit", "0-9"), ("alnum", "a-zA-Z0-9"), ("upper", "A-Z"),
    ("lower", "a-z"), ("xdigit", "0-9A-Fa-f"), ("space", " \t\r\u{B}\u{C}"), ("blank", " \t"),
  ]

  /// Writes `[[:digit:]]` as `[0-9]`.
  private static func withPlainClasses(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "[")) else { return name }
    var (plain, rest) = ("", name[...])
    while !rest.isEmpty {
      if let found = classes.first(where: { rest.hasPrefix("[:\($0.0):]") }) {
        plain += found.1
        rest = rest.dropFirst(found.0.count + 4)
      } else {
        plain.append(rest.removeFirst())
      }
    }
    return plain
  }
}
