import Testing
import WeftEncoding
import WeftPlatform

@testable import WeftCaching

/// Cases in which a file need not be read again.
struct FileMemoryTests {
  static let second: Int64 = 1_000_000_000
  static let stamp = FileStamp(
    kind: .file(isExecutable: false), device: 1, inode: 2, size: 3, modified: 100 * second,
    changed: 101 * second)
  static let digest = SHA256.digest(of: "content".utf8)

  static let changes: [@Sendable (inout FileStamp) -> Void] = [
    { $0.device += 1 }, { $0.inode += 1 }, { $0.size += 1 }, { $0.modified += 1 },
    { $0.changed += 1 }, { $0.changed -= 1 },
  ]

  private func memory(knowing stamp: FileStamp, at seconds: Int64) -> FileMemory {
    let memory = FileMemory { 1000 * FileMemoryTests.second }
    memory.learn(stamp, FileMemoryTests.digest, readAt: seconds * FileMemoryTests.second)
    return memory
  }

  @Test(arguments: changes)
  func aFileOfWhichAnythingHasChangedIsReadAgain(_ change: @Sendable (inout FileStamp) -> Void) {
    let memory = memory(knowing: FileMemoryTests.stamp, at: 200)
    #expect(memory.digest(of: FileMemoryTests.stamp) == FileMemoryTests.digest)
    var stamp = FileMemoryTests.stamp
    change(&stamp)
    #expect(memory.digest(of: stamp) == nil)
  }

  @Test(arguments: [101, 102, 103] as [Int64])
  func aFileChangedShortlyBeforeItWasReadIsNotRemembered(_ moment: Int64) {
    #expect(
      memory(knowing: FileMemoryTests.stamp, at: moment).digest(of: FileMemoryTests.stamp) == nil)
  }

  @Test func fileMemoryReadsBackItsEntries() throws {
    let bytes = try #require(memory(knowing: FileMemoryTests.stamp, at: 200).bytes())
    let again = FileMemory(bytes) { 0 }
    #expect(again.digest(of: FileMemoryTests.stamp) == FileMemoryTests.digest)
    #expect(again.bytes() == nil)
  }

  @Test func damagedMemoryFileIsIgnored() throws {
    let bytes = try #require(memory(knowing: FileMemoryTests.stamp, at: 200).bytes())
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 1
      #expect(FileMemory(damaged) { 0 }.digest(of: FileMemoryTests.stamp) == nil, "byte \(index)")
      let torn = FileMemory(Array(bytes.prefix(index))) { 0 }
      #expect(torn.digest(of: FileMemoryTests.stamp) == nil, "cut at \(index)")
    }
  }
}
