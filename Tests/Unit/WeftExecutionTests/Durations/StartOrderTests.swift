import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The start order of ready steps whose durations are known.
struct StartOrderTests {
  /// Three chains of three short steps, and one long step: by the number of steps, the long one comes last.
  private static let chains = Workflow(parallel: [
    Step("one", steps: [Step("a"), Step("b"), Step("c")]),
    Step("two", steps: [Step("d"), Step("e"), Step("f")]),
    Step("three", steps: [Step("g"), Step("h"), Step("i")]),
    Step("long"),
  ])

  private static let seconds: KeyValuePairs = [
    "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1, "long": 9,
  ]

  /// Runs a plan in virtual time, each step for its known duration.
  ///
  /// - Returns: The order of the starts, and the duration of the run in seconds.
  private func run(
    _ plan: Plan, slots: Int, lasting seconds: KeyValuePairs<String, Int>
  ) -> (starts: [String], seconds: Int) {
    let harness = RunHarness(plan, maxParallel: slots)
    let lengths = Dictionary(uniqueKeysWithValues: seconds.map { ($0, $1) })
    var (now, ends) = (0, [String: Int]())
    while !harness.running.isEmpty {
      for step in harness.running where ends[step] == nil {
        ends[step] = now + lengths[step, default: 0]
      }
      let next = harness.running.map { (ends[$0] ?? 0, $0) }.min(by: <)!
      now = next.0
      harness.time.move(to: .seconds(now))
      harness.executor.exit(next.1)
    }
    let words = harness.newEvents().map { $0.split(separator: " ") }
    let starts = words.filter { $0.count == 2 && $0[1] == "started" && $0[0] != "run" }
    return (starts.map { String($0[0]) }, now)
  }

  @Test("the run is as short as it can be, which it is not when paths are counted in steps")
  func theLongestStepStartsFirst() throws {
    let known = try Plan.expecting(StartOrderTests.chains, seconds: StartOrderTests.seconds)
    let unknown = try #require(Planner.plan(StartOrderTests.chains).plan)
    let weighted = run(known, slots: 2, lasting: StartOrderTests.seconds)
    let counted = run(unknown, slots: 2, lasting: StartOrderTests.seconds)
    #expect(weighted.starts.first == "long" && counted.starts.last == "long")
    #expect(weighted.seconds == 9)
    #expect(counted.seconds == 13)
  }

  @Test func theSameHistoryGivesTheSameOrder() throws {
    let plan = try Plan.expecting(StartOrderTests.chains, seconds: StartOrderTests.seconds)
    let first = run(plan, slots: 2, lasting: StartOrderTests.seconds)
    for _ in 1...3 {
      #expect(run(plan, slots: 2, lasting: StartOrderTests.seconds).starts == first.starts)
    }
  }

  @Test("G06: with one slot the order is the file's, whatever steps took")
  func orderWithOneSlotIsTheFiles() throws {
    let plan = try Plan.expecting(StartOrderTests.chains, seconds: StartOrderTests.seconds)
    #expect(
      run(plan, slots: 1, lasting: StartOrderTests.seconds).starts
        == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "long"])
  }

  @Test func equallyLongStepsStartInFileOrder() throws {
    let workflow = Workflow(parallel: [Step("x"), Step("y"), Step("z"), Step("last")])
    let seconds: KeyValuePairs = ["x": 1, "y": 2, "z": 2, "last": 1]
    let plan = try Plan.expecting(workflow, seconds: seconds)
    #expect(run(plan, slots: 2, lasting: seconds).starts == ["y", "z", "x", "last"])
  }
}
