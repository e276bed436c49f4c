import Glibc
import Testing
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// The file names of steps' logs.
struct LogFolderTests {
  @Test(
    "X84: a long address is told from others by 128 bits of its SHA-256, in a name of at most 255 bytes"
  )
  func longNames() {
    let long = String(repeating: "a", count: 300)
    #expect(
      LogFolder.fileName(of: StepAddress(long))
        == String(repeating: "a", count: 200) + "~9835fa6bf4e20a9b9ea812506302e989.log")
    let names = Set(
      (0..<1000).map { LogFolder.fileName(of: StepAddress(long + String($0))) })
    let longest = names.map(\.utf8.count).max() ?? 0
    #expect(names.count == 1000 && longest <= 255)
    let escaped = LogFolder.fileName(of: StepAddress(String(repeating: "é", count: 100)))
    #expect(escaped.utf8.count <= 255 && escaped.contains("~"))
  }

  @Test("X84: short names are spelled out, and no two addresses share one")
  func shortNames() {
    func name(_ address: String) -> String { LogFolder.fileName(of: StepAddress(address)) }
    #expect(name("build[eu]/a") == "build[eu]%2Fa.log")
    #expect(name("..") == "%2E..log")
    let similar = ["a/b", "a%2Fb", "a~b", "a b", "a.b", "A.b", "a_b"]
    let names = Set(similar.map { name($0) })
    #expect(names.count == similar.count)
  }

  @Test("an attempt begins on a line of its own, also under another engine")
  func attemptsBeginLines() throws {
    let path = "\(FileSystem.temporaryDirectory)/weft-logs-\(UInt64.random(in: 0 ... .max))"
    try FileSystem.makeDirectory(path, mode: 0o700)
    defer { Directory.removeTree(path) }
    func logs() throws -> StepLogs {
      let logs = StepLogs(in: LogFolder(try PrivateDirectory.at(path, makes: false)))
      logs.name(0, StepAddress("a"))
      return logs
    }
    let first = try logs()
    for text in ["one", "two\n", "three"] {
      first.beginAttempt(of: 0)
      #expect(first.append(Array(text.utf8), of: 0) == first.size(of: 0) - text.utf8.count)
      first.endAttempt(of: 0)
    }
    #expect(first.read(0..<100, of: 0) == Array("one\ntwo\nthree".utf8))
    let next = try logs()
    next.beginAttempt(of: 0)
    #expect(next.append(Array("four".utf8), of: 0) == 0)
    #expect(next.append(Array(" five".utf8), of: 0) == 4)
    #expect(next.read(0..<100, of: 0) == Array("four five".utf8))
    #expect(try FileReading.bytes(of: path + "/a.log") == Array("one\ntwo\nthree\nfour five".utf8))
  }

  @Test("P19: output is stored when no descriptor is left, and no input is cut for want of one")
  func signallingWorksWithoutProcessDescriptors() async {
    // The limit is that of the whole process.
    await #expect(processExitsWith: .success) {
      let path = "\(FileSystem.temporaryDirectory)/weft-logs-\(UInt64.random(in: 0 ... .max))"
      try FileSystem.makeDirectory(path, mode: 0o700)
      defer { Directory.removeTree(path) }
      let logs = StepLogs(in: LogFolder(try PrivateDirectory.at(path, makes: false)))
      logs.prepare()
      for step in 0..<3 { logs.name(step, StepAddress("s\(step)")) }
      // It may have inherited descriptors with high numbers.
      let highest = (0..<65536).last { fcntl($0, F_GETFD) >= 0 } ?? 2
      var limit = rlimit(rlim_cur: rlim_t(highest) + 32, rlim_max: rlim_t(highest) + 32)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      var taken: [Int32] = []
      while case let file = open("/dev/null", O_RDONLY), file >= 0 { taken.append(file) }
      #expect(errno == EMFILE && taken.count > 2)

      for line in ["one\n", "two\n"] {
        for step in 0..<3 { _ = logs.append(Array(line.utf8), of: step) }
      }
      #expect(logs.fault == nil)
      // One descriptor is free for the copy, none for the log.
      close(taken.removeLast())
      #expect(throws: StepLogs.NoCopyError.self) { try logs.copy(of: 1) }
      close(taken.removeLast())
      for step in 0..<3 {
        #expect(try logs.copy(of: step).piece(at: 0, atMost: 9) == Array("one\ntwo\n".utf8))
      }
    }
  }
}
