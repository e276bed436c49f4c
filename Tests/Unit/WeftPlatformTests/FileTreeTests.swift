import Testing

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
    var (paths, found, text): ([String], [String], String) = ([], [], "")
    let choice = FileTree.Choice(entersDirectory: entering) { path in
      guard reading(path) else { return false }
      paths.append(path.joined(separator: "/"))
      return true
    }
    try FileTree.read(below: scratch.path, choice) { piece in
      if let piece {
        text += String(decoding: piece, as: UTF8.self)
      } else {
        found.append("\(paths[found.count]) \(text)")
        text = ""
      }
    }
    return found
  }

  @Test func filesComeInTheOrderOfTheirNamesBytes() throws {
    try make("b/a", "b/B", "a", "B", ".c", "b-/x", "é", "b/c/d")
    #expect(
      try files() == [
        ".c <.c>", "B <B>", "a <a>", "b/B <b/B>", "b/a <b/a>", "b/c/d <b/c/d>", "b-/x <b-/x>",
        "é <é>",
      ])
  }

  @Test func onlyWhatIsChosenIsEnteredAndRead() throws {
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

  @Test func whatIsNoFileIsPassedOver() throws {
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
    let choice = FileTree.Choice(entersDirectory: { _ in true }, readsFile: { _ in true })
    let path = scratch.file("file", "x")
    #expect(throws: FileTree.Fault(path: "", kind: .system(.notDirectory))) {
      try FileTree.read(below: path, choice) { _ in }
    }
    #expect(throws: FileTree.Fault(path: "", kind: .system(.notFound))) {
      try FileTree.read(below: path + "x", choice) { _ in }
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may read everything"))
  func aFileThatMayNotBeReadIsAFaultThatNamesIt() throws {
    try make("a/x")
    chmod(scratch.path + "/a/x", 0)
    #expect(throws: FileTree.Fault(path: "a/x", kind: .system(.notPermitted))) { try files() }
  }

  @Test func directoriesInsideEachOtherHaveALimit() throws {
    let deep = Array(repeating: "d", count: FileTree.depthLimit).joined(separator: "/")
    try make(deep + "/x")
    #expect(try files() == ["\(deep)/x <\(deep)/x>"])
    try make(deep + "/d/x")
    #expect(throws: FileTree.Fault(path: deep + "/d", kind: .tooDeep)) { try files() }
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
