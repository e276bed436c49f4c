import Glibc
import Testing

@testable import WeftPlatform

struct PrivateFolderTests {
  private let scratch = Scratch()

  private func folder(_ name: String = "http") throws -> PrivateFolder {
    try PrivateFolder(name, in: scratch.path + "/cache")
  }

  private func mode(_ name: String) -> mode_t {
    var status = stat()
    return lstat(scratch.path + "/" + name, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  private func text(_ folder: PrivateFolder, _ name: String) -> String? {
    folder.read(name, limit: 100).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names actually there.
  private func inside(_ part: String) -> [String]? {
    try? PrivateDirectory.at(scratch.path + "/cache/http/" + part, makes: false).names()
  }

  @Test func filesAndFoldersAreForTheUserAlone() throws {
    let folder = try folder()
    try folder.replace("ab/file", with: Array("one".utf8))
    #expect(text(folder, "ab/file") == "one")
    #expect(mode("cache") == 0o700)
    #expect(mode("cache/http") == 0o700)
    #expect(mode("cache/http/ab") == 0o700)
    #expect(mode("cache/http/ab/file") == 0o600)
  }

  @Test func aFolderThatOthersMayChangeIsRefused() throws {
    _ = try folder()
    chmod(scratch.path + "/cache/http", 0o777)
    #expect(throws: UnsafePathError.writableByOthers(scratch.path + "/cache/http", mode: 0o777)) {
      try folder()
    }
  }

  @Test func nonDirectoryIsRefused() throws {
    _ = try folder()
    symlink(scratch.path, scratch.path + "/cache/link")
    #expect(throws: UnsafePathError.link(scratch.path + "/cache/link")) { try folder("link") }
    #expect(throws: UnsafePathError.self) { try PrivateFolder("http", in: scratch.file("file")) }
    #expect(throws: UnsafePathError.system("a\0b", .invalid)) {
      try PrivateFolder("http", in: "a\0b")
    }
  }

  @Test func aFileIsReplacedAsAWhole() throws {
    let folder = try folder()
    try folder.replace("ab/file", with: Array("one".utf8))
    try folder.replace("ab/file", with: Array("two".utf8))
    #expect(text(folder, "ab/file") == "two")
    #expect(inside("ab") == ["file"])
  }

  @Test func theFirstOneWhoCreatesAFileIsTheOneWhoDid() throws {
    let folder = try folder()
    try folder.create("secret", with: Array("one".utf8))
    try folder.create("secret", with: Array("two".utf8))
    #expect(text(folder, "secret") == "one")
  }

  @Test func specialOrLargeFileIsNotRead() throws {
    let folder = try folder()
    try folder.replace("ab/file", with: [UInt8](repeating: 1, count: 101))
    symlink(scratch.file("other", "other"), scratch.path + "/cache/http/ab/link")
    mkdir(scratch.path + "/cache/http/ab/folder", 0o700)
    mkfifo(scratch.path + "/cache/http/ab/fifo", 0o600)
    for name in ["file", "link", "folder", "fifo", "missing"] {
      #expect(folder.read("ab/" + name, limit: 100) == nil, "\(name)")
    }
    #expect(folder.entries(in: "ab").map(\.name) == ["ab/file"])
    #expect(folder.entries(in: "no such part") == [])
  }

  @Test func usingAFileMakesItYounger() throws {
    let folder = try folder()
    try folder.replace("ab/file", with: [1, 2, 3])
    var times = [timespec](repeating: timespec(tv_sec: 1000, tv_nsec: 0), count: 2)
    utimensat(AT_FDCWD, scratch.path + "/cache/http/ab/file", &times, 0)
    #expect(folder.entries(in: "ab") == [.init(name: "ab/file", size: 3, lastUse: 1000)])
    folder.touch("ab/file")
    #expect(try #require(folder.entries(in: "ab").first).lastUse > 1000)
  }

  @Test func oldUnfinishedFileIsRemoved() throws {
    let folder = try folder()
    try folder.replace("ab/file", with: [1])
    for (name, time) in [("old", 1000), ("new", 3000)] {
      let path = scratch.path + "/cache/http/ab/.unfinished-" + name
      try Descriptor.creating(path, .onlyNew).writeAll("half of i")
      var times = [timespec](repeating: timespec(tv_sec: time, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, path, &times, 0)
    }
    #expect(folder.names(in: "ab") == ["ab/file"])
    #expect(folder.entries(in: "ab").map(\.name) == ["ab/file"])
    folder.removeUnfinished(in: "ab", before: 2000)
    #expect(inside("ab") == [".unfinished-new", "file"])
  }

  @Test func concurrentWritesLeaveOneWholeFile() async throws {
    let folder = try folder()
    let texts = (0..<4).map { [UInt8](repeating: UInt8($0), count: 50_000) }
    try folder.replace("ab/file", with: texts[0])
    await withTaskGroup(of: Bool.self) { group in
      for text in texts {
        group.addTask {
          (1...50).allSatisfy { _ in
            try? folder.replace("ab/file", with: text)
            let read = folder.read("ab/file", limit: 1 << 20)
            return texts.contains { $0 == read }
          }
        }
      }
      for await isWhole in group { #expect(isWhole) }
    }
    #expect(inside("ab") == ["file"])
  }
}
