import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct ConfiningDirectoryTests {
  private let scratch = Scratch()

  private func content(
    of path: String, in directory: ConfiningDirectory
  ) throws(ConfinedFileError) -> String {
    let file = try directory.file(path)
    do { return String(decoding: try file.bytes(limit: 100), as: UTF8.self) } catch {
      throw .notRead(error)
    }
  }

  /// Creates `start/lib/x` and `outside/x`, with a link to the latter's directory beside the former.
  private func makeBoth() throws -> ConfiningDirectory {
    for name in ["start/lib", "outside"] {
      try FileSystem.makeDirectories("\(scratch.path)/\(name)")
      _ = scratch.file("\(name)/x", name)
    }
    try #require(symlink("../outside", scratch.path + "/start/link") == 0)
    return try ConfiningDirectory(scratch.path + "/start")
  }

  @Test func aFileIsReadUpToTheLimitOnly() throws {
    _ = scratch.file("x", "12345")
    let directory = try ConfiningDirectory(scratch.path)
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
  func whatIsALinkByNowIsRefused() throws {
    _ = try makeBoth()
    try #require(symlink("lib/x", scratch.path + "/start/file") == 0)
    let start = try ConfiningDirectory.entered(
      Array((scratch.path + "/start").utf8), in: AT_FDCWD)
    #expect(throws: SystemError.notDirectory) {
      try ConfiningDirectory.entered(Array("link".utf8), in: start.number)
    }
    #expect(throws: ConfinedFileError.notRead(.system(SystemError(number: ELOOP)))) {
      try ConfiningDirectory.opened(Array("file".utf8), in: start, at: ConfinedPath())
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
  func whatIsNoRegularFileIsNotOpened() throws {
    #expect(mkfifo(scratch.path + "/pipe", 0o600) == 0)
    let directory = try ConfiningDirectory(scratch.path)
    #expect(throws: ConfinedFileError.notRegular("a FIFO")) {
      try content(of: "pipe", in: directory)
    }
    let devices = try ConfiningDirectory("/dev")
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

  @Test func whatAUserNamesIsFoundWhereverLinksLead() throws {
    let directory = try makeBoth()
    let place = ConfinedPath([Array("lib".utf8), Array("x".utf8)])
    #expect(directory.place(of: scratch.path + "/start/lib/x") == place)
    #expect(directory.place(of: scratch.path + "/outside/../start/./lib/x") == place)
    try #require(symlink("start", scratch.path + "/begin") == 0)
    #expect(directory.place(of: scratch.path + "/begin/lib/x") == place)
    #expect(
      try ConfiningDirectory(scratch.path + "/begin").place(of: scratch.path + "/start/lib/x")
        == place)
    #expect(directory.place(of: scratch.path + "/start/link/x") == nil)
    #expect(directory.place(of: scratch.path + "/outside/x") == nil)
    #expect(directory.place(of: scratch.path + "/start/missing") == nil)
  }

  @Test func aNameThatOnlyBeginsAlikeIsOutside() throws {
    let directory = try makeBoth()
    _ = scratch.file("starter", "")
    #expect(directory.place(of: scratch.path + "/starter") == nil)
  }

  @Test func theRootConfinesNothing() throws {
    let directory = try ConfiningDirectory("/")
    #expect(
      directory.place(of: "/dev/null") == ConfinedPath([Array("dev".utf8), Array("null".utf8)]))
    #expect(directory.names(in: ConfinedPath()).contains("dev"))
  }

  @Test func namesComeByTheirBytes() throws {
    let directory = try makeBoth()
    #expect(directory.names(in: ConfinedPath()) == ["lib", "link"])
    #expect(directory.names(in: ConfinedPath([Array("link".utf8)])) == [])
  }
}
