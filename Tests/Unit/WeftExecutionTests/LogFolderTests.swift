import Testing
import WeftPlanning

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
}
