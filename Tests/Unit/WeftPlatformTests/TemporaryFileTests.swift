import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct TemporaryFileTests {
  private struct Place {
    private let scratch = Scratch()

    func path(_ name: String) -> String { scratch.path + "/" + name }

    func names() throws(SystemError) -> [String] {
      guard let directory = opendir(scratch.path) else { throw .last }
      defer { closedir(directory) }
      var names: [String] = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { names.append(name) }
      }
      return names.sorted()
    }

    func text(_ name: String) throws -> String {
      let (file, count) = try Descriptor.opened(regularFile: path(name))
      return String(decoding: try file.piece(at: 0, atMost: count), as: UTF8.self)
    }

    /// The kind and permissions of a file.
    func mode(_ name: String) throws(SystemError) -> mode_t {
      var status = stat()
      guard lstat(path(name), &status) == 0 else { throw .last }
      return status.st_mode
    }
  }

  private static func write(_ text: String, _ file: TemporaryFile) throws(SystemError) {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try file.write(bytes) }
    }
    try result.get()
  }

  @Test("H34: a file has its name when it is complete, and a link of that name is replaced")
  func aFileTakesItsName() throws {
    let place = Place()
    symlink("elsewhere", place.path("f"))
    let file = try TemporaryFile(beside: place.path("f"))
    try Self.write("one two", file)
    try file.cut(to: 3)
    try Self.write(", 2", file)
    let before = try place.names()
    #expect(before.count == 2 && before.contains("f"))
    try file.commit(as: place.path("f"))
    #expect(try place.names() == ["f"])
    #expect(try place.text("f") == "one, 2")
    close(open(place.path("g"), O_CREAT | O_WRONLY, 0o666))
    #expect(try place.mode("f") == place.mode("g"))
  }

  @Test func aFileThatIsNotCommittedIsRemoved() throws {
    let place = Place()
    do {
      let file = try TemporaryFile(beside: place.path("f"))
      try Self.write("x", file)
      let names = try place.names()
      #expect(names.count == 1 && names[0].hasSuffix(".part"))
      #expect(try place.mode(names[0]) == S_IFREG | 0o600)
    }
    #expect(try place.names().isEmpty)
  }

  @Test func aNameOfAnyLengthHasRoomBesideIt() throws {
    let place = Place()
    let name = String(repeating: "n", count: 255)
    let file = try TemporaryFile(beside: place.path(name))
    try file.commit(as: place.path(name))
    #expect(try place.names() == [name])
  }

  @Test func aFileThatHasChangedIsNotReplaced() throws {
    let place = Place()
    let path = place.path("f")
    Self.create(path, "one")
    let stamp = try FileStamp(at: path)
    Self.create(place.path("g"), "two")
    rename(place.path("g"), path)
    #expect(throws: ReplacementError.changed) {
      try TemporaryFile.replace(path, readAs: stamp, with: Array("three".utf8))
    }
    #expect(try place.text("f") == "two" && place.names() == ["f"])
    let current = try FileStamp(at: path)
    try TemporaryFile.replace(path, readAs: current, with: Array("three".utf8))
    #expect(try place.text("f") == "three" && place.names() == ["f"])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func aReplacedFileKeepsItsOwnerAndMode() throws {
    let place = Place()
    let path = place.path("f")
    Self.create(path, "one")
    chown(path, 1234, 4321)
    chmod(path, 0o640)
    try TemporaryFile.replace(path, readAs: FileStamp(at: path), with: Array("two".utf8))
    var status = stat()
    stat(path, &status)
    #expect(status.st_uid == 1234 && status.st_gid == 4321)
    #expect(try place.mode("f") == S_IFREG | 0o640)
  }

  @Test func onlyAFileIsReplaced() throws {
    let place = Place()
    mkfifo(place.path("f"), 0o600)
    let stamp = try FileStamp(at: place.path("f"))
    #expect(throws: ReplacementError.special("a FIFO")) {
      try TemporaryFile.replace(place.path("f"), readAs: stamp, with: [])
    }
  }

  private static func create(_ path: String, _ text: String) {
    let file = fopen(path, "w")!
    fputs(text, file)
    fclose(file)
  }

  @Test func missingDirectoryFails() {
    #expect(throws: SystemError.notFound) { _ = try TemporaryFile(beside: "/no/such/directory/f") }
  }
}
