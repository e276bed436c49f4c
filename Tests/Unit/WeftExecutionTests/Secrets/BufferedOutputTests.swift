import Testing
import WeftDefinition

@testable import WeftEvents
@testable import WeftExecution

/// Output of steps with secret outputs.
@Suite struct BufferedOutputTests {
  private static func passedOn(_ held: BufferedOutput) -> [(BufferedOutput.Target, [UInt8])] {
    var all: [(BufferedOutput.Target, [UInt8])] = []
    held.passOn { target, piece, _ in
      if all.last?.0 == target {
        all[all.count - 1].1 += piece
      } else {
        all.append((target, Array(piece)))
      }
    }
    return all
  }

  @Test("X14: what is held back comes in its order, however much of it there is")
  func order() {
    var held = BufferedOutput(limit: ByteCount(64 << 20))
    var wanted: [(BufferedOutput.Target, [UInt8])] = []
    for number in 0..<40 {
      let target = [BufferedOutput.Target.stream(.stdout), .stream(.stderr), .log][number % 3]
      let bytes = [UInt8](repeating: UInt8(number), count: number * 7001)
      // Chunks as they come from a pipe.
      for start in stride(from: 0, to: bytes.count, by: 65_536) {
        bytes[start..<min(start + 65_536, bytes.count)].withUnsafeBytes {
          held.add($0, to: target, at: .zero)
        }
      }
      if !bytes.isEmpty { wanted.append((target, bytes)) }
    }
    let passed = Self.passedOn(held)
    #expect(passed.map(\.0) == wanted.map(\.0))
    #expect(passed.map(\.1) == wanted.map(\.1))
    #expect(held.writtenBytes == UInt64(wanted.reduce(0) { $0 + $1.1.count }) && !held.isCut)
  }

  @Test("X14: no more is held back than a log may hold, and all of it is counted")
  func limit() {
    var held = BufferedOutput(limit: ByteCount(1000))
    let chunk = [UInt8](repeating: 7, count: 1 << 19)
    for _ in 0..<6 { chunk.withUnsafeBytes { held.add($0, to: .stream(.stdout), at: .zero) } }
    #expect(Self.passedOn(held).map(\.1.count) == [1000 + 1 << 20])
    #expect(held.isCut && held.writtenBytes == 6 << 19)
  }

  private static func minting(_ script: String, _ value: String?) -> Workflow {
    var mint = step("mint", .script(script))
    mint.outputs = [OutputDeclaration("t", value: value, isSecret: true)]
    return Workflow(steps: [mint])
  }

  @Test(
    "X14: a step's secret output is masked in what it wrote before",
    arguments: [
      (
        "printf 'minted-%s\n' 98; echo and more; printf 'minted-%s\n' 98 >&2",
        "${{ trim(self.stdout) }}"
      ),
      ("t=minted-$((90 + 8)); echo $t; echo t=$t >>$WEFT_OUTPUT; echo and more", nil),
      ("t=minted-$((90 + 8)); echo $t; echo t=$t >>$WEFT_OUTPUT; echo and more; exit 1", nil),
    ] as [(String, String?)])
  func masked(script: String, value: String?) async throws {
    let run = try await RealRun(Self.minting(script, value))
    let reported = "\(run.events) \(run.report) \(run.logs)"
    #expect(!reported.contains("minted-98"))
    #expect(run.logs["mint"]?.contains("***") == true)
  }

  @Test("X14: where a secret output is not known, what it is computed from is not kept")
  func withheld() async throws {
    let script = "printf 'minted-%s\n' 98; echo plain trouble >&2"
    let run = try await RealRun(Self.minting(script, "${{ fromJSON(self.stdout).token }}"))
    #expect(run.end(of: "mint")?.outcome == .failure)
    #expect(!"\(run.events) \(run.report) \(run.logs)".contains("minted-98"))
    let log = run.logs["mint"] ?? ""
    #expect(log.contains("plain trouble") && log.contains("10 bytes withheld"), "\(log)")
    #expect(run.end(of: "mint")?.outputBytes == 10 + 14)
  }

  @Test("X14: a secret output may be longer than a secret")
  func long() async throws {
    let script = "awk 'BEGIN { for (i = 0; i < 9000; i++) printf \"minted%d-\", i * i }'"
    let run = try await RealRun(Self.minting(script, "${{ self.stdout }}"))
    #expect(run.end(of: "mint")?.outcome == .success)
    #expect(run.logs["mint"] == "***")
  }
}
