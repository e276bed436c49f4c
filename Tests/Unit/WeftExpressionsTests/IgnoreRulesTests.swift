import Synchronization
import Testing

@testable import WeftExpressions

/// The paths that were asked for, sorted.
private final class ReadCount: Sendable {
  private let paths = Mutex<[String]>([])
  var all: [String] { paths.withLock { $0.sorted() } }
  func add(_ path: String) { paths.withLock { $0.append(path) } }
}

/// The rules of gitignore(5), with the answers of `git check-ignore`.
struct IgnoreRulesTests {
  @Test("each text excludes what git 2.39 excludes", arguments: texts)
  func fileExcludesWhatGitExcludes(text: String, excluded: [String]) {
    var rules = IgnoreRules { $0.isEmpty ? text : nil }
    let found = IgnoreRulesTests.paths.filter { ignores($0, by: &rules) }
    #expect(found == excluded)
  }

  @Test("a nested file overrides those above, and nothing comes back below an excluded directory")
  func nestedFilesOverride() {
    let files = [
      "": "*.log\n/out/\n", "src": "!keep.log\n*.tmp\n", "src/deep": "keep.log\n", "out": "!all\n",
    ]
    var rules = IgnoreRules(base: "*.bak\n*.tmp\n") { files[$0.joined(separator: "/")] }
    let excluded = [
      "x.log", "out/", "out/all", "src/x.log", "src/x.tmp", "src/deep/keep.log", "a.bak", "x.tmp",
    ]
    for path in excluded { check(ignores(path, by: &rules), true, path) }
    for path in ["src/keep.log", "keep.txt", "src/", "src/deep/"] {
      check(ignores(path, by: &rules), false, path)
    }
  }

  @Test("what the user names is not excluded by rules for directories above it")
  func namedDirectoryCounts() {
    var rules = IgnoreRules { $0.isEmpty ? "/out/\n*.log\n" : nil }
    check(rules.ignores(["out", "a.c"], isDirectory: false, below: 1), false)
    check(rules.ignores(["out", "a.log"], isDirectory: false, below: 1), true)
    check(rules.ignores(["out"], isDirectory: true, below: 1), false)
  }

  @Test("each file is read once")
  func fileIsReadOnce() {
    let reads = ReadCount()
    var rules = IgnoreRules { path in
      reads.add(path.joined(separator: "/"))
      return nil
    }
    for _ in 0..<3 { _ = rules.ignores(["a", "b", "c"], isDirectory: false) }
    #expect(reads.all == ["", "a", "a/b"])
  }

  private func check(
    _ isIgnored: Bool, _ expected: Bool, _ path: String = "",
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(isIgnored == expected, "\(path)", sourceLocation: location)
  }

  private func ignores(_ path: String, by rules: inout IgnoreRules) -> Bool {
    rules.ignores(path.split(separator: "/").map(String.init), isDirectory: path.hasSuffix("/"))
  }

  private static let paths = [
    "a", "a.c", "b.c", "build/", "build/x", "src/", "src/a.c", "src/build/", "src/build/x",
    "src/deep/a.c", "src/deep/er/b.log", "x.log", "keep.log", "logs/", "logs/keep.log",
    "logs/x.log", "doc/frotz/", "frotz", "#a", "!a", "a b", "a ", "[x]", "a1", "aB", "src/.hidden",
    "x~",
  ]

  static let texts: [(String, [String])] = [
    ("*.c", ["a.c", "b.c", "src/a.c", "src/deep/a.c"]),
    ("/a.c", ["a.c"]),
    ("build", ["build/", "build/x", "src/build/", "src/build/x"]),
    ("build/", ["build/", "build/x", "src/build/", "src/build/x"]),
    ("/build/", ["build/", "build/x"]),
    ("src/*.c", ["src/a.c"]),
    ("src/**/*.c", ["src/a.c", "src/deep/a.c"]),
    ("**/build", ["build/", "build/x", "src/build/", "src/build/x"]),
    (
      "src/**",
      ["src/a.c", "src/build/", "src/build/x", "src/deep/a.c", "src/deep/er/b.log", "src/.hidden"]
    ),
    ("*.log\n!keep.log", ["src/deep/er/b.log", "x.log", "logs/x.log"]),
    ("logs/\n!logs/keep.log", ["logs/", "logs/keep.log", "logs/x.log"]),
    ("logs/*\n!logs/keep.log", ["logs/x.log"]),
    ("doc/frotz", ["doc/frotz/"]),
    ("frotz/", ["doc/frotz/"]),
    ("\\#a", ["#a"]),
    ("\\!a", ["!a"]),
    ("# a\n\na\\ ", ["a "]),
    ("a   ", ["a"]),
    ("[ab].c", ["a.c", "b.c", "src/a.c", "src/deep/a.c"]),
    ("[!a].c", ["b.c"]),
    ("[^a].c", ["b.c"]),
    ("a[0-9]", ["a1"]),
    ("a[[:upper:]]", ["aB"]),
    ("?", ["a", "build/x", "src/build/x"]),
    (
      "*",
      [
        "a", "a.c", "b.c", "build/", "build/x", "src/", "src/a.c", "src/build/", "src/build/x",
        "src/deep/a.c", "src/deep/er/b.log", "x.log", "keep.log", "logs/", "logs/keep.log",
        "logs/x.log", "doc/frotz/", "frotz", "#a", "!a", "a b", "a ", "[x]", "a1", "aB",
        "src/.hidden", "x~",
      ]
    ),
    (
      "*\n!src/\n!*.c",
      [
        "a", "build/", "build/x", "src/build/", "src/build/x", "src/deep/a.c", "src/deep/er/b.log",
        "x.log", "keep.log", "logs/", "logs/keep.log", "logs/x.log", "doc/frotz/", "frotz", "#a",
        "!a", "a b", "a ", "[x]", "a1", "aB", "src/.hidden", "x~",
      ]
    ),
    (
      "/*\n!/src\n/src/*\n!/src/deep",
      [
        "a", "a.c", "b.c", "build/", "build/x", "src/a.c", "src/build/", "src/build/x", "x.log",
        "keep.log", "logs/", "logs/keep.log", "logs/x.log", "doc/frotz/", "frotz", "#a", "!a",
        "a b", "a ", "[x]", "a1", "aB", "src/.hidden", "x~",
      ]
    ),
    (
      "**",
      [
        "a", "a.c", "b.c", "build/", "build/x", "src/", "src/a.c", "src/build/", "src/build/x",
        "src/deep/a.c", "src/deep/er/b.log", "x.log", "keep.log", "logs/", "logs/keep.log",
        "logs/x.log", "doc/frotz/", "frotz", "#a", "!a", "a b", "a ", "[x]", "a1", "aB",
        "src/.hidden", "x~",
      ]
    ),
    ("deep/*.c", []),
    ("src/deep/**/b.log", ["src/deep/er/b.log"]),
    (".*", ["src/.hidden"]),
    ("a.c\\", []),
    ("*~", ["x~"]),
    ("\\[x\\]", ["[x]"]),
    ("a\r", ["a"]),
    ("/src/deep/", ["src/deep/a.c", "src/deep/er/b.log"]),
    ("src//a.c", []),
    ("**/deep/**", ["src/deep/a.c", "src/deep/er/b.log"]),
    ("!*.c", []),
    ("[]", []),
    ("[a", []),
    ("src/*/a.c", ["src/deep/a.c"]),
  ]
}
