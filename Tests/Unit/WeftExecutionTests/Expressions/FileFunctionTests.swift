import Testing
import WeftEncoding
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

struct FileFunctionTests {
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
    #expect(try FileFunctions(below: files.path).hash(of: patterns) == hash(ofContents: paths))
  }

  /// The value was recorded with coreutils, as above.
  @Test func theHashIsThatOfOtherTools() throws {
    let files = try Files()
    #expect(
      try FileFunctions(below: files.path).hash(of: ["*.txt"])
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
    let fault = #expect(throws: EvaluationError.self) {
      try FileFunctions(below: "/").hash(of: [pattern])
    }
    #expect(fault?.message == message)
    let missing = #expect(throws: EvaluationError.self) {
      try FileFunctions(below: "/nowhere").hash(of: ["*"])
    }
    #expect(
      missing?.message
        == "hashFiles() fails: the directory cannot be read: no such file or directory (ENOENT)")
  }

  @Test(
    arguments: [
      (["*.txt"], ["a.txt", "b.txt"]), (["**"], ["a.txt", "b.txt", "sub/a.txt", "sub/c"]),
      (["./sub", "b.txt"], ["b.txt", "sub/a.txt", "sub/c"]),
      (["**/a.txt", "!sub/**"], ["a.txt"]), (["nothing"], []),
      // Each is one pattern, as in "cache".
      (["*.txt\n!b.txt"], []), (["#"], []),
    ] as [([String], [String])])
  func thePathsAreThoseOfTheMatchingFiles(patterns: [String], paths: [String]) throws {
    let files = try Files()
    #expect(try FileFunctions(below: files.path).paths(matching: patterns) == paths)
  }

  @Test func pathsAreInTheOrderOfTheirBytesAndLinksToFilesCount() throws {
    let files = try Files()
    let added = ["sub-x", "link", "broken", ".weft/journal", ".git/config", ".hidden"]
    for folder in [".weft", ".git"] { try FileSystem.makeDirectory("\(files.path)/\(folder)") }
    for name in ["sub-x", ".weft/journal", ".git/config", ".hidden"] {
      _ = try Descriptor.creating("\(files.path)/\(name)", .onlyNew)
    }
    symlink("a.txt", "\(files.path)/link")
    symlink("nowhere", "\(files.path)/broken")
    symlink("sub", "\(files.path)/directory")
    defer {
      for name in added + ["directory"] { unlink("\(files.path)/\(name)") }
      for folder in [".weft", ".git"] { rmdir("\(files.path)/\(folder)") }
    }
    #expect(
      try FileFunctions(below: files.path).paths(matching: ["**"])
        == [".hidden", "a.txt", "b.txt", "link", "sub-x", "sub/a.txt", "sub/c"])
  }

  @Test func aPatternThatLeadsOutIsRefused() throws {
    for pattern in ["/x", "../x", ""] {
      let fault = #expect(throws: EvaluationError.self) {
        try FileFunctions(below: "/").paths(matching: [pattern])
      }
      #expect(fault?.message.hasPrefix("glob() fails: ") == true, "\(fault?.message ?? "")")
    }
  }
}
