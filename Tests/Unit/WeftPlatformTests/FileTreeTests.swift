import Testing
import WeftEncoding

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct FileTreeTests {
  private let scratch = Scratch()

  private func make(_ paths: String...) throws {
    for path in paths {
      let parents = path.split(separator: "/").dropLast().joined(separator: "/")
      try FileSystem.makeDirectories("\(scratch.path)/\(parents)")
      _ = scratch.file(path, "<\(path)>")
    }
  }

  /// Each file that is read, with its contents.
  private func files(
    entering: @escaping ([String]) -> Bool = { _ in true },
    reading: @escaping ([String]) -> Bool = { _ in true }
  ) throws -> [String] {
    var files: [String] = []
    let choice = Directory.Choice(entersDirectory: entering, visits: reading, repairsNames: true)
    let directory = try placing([]) { () throws(SystemError) in try Directory(scratch.path) }
    try directory.walk(choice) { (found) throws(WorkspaceError) in
      guard case .file = found.stamp.kind else { return }
      let file = try found.opened()
      var bytes: [UInt8] = []
      let digest = try placing(found.path) { () throws(SystemError) in
        try file.digest { bytes += $0 }
      }
      #expect(digest == SHA256.digest(of: bytes))
      files.append(
        "\(found.path.joined(separator: "/")) \(String(decoding: bytes, as: UTF8.self))")
    }
    return files
  }

  @Test func filesComeInTheOrderOfTheirNamesBytes() throws {
    try make("b/a", "b/B", "a", "B", ".c", "b-/x", "é", "b/c/d")
    #expect(
      try files() == [
        ".c <.c>", "B <B>", "a <a>", "b/B <b/B>", "b/a <b/a>", "b/c/d <b/c/d>", "b-/x <b-/x>",
        "é <é>",
      ])
  }

  @Test func onlyChosenEntriesAreRead() throws {
    try make("a/x", "b/x", "a/y", "z")
    #expect(
      try files(entering: { $0 == ["a"] }, reading: { $0.last != "y" }) == ["a/x <a/x>", "z <z>"])
  }

  @Test func symbolicLinksAreNeitherFollowedNorRead() throws {
    try make("real/x")
    #expect(symlink("/etc", scratch.path + "/out") == 0)
    #expect(symlink("real", scratch.path + "/in") == 0)
    #expect(symlink("real/x", scratch.path + "/file") == 0)
    #expect(symlink("..", scratch.path + "/real/up") == 0)
    #expect(symlink("nowhere", scratch.path + "/broken") == 0)
    #expect(try files() == ["real/x <real/x>"])
  }

  @Test func treeSkipsSpecialFiles() throws {
    try make("x")
    #expect(mkfifo(scratch.path + "/pipe", 0o600) == 0)
    #expect(try files() == ["x <x>"])
  }

  @Test func largeFilesComeInPieces() throws {
    let text = String(repeating: "0123456789abcdef", count: 20_000)
    _ = scratch.file("large", text)
    #expect(try files() == ["large " + text])
  }

  @Test func emptyFilesHaveAnEnd() throws {
    _ = scratch.file("empty", "")
    #expect(try files() == ["empty "])
  }

  @Test func aRootThatIsMissingOrNoDirectoryIsAFault() throws {
    let path = scratch.file("file", "x")
    #expect(throws: SystemError.notDirectory) { try Directory(path) }
    #expect(throws: SystemError.notFound) { try Directory(path + "x") }
  }

  @Test func aNameThatIsNoTextIsRepairedOrAnError() throws {
    try make("a/x")
    #expect(
      rename(scratch.path + "/a/x", [CChar](scratch.path.utf8CString.dropLast()) + [47, -1, 0]) == 0
    )
    #expect(try files() == ["\u{FFFD} <a/x>"])
    #expect(throws: WorkspaceError(.notUTF8, at: [])) {
      try Directory(scratch.path).walk(Directory.Choice()) { _ in }
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may read everything"))
  func aFileThatMayNotBeReadIsAFaultThatNamesIt() throws {
    try make("a/x")
    chmod(scratch.path + "/a/x", 0)
    #expect(throws: WorkspaceError(.system(.notPermitted), at: ["a", "x"])) { try files() }
  }

  @Test func directoriesInsideEachOtherHaveALimit() throws {
    let deep = Array(repeating: "d", count: Directory.depthLimit).joined(separator: "/")
    try make(deep + "/x")
    #expect(try files() == ["\(deep)/x <\(deep)/x>"])
    try make(deep + "/d/x")
    #expect(throws: WorkspaceError(.tooDeep, at: [deep, "d"])) { try files() }
  }

  @Test func noDescriptorIsLeftOpen() throws {
    try make("a/b/c", "a/d", "e")
    let before = dup(0)
    close(before)
    for _ in 0..<20 { _ = try files() }
    let after = dup(0)
    close(after)
    #expect(after <= before + 8, "others open files at the same time, but not a hundred")
  }
}
