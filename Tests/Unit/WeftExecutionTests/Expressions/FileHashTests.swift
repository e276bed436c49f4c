import Testing
import WeftExpressions
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A directory with the files `a.txt`, `b.txt`, `sub/a.txt` and `sub/c`, each of which contains its path.
private final class Files: Sendable {
  let path: String

  init() throws {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-hash-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    try FileSystem.makeDirectory(path + "/sub")
    for name in ["a.txt", "b.txt", "sub/a.txt", "sub/c"] {
      let file = try #require(fopen("\(path)/\(name)", "w"))
      fputs(name, file)
      fclose(file)
    }
  }

  deinit {
    for name in ["a.txt", "b.txt", "sub/a.txt", "sub/c"] { unlink("\(path)/\(name)") }
    rmdir(path + "/sub")
    rmdir(path)
  }
}

/// `for f; do sha256sum <$f | xxd -r -p; done | sha256sum`
private func hash(ofContents contents: [String]) -> String {
  contents.isEmpty
    ? "" : SHA256.text(of: SHA256.digest(of: contents.flatMap { SHA256.digest(of: $0.utf8) }))
}

struct FileHashTests {
  @Test(
    arguments: [
      (["*.txt"], ["a.txt", "b.txt"]), (["**/*.txt"], ["a.txt", "b.txt", "sub/a.txt"]),
      (["**"], ["a.txt", "b.txt", "sub/a.txt", "sub/c"]),
      (["sub", "a.txt"], ["a.txt", "sub/a.txt", "sub/c"]),
      (["**/a.txt", "!a.txt"], ["sub/a.txt"]), (["nothing"], []), ([], []),
      (["*.txt\n!b.txt"], ["a.txt"]),
    ] as [([String], [String])])
  func theHashIsOfTheHashesOfTheFilesInTheOrderOfTheirPaths(
    patterns: [String], paths: [String]
  ) throws {
    let files = try Files()
    #expect(try FileHash.text(of: patterns, below: files.path) == hash(ofContents: paths))
  }

  /// The value was recorded with coreutils, as above.
  @Test func theHashIsThatOfOtherTools() throws {
    let files = try Files()
    #expect(
      try FileHash.text(of: ["*.txt"], below: files.path)
        == "ef39e90b9da484576cbaf25ccb2631cb6e1439b182cd5d8d17038991f2212cd1")
  }

  @Test(arguments: [
    (
      "../x",
      "hashFiles() fails: the pattern \"../x\" leads out of the directory that is searched"
    ),
    (
      "/x",
      "hashFiles() fails: the pattern \"/x\" is absolute, expected a relative one"
    ),
  ])
  func unreadableFileIsReportedWhenHashing(pattern: String, message: String) throws {
    let fault = #expect(throws: ExpressionError.self) {
      try FileHash.text(of: [pattern], below: "/")
    }
    #expect(fault?.message == message)
    let missing = #expect(throws: ExpressionError.self) {
      try FileHash.text(of: ["*"], below: "/nowhere")
    }
    #expect(
      missing?.message
        == "hashFiles() fails: the directory cannot be read: no such file or directory (ENOENT)")
  }
}
