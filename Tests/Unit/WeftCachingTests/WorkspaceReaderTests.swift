import Testing
import WeftExpressions
import WeftPlatform

@testable import WeftCaching

/// The files that count, and which of their properties do.
struct WorkspaceReaderTests {
  private let scratch = Scratch()

  @Test func patternsMeanFilesInTheOrderOfTheirNames() throws {
    for name in ["src/b.c", "src/a.c", "src/deep/er/c.c", "src/a.tmp", "Makefile", "other"] {
      scratch.write(name, name)
    }
    #expect(try scratch.inputs(["src/**/*.c"]) == ["src/a.c", "src/b.c", "src/deep/er/c.c"])
    #expect(
      try scratch.inputs(["src", "Makefile", "!**/*.tmp"])
        == ["Makefile", "src/a.c", "src/b.c", "src/deep/er/c.c"])
    #expect(try scratch.inputs(["no/such"]) == [])
    #expect(
      try scratch.inputs(["src/b.c", "src/a.c", "other", "src/none"])
        == ["other", "src/a.c", "src/b.c"])
    #expect(try scratch.inputs(["other/below", "a\0b", String(repeating: "x", count: 300)]) == [])
  }

  @Test func weftAndGitDirectoriesAreNotInputs() throws {
    for name in [".git/HEAD", "sub/.git/HEAD", ".weft/x", ".weft-staged-1/y", "a"] {
      scratch.write(name, name)
    }
    #expect(try scratch.inputs(["**"]) == ["a"])
  }

  @Test func aWorkspaceCanBeReadMoreThanOnce() throws {
    scratch.write("a", "1")
    let (reader, rule) = (
      try scratch.reader(), FileRule(try FileSelection(each: ["**"]), excluding: [])
    )
    #expect(try reader.inputs(rule).records == reader.inputs(rule).records)
    #expect(try reader.inputs(rule).records.count == 1)
  }

  private func record(_ name: String) throws -> FileRecord? {
    let rule = FileRule(try FileSelection(each: [FileSelection.literally(name)]), excluding: [])
    return try scratch.reader().inputs(rule).records.first
  }

  @Test func contentAndTheExecutableBitCountAndTimesDoNot() throws {
    scratch.write("f", "1")
    let first = try record("f")
    scratch.write("f", "1")
    #expect(try record("f") == first)
    scratch.write("f", "2")
    #expect(try record("f") != first)
    scratch.write("f", "1", mode: 0o755)
    #expect(try record("f") != first)
  }

  @Test func aLinkCountsByWhatItSaysAndTheFileToWhichItLeads() throws {
    scratch.write("target", "1")
    scratch.link("l", to: "target")
    let first = try record("l")
    scratch.write("target", "2")
    #expect(try record("l") != first)
    scratch.write("target", "1")
    #expect(try record("l") == first)
    scratch.remove("l")
    scratch.link("l", to: "./target")
    #expect(try record("l") != first)
  }

  @Test(
    "a link to a directory must not hide inputs",
    arguments: [
      // All inputs behind the link are also found at their own paths, or excluded.
      ("real", ["**"], true), ("real", ["src/**"], true), ("./real", ["src/**/*.c"], true),
      ("../src/real", ["src/*/t"], true), ("real", ["**", "!src/link"], true),
      ("/usr", ["**", "!src/link"], true), ("../.weft/x", ["**"], true),
      ("real", ["src/real/t", "src/t"], true), ("nowhere", ["src/link/t"], true),
      ("real/t", ["src/link"], true),
      ("real", ["src/link"], false), ("real", ["src/link/**"], false),
      ("real", ["src/link/t"], false), ("real", ["src/link/*.c", "src/real/*.h"], false),
      ("../lib", ["src/**"], false), ("../..", ["**"], false), ("/usr", ["**"], false),
      ("real", ["src/**", "!src/real/t"], false), ("other", ["**"], false),
    ])
  func linksToDirectories(target: String, patterns: [String], isRight: Bool) throws {
    for name in ["src/real/t", "lib/t", ".weft/x/t"] { scratch.write(name, "1") }
    scratch.link("src/other", to: "real")
    scratch.link("src/link", to: target)
    if isRight {
      #expect(try !scratch.inputs(patterns).contains { $0.hasPrefix("src/link/") })
    } else {
      #expect(throws: WorkspaceError(.linkedDirectory, at: ["src", "link"])) {
        try scratch.inputs(patterns)
      }
    }
  }

  @Test func namesMayHaveAnyCharacters() throws {
    for name in ["a*b", "[x]", "q?", "back\\slash", "!no", "#hash", " space "] {
      scratch.write(name, "1")
      #expect(try record(name)?.path == name)
    }
  }

  @Test func aStoppedWalkSaysSo() throws {
    scratch.write("a", "1")
    let stop = StopSwitch()
    stop.request(.now)
    let reader = WorkspaceReader(
      try Directory(scratch.path), memory: FileMemory(now: Scratch.later), stop: stop)
    #expect(throws: WorkspaceError.self) {
      try reader.inputs(FileRule(try FileSelection(each: ["**"]), excluding: []))
    }
  }

  @Test func aTreeIsAllThatIsAtAPath() throws {
    scratch.write("out/a", "1")
    scratch.write("out/sub/b", "2", mode: 0o755)
    scratch.link("out/l", to: "sub")
    let tree = try scratch.reader().tree(at: ["out"])
    #expect(tree.map(\.path) == ["out", "out/a", "out/l", "out/sub", "out/sub/b"])
    #expect(tree[2].content == .link("sub", hash: nil) && tree[3].content == .directory)
    #expect(try scratch.reader().tree(at: ["nothing", "here"]) == [])
  }

  @Test func aLinkOnTheWayIsNotFollowed() throws {
    scratch.write("elsewhere/f", "1")
    scratch.link("out", to: "elsewhere")
    #expect(throws: WorkspaceError.self) { try scratch.reader().tree(at: ["out", "f"]) }
  }
}
