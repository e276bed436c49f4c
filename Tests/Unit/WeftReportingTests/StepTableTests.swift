import Testing
import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

@Suite struct StepTableTests {
  private static let run = RunReference(id: "R", arguments: "R")

  private static func table(_ steps: [StepReport], end: RunEnd? = nil) -> String {
    var report = RunReport(start: RunStart.blank, steps: steps, end: end)
    report.start.workflow = "re`lease|<b>"
    let labels = StepLabels(titles: ["build": "make all | tee *log*"])
    return StepTable(report, labels: labels, run: run).rendered()
  }

  private static func finished(
    _ outcome: Outcome, _ conclusion: Outcome, _ message: String? = nil, attempts: Int = 1
  ) -> StepState {
    .finished(
      StepEnd(
        outcome: outcome, conclusion: conclusion, attempts: attempts, exit: .code(0),
        failure: message.map { StepFailure(classes: [.exit], message: $0) },
        cancellation: outcome == .cancelled ? .signal("INT") : nil, duration: .milliseconds(85)))
  }

  @Test func eachStepHasARow() {
    let table = StepTableTests.table([
      StepReport(address: "build", state: StepTableTests.finished(.success, .success, attempts: 2)),
      StepReport(
        address: "a|b", state: StepTableTests.finished(.failure, .failure, "exited | with\n`3`")),
      StepReport(address: "c", state: StepTableTests.finished(.failure, .success, "timed out")),
      StepReport(address: "d", state: StepTableTests.finished(.cancelled, .cancelled)),
      StepReport(address: "e", state: .skipped(.dependencyFailed("build"))),
      StepReport(address: "f", state: .skipped(.notSelected)),
      StepReport(address: "g", state: .queued),
    ])
    #expect(
      table == #"""
        ### re\`lease\|\<b\>: waits for approval

        | Step | Result | Time |
        | --- | --- | ---: |
        | `build` make all \| tee \*log\* | ✅ succeeded (attempt 2) | 85 ms |
        | `a\|b` | ❌ exited \| with\\n\`3\` | 85 ms |
        | `c` | ⚠️ tolerated: timed out | 85 ms |
        | `d` | 🚫 cancelled: interrupted | 85 ms |
        | `e` | ⏭️ skipped because "build" failed |  |
        | `g` | not finished |  |

        Details: `weft show R`


        """#)
  }

  @Test("of many steps the failed ones are in the table, and the others are counted")
  func tableIsBounded() {
    var steps = (0..<5000).map {
      StepReport(
        address: StepAddress("s\($0)"), state: StepTableTests.finished(.success, .success))
    }
    steps[4000].state = StepTableTests.finished(
      .failure, .failure, String(repeating: "x", count: 5000))
    let table = StepTableTests.table(steps)
    #expect(table.contains("| `s4000` | ❌ x") && table.contains("… and 4800 more steps"))
    #expect(table.utf8.count < 20_000)
  }
}
