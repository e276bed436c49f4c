import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct RegularFileTests {
  private let scratch = Scratch()

  private func fault(_ name: String, limit: Int = 1024) -> RegularFileError? {
    do throws(RegularFileError) {
      _ = try FileReading.bytes(ofRegularFile: "\(scratch.path)/\(name)", limit: limit)
      return nil
    } catch { return error }
  }

  @Test func aFileIsReadUpToItsLimit() throws {
    _ = scratch.file("file", String(repeating: "x", count: 100))
    let bytes = try FileReading.bytes(ofRegularFile: "\(scratch.path)/" + "file", limit: 100)
    #expect(bytes == Array(repeating: UInt8(ascii: "x"), count: 100))
    #expect(fault("file", limit: 99) == .notRead(.tooLarge(limit: 99)))
  }

  @Test func replacedFileIsNotRead() throws {
    _ = scratch.file("file", "secret")
    try #require(symlink("\(scratch.path)/" + "file", "\(scratch.path)/" + "link") == 0)
    try #require(mkfifo("\(scratch.path)/" + "fifo", 0o600) == 0)
    try #require(mkdir("\(scratch.path)/" + "folder", 0o700) == 0)
    #expect(fault("link") == .replaced(by: "a symbolic link"))
    #expect(fault("fifo") == .replaced(by: "a FIFO"))
    #expect(fault("folder") == .replaced(by: "a directory"))
    #expect(fault("gone") == .missing)
    #expect(fault("../../../../../dev/null") == .replaced(by: "a device"))
  }
}
