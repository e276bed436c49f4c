import Synchronization
import Testing
import WeftDefinition
import WeftFutures
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RecordingTests {
  private func address(_ text: String) -> StepAddress { StepAddress(text) }

  @Test func aStartIsRecordedBeforeTheAttemptBegins() throws {
    let keeper = RecordKeeper()
    let harness = try RunHarness(
      Workflow(steps: [Step("a", run: "a"), Step("b", run: "b")]), recorder: keeper)
    let executor = harness.executor
    let early = Mutex<[String]>([])
    keeper.observe { kind in
      guard case .event(.stepStarted(let step, _, _), _) = kind else { return }
      if executor.runningSteps.contains(step.text) { early.withLock { $0.append(step.text) } }
    }
    #expect(keeper.run.inDoubt == [address("a")])
    executor.exit("a")
    #expect(keeper.run.inDoubt == [address("b")])
    executor.exit("b")
    #expect(early.withLock { $0 } == [])
    #expect(keeper.run.inDoubt == [])
    #expect(keeper.run.end?.outcome == .success)
    #expect(keeper.isClosed)
  }

  @Test func endIsRecordedBeforeItIsPublished() throws {
    let keeper = RecordKeeper()
    let harness = try RunHarness(
      Workflow(steps: [Step("a", run: "a"), Step("b", run: "b")]), recorder: keeper)
    _ = harness.newEvents()
    let reported = Mutex<[String]>([])
    keeper.observe { kind in
      guard case .event(.stepFinished(StepAddress("a"), _), _) = kind else { return }
      reported.withLock { $0 = harness.newEvents() + harness.running }
    }
    harness.executor.exit("a")
    #expect(reported.withLock { $0 } == [])
    #expect(harness.running == ["b"])
  }

  @Test(
    "J08: when the record is lost, nothing new starts and what runs goes on to its end",
    arguments: 0..<12)
  func lostRecords(limit: Int) throws {
    let keeper = RecordKeeper(limit: limit)
    let harness = try RunHarness(
      Workflow(parallel: [
        Step("a", run: "a"), Step("b", run: "b"), Step("c", run: "c", needs: ["a"]),
      ]), recorder: keeper)
    let before = harness.running
    for step in before { harness.executor.exit(step) }
    let after = harness.running
    for step in after { harness.executor.exit(step) }
    #expect(harness.run.completion.isSettled)
    let started = keeper.kinds.compactMap { kind in
      if case .event(.stepStarted(let step, _, _), _) = kind { step.text } else { nil }
    }
    #expect(started == before + after)
    #expect(keeper.run.inDoubt == [])
    let report = harness.run.report
    // Room for everything: run.started, three steps, run.finished.
    if limit < 11 {
      #expect(harness.run.engineFault == "no room")
      if started.count < 3 {
        #expect(report.end?.outcome == .cancelled)
        #expect(report.end?.cancellation == .recordLost)
        #expect(harness.newEvents().contains("run cancelling: record lost"))
      }
    } else {
      #expect(harness.run.engineFault == nil)
      #expect(report.end?.outcome == .success)
    }
  }

  @Test func theElementsOfALoopAreRecordedBeforeTheFirstBegins() throws {
    let keeper = RecordKeeper()
    let loop = Step("l", run: ["x"]).forEach(["p", "q"])
    _ = try RunHarness(Workflow(steps: [loop]), recorder: keeper)
    let listed = RecordedElements(
      elements: [.init(key: "0", value: .string("p")), .init(key: "1", value: .string("q"))],
      stepCount: 1)
    #expect(keeper.run.group(address("l"))?.elements == listed)
    #expect(keeper.run.inDoubt == [address("l[0]"), address("l[1]")])
  }

  @Test func endOfAWaitIsRecorded() throws {
    let keeper = RecordKeeper()
    let harness = try RunHarness(
      Workflow(steps: [Step("w", wait: .seconds(5))]), recorder: keeper)
    #expect(keeper.run.step(address("w"))?.waitsUntil != nil)
    harness.time.advance(by: .seconds(5))
    #expect(harness.run.completion.isSettled)
  }
}
