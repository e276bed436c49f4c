import Glibc
import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Handling of a step's output, with real programs.
@Suite struct StepOutputTests {
  @Test("O15: merged output is all standard output, in its very order")
  func mergedOutputIsInOrder() async throws {
    var command = Command(
      .script("for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"))
    command.mergesOutput = true
    let run = try await RealRun(Workflow(steps: [Step("a", command)]))
    #expect(run.logs["a"] == (1...9).map { "o\($0)\ne\($0)\n" }.joined())
    for event in run.events {
      if case .stepOutput(_, let output) = event.kind { #expect(output.stream == .stdout) }
    }
  }

  @Test("O04: a log ends at its limit with a mark, and the step goes on")
  func aLogEndsAtItsLimit() async throws {
    var command = Command(.script("echo 12345678; echo rest; echo rest >&2; exit 3"))
    command.logLimit = ByteCount(11)
    let run = try await RealRun(Workflow(steps: [Step("a", command)]))
    let end = try #require(run.end(of: "a"))
    #expect(end.exit == .code(3) && end.outputTruncated && end.outputBytes == 19)
    let mark = "weft: log truncated at 11B (logLimit)\n"
    #expect(["12345678\nre\n", "12345678\nr\ne\n"].map { $0 + mark }.contains(run.logs["a"]))
    let warnings = run.report.warnings
    #expect(warnings.map(\.kind) == [.outputTruncated])
    #expect(warnings.first?.message.contains("step \"a\" wrote more than 11B") == true)
  }

  @Test func truncatedLogIsNotAnInput() async throws {
    var command = Command(.script("seq 1 1000"))
    command.logLimit = ByteCount(1000)
    let run = try await RealRun(
      Workflow(steps: [Step("many", command), step("count", .script("wc -l"), stdin: .log("many"))])
    )
    let failure = try #require(run.end(of: "count")?.failure)
    #expect(failure.classes == [.limit])
    #expect(failure.message == "did not start: the log of step \"many\" holds only the first 1KB")
    #expect(failure.help?.contains("logLimit") == true)
  }

  @Test("O08: progress that writes over itself is told while it goes on; the log has every byte")
  func progressLinesArePublished() async throws {
    // It ends its line only after its last state has been seen.
    let seen = "\(FileSystem.temporaryDirectory)/weft-seen-\(getpid())"
    defer { unlink(seen) }
    let script =
      "i=0; while [ $i -lt 20000 ]; do printf 'state %d\\r' $i; i=$((i+1)); done; "
      + "while [ ! -e '\(seen)' ]; do sleep 0.01; done; printf 'last\\r'; echo done"
    let run = try await RealRun(Workflow(steps: [step("a", .script(script))])) { event in
      guard case .stepOutput(_, let output) = event.kind, output.text == "state 19999" else {
        return
      }
      close(open(seen, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    }
    let expected = (0..<20_000).map { "state \($0)\r" }.joined() + "last\rdone\n"
    #expect(run.logs["a"] == expected)
    let outputs = run.events.compactMap { event -> StepOutput? in
      if case .stepOutput(_, let output) = event.kind { output } else { nil }
    }
    let states = outputs.filter { $0.ending == .transient }.map(\.text)
    #expect(states.contains("state 19999") && states.count >= 2)
    #expect(outputs.filter { $0.ending != .transient }.map(\.text) == ["done"])
    let lasted = run.events.last!.elapsed
    #expect(states.count <= 1 + Int(lasted / ProgressPace.interval))
  }
}
