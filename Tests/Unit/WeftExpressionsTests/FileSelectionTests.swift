import Testing

@testable import WeftExpressions

struct FileSelectionTests {
  private static func includes(_ patterns: [String], _ path: String) throws -> Bool {
    let selection = try FileSelection(patterns)
    let names = path.split(separator: "/").map(String.init)
    let isIncluded = selection.includes(names)
    if isIncluded {
      for count in 0..<names.count {
        let directory = Array(names[..<count])
        #expect(selection.canInclude(below: directory), "\(directory) is not entered")
        #expect(selection.onlyNames(in: directory)?.contains(names[count]) ?? true)
      }
    }
    return isIncluded
  }

  @Test(arguments: [
    ("a.txt", "a.txt"), ("*.txt", "a.txt"), ("*", ".hidden"), ("*", "a"), ("**", "a/b/c"),
    ("**/*.txt", "a.txt"),
    ("**/*.txt", "x/y/a.txt"), ("src/**", "src/a/b"), ("src", "src/a/b"), ("src/", "src/a"),
    ("./src/a", "src/a"), ("s?c/a", "sxc/a"),
    ("[abc].txt", "b.txt"), ("[a-c][!0-9]", "bx"), ("[^a]", "b"), ("[]a]", "]"), ("[a-]", "-"),
    ("a/**/b", "a/b"), ("a/**/b", "a/x/y/b"),
    ("a/**/**/b", "a/x/b"), ("**/node_modules/**", "x/node_modules/y/z"), ("a*b*c", "aXbYbc"),
    ("*a*", "banana"), ("\\*", "*"),
    ("[", "["), ("[x", "[x"), ("?", "é"), ("[\u{E0}-\u{EF}]", "é"), (".", "a/b"), ("a//b", "a/b"),
    ("**/a/*/b", "a/a/x/b"), ("**/x/**/y", "x/a/x/b/y"),
    ("a b", "a b"), ("  a  ", "a"), ("[\\]]", "]"), ("a\\", "a\\"),
  ])
  func aPatternMeansAPath(pattern: String, path: String) throws {
    #expect(try FileSelectionTests.includes([pattern], path))
  }

  @Test(arguments: [
    ("*.txt", "x/a.txt"), ("a.txt", "A.txt"), ("src", "srcs/a"), ("src/*", "other/a"), ("?", "ab"),
    ("?", "/"), ("[!a]", "a"), ("[b-a]", "a"),
    ("a/**/b", "a/c"), ("a/*/b", "a/b"), ("a/*/b", "a/x/y/b"), ("\\*", "x"), ("**/x", "xy"),
    ("*a", "ab"), ("", "a"), ("#a", "#a"), ("[a-c]", "d"),
    ("é", "e\u{301}"), ("**/a/b", "a/x/b"),
  ])
  func aPatternDoesNotMeanAnotherPath(pattern: String, path: String) throws {
    #expect(try !FileSelectionTests.includes([pattern], path))
  }

  @Test(
    "a directory is read only if names in it depend on what is there",
    arguments: [
      (["a/b", "a/c", "!a/d"], "", ["a"]), (["a/b", "a/c", "!a/d"], "a", ["b", "c"]),
      (["a/b", "x/c"], "a", ["b"]), (["a/b"], "a/b", nil), (["a/*"], "a", nil),
      (["a/*", "b"], "", ["a", "b"]), (["**/a"], "x", nil), (["x/**/a/b"], "x/y/a", nil),
      (["a/\\*"], "a", ["*"]), (["a/[b]", "a/c"], "a", nil), (["!a"], "", []),
    ] as [([String], String, Set<String>?)])
  func onlyNamesThatMatter(patterns: [String], directory: String, names: Set<String>?) throws {
    let path = directory.split(separator: "/").map(String.init)
    #expect(try FileSelection(patterns).onlyNames(in: path) == names)
  }

  @Test(
    arguments: [
      (["**/*.c", "!x/**"], "x/a.c", false), (["**/*.c", "!x/**"], "y/a.c", true),
      (["!x/**", "**/*.c"], "x/a.c", true),
      (["*", "!a", "a"], "a", true), (["!a"], "b", false), (["!!a"], "a", true),
      (["a\nb\n# c\n\n!a"], "a", false), (["a\nb"], "b", true),
      (["src", "!src/gen"], "src/gen/x", false), (["src", "! src/gen"], "src/x", true),
    ] as [([String], String, Bool)])
  func theLastPatternThatMeansAFileDecides(patterns: [String], path: String, isIncluded: Bool)
    throws
  {
    #expect(try FileSelectionTests.includes(patterns, path) == isIncluded)
  }

  @Test(arguments: [("src/*.c", "lib"), ("src/a/b", "src/x"), ("*.c/x", "a.h"), ("!src", "src")])
  func directoriesThatHoldNothingThatIsMeantAreNotEntered(pattern: String, directory: String) throws
  {
    let selection = try FileSelection([pattern])
    #expect(!selection.canInclude(below: directory.split(separator: "/").map(String.init)))
  }

  @Test func whatIsExcludedAsAWholeIsNotEntered() throws {
    #expect(try !FileSelection(["**", "!a"]).canInclude(below: ["a", "b"]))
    #expect(try FileSelection(["**", "!a", "a/b/c"]).canInclude(below: ["a", "b"]))
    #expect(try FileSelection(["**", "!a/b"]).canInclude(below: ["a"]))
  }

  /// All lists of one to `limit` words.
  private static func lists(of words: [String], upTo limit: Int) -> [[String]] {
    var (all, longest): ([[String]], [[String]]) = ([], [[]])
    for _ in 0..<limit {
      longest = longest.flatMap { list in words.map { list + [$0] } }
      all += longest
    }
    return all
  }

  @Test func aDirectoryThatSelectsAllOfAnotherDoes() throws {
    let patterns = Self.lists(of: ["a", "b", "*", "**"], upTo: 2).map { $0.joined(separator: "/") }
    let paths = Self.lists(of: ["a", "b"], upTo: 2)
    var count = 0
    for first in patterns {
      for second in [""] + patterns + patterns.map({ "!" + $0 }) {
        let selection = try FileSelection([first, second])
        for one in paths {
          for other in paths where selection.selects(below: other, allOf: one) {
            let isRight = paths.allSatisfy {
              !selection.includes(one + $0) || selection.includes(other + $0)
            }
            #expect(isRight, "\(first) \(second): \(one) \(other)")
            count += one != other && selection.canInclude(below: one) ? 1 : 0
          }
        }
      }
    }
    #expect(count > 5000, "otherwise nothing was compared")
    #expect(try !FileSelection(["a/*.c", "b/*.h"]).selects(below: ["b"], allOf: ["a"]))
  }

  @Test(arguments: ["/etc/passwd", "../x", "a/../../x", "!../x", "a/.."])
  func aPatternThatLeadsOutIsRefused(pattern: String) {
    #expect(throws: PathPatternError.self) { try FileSelection([pattern]) }
  }

  @Test func manyStarsTakeNoLongTime() throws {
    let name = String(repeating: "a", count: 200) + "b"
    #expect(try !FileSelectionTests.includes([String(repeating: "a*", count: 40) + "c"], name))
    let path = Array(repeating: "a", count: 100).joined(separator: "/")
    #expect(try !FileSelectionTests.includes([String(repeating: "**/a/", count: 20) + "c"], path))
  }
}
