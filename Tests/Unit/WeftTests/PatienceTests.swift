import Synchronization
import TestSupport
import Testing
import Weft

/// Code of the embedding program that ignores cancellation, and subscribers that share.
@Suite(.hangLimit) struct PatienceTests {
  /// An approver that answers when the test is over, whatever happens to its task.
  private final class Stubborn: Sendable {
    private let waiting = Mutex<(isOver: Bool, [CheckedContinuation<Void, Never>])>((false, []))

    @Sendable func ask(_ request: ApprovalRequest) async -> Bool {
      await withCheckedContinuation { continuation in
        let isOver = waiting.withLock { waiting in
          if !waiting.isOver { waiting.1.append(continuation) }
          return waiting.isOver
        }
        if isOver { continuation.resume() }
      }
      return true
    }

    func releaseHold() {
      let waiting = waiting.withLock { waiting in
        waiting.isOver = true
        return waiting.1
      }
      for one in waiting { one.resume() }
    }
  }

  enum Ending: CaseIterable { case approve, reject, cancel, kill, timeout }

  @Test(
    "E01: an approver that ignores its cancellation delays neither an answer nor an end",
    arguments: Ending.allCases)
  func aStubbornApprover(_ ending: Ending) async throws {
    let person = Stubborn()
    let workflow = Workflow(steps: [
      Step("ask", approve: "well?", timeout: ending == .timeout ? .milliseconds(20) : nil),
      Step("after", run: "true"),
    ])
    let run = try Engine(approve: person.ask).start(workflow)
    // It has been asked; without this, the answer might precede the question.
    for await event in run.events {
      if case .stepAsking = event.kind { break }
    }
    let ask = StepAddress("ask")
    switch ending {
    case .approve: run.approve(ask)
    case .reject: run.reject(ask)
    case .cancel: run.cancel()
    case .kill: run.kill()
    case .timeout: break
    }
    let report = await run.report
    let expected: Outcome =
      switch ending {
      case .approve: .success
      case .reject, .timeout: .failure
      case .cancel, .kill: .cancelled
      }
    #expect(report.end?.outcome == expected)
    // Only now: the run has not waited for it.
    person.releaseHold()
  }

  @Test("E05: two iterators of one subscription each get every event")
  func twoIterators() async throws {
    let run = try Engine().start(
      Workflow(steps: [Step("a", run: "echo a"), Step("b", run: "echo b")]))
    let events = run.events
    @Sendable func sequences() async -> [UInt64] {
      var sequences: [UInt64] = []
      for await event in events { sequences.append(event.sequence) }
      return sequences
    }
    async let one = sequences()
    async let two = sequences()
    let (first, second) = await (one, two)
    #expect(first == Array(1...UInt64(first.count)))
    #expect(first == second)
    // This also holds for successive subscriptions.
    #expect(await sequences() == first)
  }
}
