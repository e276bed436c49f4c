import Synchronization
import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Runs whose records become durable some time after they were written.
@Suite struct SlowRecordTests {
  private let recorder = SlowRecorder()

  private func harness(_ workflow: Workflow, maxParallel: Int = 1) throws -> RunHarness {
    let harness = try RunHarness(workflow, maxParallel: maxParallel, recorder: recorder)
    _ = harness.newEvents()
    return harness
  }

  private static let pair = Workflow(parallel: [
    Step("a", run: "a"), Step("b", run: "b"), Step("after", run: "c", needs: ["a"]),
  ])

  @Test func unsafeEndIsNotPublished() throws {
    let harness = try harness(SlowRecordTests.pair, maxParallel: 2)
    harness.executor.exit("a")
    #expect(harness.newEvents() == [])
    #expect(harness.running == ["b"])
    recorder.becomeSafe()
    #expect(harness.newEvents() == ["a success", "after queued", "after started"])
    #expect(harness.running == ["b", "after"])
  }

  @Test func slotIsFreeWhileAnEndIsWritten() throws {
    let harness = try harness(SlowRecordTests.pair)
    harness.executor.exit("a")
    #expect(harness.newEvents() == ["b started"])
    #expect(harness.running == ["b"])
  }

  @Test func slotIsHeldWhileAFailureIsWritten() throws {
    let harness = try harness(SlowRecordTests.pair)
    harness.executor.exit("a", code: 1)
    #expect(harness.running == [])
    recorder.becomeSafe()
    #expect(harness.states == ["a: failure", "b: held back by a", "after: skipped after a"])
    #expect(harness.run.completion.isSettled)
  }

  @Test func slotIsHeldWhileARaceMayEnd() throws {
    let race = Step("r", race: [Step("a", run: "a"), Step("b", run: "b")])
    let harness = try harness(Workflow(steps: [race]))
    harness.executor.exit("a")
    #expect(harness.running == [])
    recorder.becomeSafe()
    #expect(harness.run.report.succeeded)
    #expect(recorder.started == ["a"])
  }

  @Test func stepCancelledWhileItsEndIsWrittenHasSucceeded() throws {
    let harness = try harness(SlowRecordTests.pair)
    harness.executor.exit("a")
    harness.run.cancel(.requested)
    harness.executor.exit("b", code: 1)
    recorder.becomeSafe()
    #expect(harness.states.first == "a: success")
    #expect(harness.run.completion.isSettled)
  }

  @Test(arguments: [nil, true, false])
  func unrepeatableStepStartsAfterItsRecordIsDurable(isIdempotent: Bool?) throws {
    var step = Step("a", run: "a")
    step.control.isIdempotent = isIdempotent
    let harness = try harness(Workflow(steps: [step]))
    #expect(harness.running == ["a"])
    #expect(recorder.waitedForStart == (isIdempotent == false))
  }
}

/// A recorder that keeps nothing, and makes the ends of steps durable when the test says so.
private final class SlowRecorder: RunRecorder {
  private struct State {
    var waiting: [Promise<Void, Never>] = []
    var started: [String] = []
    var waitedForStart = false
  }

  private let state = Mutex(State())

  var started: [String] { state.withLock { $0.started } }
  /// Whether a step was started by a record that had to be durable first.
  var waitedForStart: Bool { state.withLock { $0.waitedForStart } }
  var fault: RecordError? { nil }

  func becomeSafe() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for promise in waiting { promise.succeed() }
  }

  func record(_ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration) {
    guard case .event(.stepStarted(let step, _, _), _) = kind else { return }
    state.withLock { state in
      state.started.append(step.text)
      state.waitedForStart = true
    }
  }

  func write(
    _ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration, isUrgent: () -> Bool
  ) -> Future<Void, Never>? {
    switch kind {
    case .event(.stepStarted(let step, _, _), _):
      state.withLock { $0.started.append(step.text) }
      return nil
    case .event(.stepFinished, _):
      let promise = Promise<Void, Never>(ifDropped: .success(()))
      state.withLock { $0.waiting.append(promise) }
      return promise.future
    default: return nil
    }
  }

  func onLost(_ act: @escaping @Sendable () -> Void) {}
  func close() {}
}
