import Testing
import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftTestKit

@testable import WeftReports

@Suite struct ReportedRunTests {
  private static let plan = Planner.plan(
    Workflow(steps: [
      Step("a", run: ["a"]), Step("each", run: ["b"]).forEach(["x", "y"]), Step("c", run: ["c"]),
    ])
  ).plan!

  private static func history(_ recent: [(String, [Int])]) -> DurationHistory {
    DurationHistory(
      recent.map {
        DurationHistory.Entry($0, MeasuredStep(recent: $1.map { $0 * 1000 }, times: 1)!)
      })
  }

  @Test func otherRunsAreNotTheRunItself() {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 100)
    journal.step("each[0]", queued: 100, started: 100, ended: 300)
    journal.step("each[1]", queued: 100, started: 100, ended: 200)
    journal.step("c", queued: 300, started: 300, ended: 350, .failure)
    let known = journal.reported(
      Self.plan,
      history: Self.history([("a", [90, 100, 110]), ("each", [70, 150]), ("c", [50])])
    ).earlierDurations
    // A loop is measured by its mean; a failure is not measured.
    #expect(known?.map { $0?.recent } == [[90_000, 110_000], [70_000], [50_000]])
  }

  @Test func aRunThatIsTheOnlyOneHasNoOther() {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 100)
    let run = journal.reported(Self.plan, history: Self.history([("a", [100])]))
    #expect(run.earlierDurations == [nil, nil, nil])
    #expect(journal.reported().earlierDurations == nil)
  }

  @Test func missingLogsAreTold() {
    var journal = Journal()
    for (index, step) in (["a", "b", "c"] as [StepAddress]).enumerated() {
      journal.add(.stepStarted(step, attempt: 1), at: index * 2)
      journal.add(
        .stepFinished(
          step,
          StepEnd(
            outcome: .success, conclusion: .success, attempts: 1, exit: nil,
            duration: .milliseconds(1), outputBytes: step == "b" ? 0 : 9)), at: index * 2 + 1)
    }
    let gaps = { (missing: Set<StepAddress>) in
      journal.reported(Self.plan, missingLogs: missing).gaps
    }
    #expect(gaps([]) == [] && gaps(["b"]) == [])
    #expect(gaps(["a", "b", "c"]) == ["the logs of 2 steps are missing"])
    #expect(gaps(["c"]) == ["the logs of 1 step are missing"])
  }
}
