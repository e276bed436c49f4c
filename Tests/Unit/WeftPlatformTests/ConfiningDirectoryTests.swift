import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct ConfiningDirectoryTests {
  private let scratch = Scratch()

  private func confining(_ path: String) throws(SystemError) -> Directory {
    try Directory(path, listable: false)
  }

  private func content(
    of path: String, in directory: Directory
  ) throws(ConfinedFileError) -> String {
    let file = try directory.file(path)
    do { return String(decoding: try file.bytes(limit: 100), as: UTF8.self) } catch {
      throw .notRead(error)
    }
  }

  /// Creates `start/lib/x` and `outside/x`, with a link to the latter's directory beside the former.
  private func makeBoth() throws -> Directory {
    for name in ["start/lib", "outside"] {
      try FileSystem.makeDirectories("\(scratch.path)/\(name)")
      _ = scratch.file("\(name)/x", name)
    }
    try #require(symlink("../outside", scratch.path + "/start/link") == 0)
    return try confining(scratch.path + "/start")
  }

  @Test func aFileIsReadUpToTheLimitOnly() throws {
    _ = scratch.file("x", "12345")
    let directory = try confining(scratch.path)
    #expect(try directory.file("x").bytes(limit: 5) == Array("12345".utf8))
    #expect(throws: FileReadError.tooLarge(limit: 4)) { try directory.file("x").bytes(limit: 4) }
  }

  @Test("W18: a directory that became a link is not followed out")
  func aDirectoryThatBecameALink() throws {
    let directory = try makeBoth()
    #expect(try content(of: "lib/x", in: directory) == "start/lib")
    #expect(rename(scratch.path + "/start/lib", scratch.path + "/start/was") == 0)
    #expect(rename(scratch.path + "/start/link", scratch.path + "/start/lib") == 0)
    let link = ConfinedPath([Array("lib".utf8)])
    #expect(throws: ConfinedFileError.outside(link: link)) {
      try content(of: "lib/x", in: directory)
    }
  }

  @Test("W18: what is a link by the time it is opened is refused")
  func fileReplacedByALinkIsRefused() throws {
    _ = try makeBoth()
    try #require(symlink("lib/x", scratch.path + "/start/file") == 0)
    let start = try confining(scratch.path + "/start")
    #expect(throws: SystemError.notDirectory) {
      try start.directory(EntryName("link"), listable: false)
    }
    #expect(throws: ConfinedFileError.notRead(.system(SystemError(number: ELOOP)))) {
      try start.regularFile(EntryName("file"), at: ConfinedPath())
    }
  }

  @Test("W18: the directory above is the one that was come from, wherever it is now")
  func theDirectoryAboveIsTheOneComeFrom() throws {
    let directory = try makeBoth()
    _ = scratch.file("start/x", "start")
    #expect(rename(scratch.path + "/start/lib", scratch.path + "/outside/lib") == 0)
    try #require(symlink("../outside/lib", scratch.path + "/start/lib") == 0)
    #expect(throws: ConfinedFileError.self) { try content(of: "lib/../x", in: directory) }
    #expect(try content(of: "x", in: directory) == "start")
  }

  @Test("W18: what is no regular file is not opened")
  func onlyRegularFilesAreOpened() throws {
    #expect(mkfifo(scratch.path + "/pipe", 0o600) == 0)
    let directory = try confining(scratch.path)
    #expect(throws: ConfinedFileError.notRegular("a FIFO")) {
      try content(of: "pipe", in: directory)
    }
    let devices = try confining("/dev")
    #expect(throws: ConfinedFileError.notRegular("a device")) {
      try content(of: "null", in: devices)
    }
  }

  @Test(
    "a directory that can be searched and not listed is gone through", .enabled(if: geteuid() != 0))
  func aDirectoryThatCannotBeListed() throws {
    let directory = try makeBoth()
    chmod(scratch.path + "/start/lib", 0o100)
    defer { chmod(scratch.path + "/start/lib", 0o700) }
    #expect(try content(of: "lib/x", in: directory) == "start/lib")
    #expect(directory.names(in: ConfinedPath([Array("lib".utf8)])) == [])
  }

  @Test func userPathsMayFollowLinks() throws {
    _ = try makeBoth()
    func place(_ path: String, below start: String = "start") -> ConfinedPath? {
      ConfinedPath(of: scratch.path + "/" + path, below: scratch.path + "/" + start)
    }
    let x = ConfinedPath([Array("lib".utf8), Array("x".utf8)])
    #expect(place("start/lib/x") == x)
    #expect(place("outside/../start/./lib/x") == x)
    try #require(symlink("start", scratch.path + "/begin") == 0)
    #expect(place("begin/lib/x") == x)
    #expect(place("start/lib/x", below: "begin") == x)
    #expect(place("start/link/x") == nil)
    #expect(place("outside/x") == nil)
    #expect(place("start/missing") == nil)
    let isNew = { (path: String) in
      ConfinedPath(of: scratch.path + "/" + path, below: scratch.path + "/start", new: true)
    }
    #expect(isNew("start/lib/missing") == ConfinedPath([Array("lib".utf8), Array("missing".utf8)]))
    #expect(isNew("start/link/missing") == nil)
    #expect(isNew("start/missing/x") == nil)
    #expect(place("start/lib/x", below: "missing") == nil)
  }

  @Test func aNameThatOnlyBeginsAlikeIsOutside() throws {
    _ = try makeBoth()
    _ = scratch.file("starter", "")
    #expect(ConfinedPath(of: scratch.path + "/starter", below: scratch.path + "/start") == nil)
  }

  @Test func theRootConfinesNothing() throws {
    #expect(
      ConfinedPath(of: "/dev/null", below: "/")
        == ConfinedPath([Array("dev".utf8), Array("null".utf8)]))
    #expect(try confining("/").names(in: ConfinedPath()).contains("dev"))
  }

  @Test func namesComeByTheirBytes() throws {
    let directory = try makeBoth()
    #expect(directory.names(in: ConfinedPath()) == ["lib", "link"])
    #expect(directory.names(in: ConfinedPath([Array("link".utf8)])) == [])
  }
}
