import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct EventStreamTests {
  private func harness(steps: Int = 1) throws -> RunHarness {
    try RunHarness(
      Workflow(parallel: (0..<steps).map { Step(StepID("s\($0)")!, run: "true") }), maxParallel: 1)
  }

  @Test func everySubscriberGetsEverything() throws {
    let harness = try harness(steps: 3)
    let second = harness.run.subscribe()
    while let step = harness.running.first { harness.executor.exit(step) }
    let first = try #require(harness.subscription.takeAll())
    #expect(first.map(\.sequence) == Array(1...UInt64(first.count)))
    #expect(second.takeAll() == first)
    #expect(second.takeAll() == nil, "nothing comes after the end")
  }

  @Test("C02: a late subscriber gets a snapshot and then the rest")
  func aLateSubscriberGetsASnapshot() throws {
    let harness = try harness(steps: 600)
    for _ in 0..<500 { harness.executor.exit(harness.running[0]) }
    let late = harness.run.subscribe()
    while let step = harness.running.first { harness.executor.exit(step) }
    let events = try #require(late.takeAll())
    guard case .snapshot(let report) = events[0].kind else {
      Issue.record("no snapshot but \(events[0])")
      return
    }
    let finished = report.steps.count { if case .finished = $0.state { true } else { false } }
    #expect(finished == 500)
    #expect(
      events.dropFirst().map(\.sequence)
        == Array((events[0].sequence + 1)...(events[0].sequence + UInt64(events.count - 1))))
    guard case .runFinished = events.last?.kind else {
      Issue.record("the last is \(String(describing: events.last))")
      return
    }
  }

  @Test func aReportKnowsWhereGroupsStand() throws {
    let run = try RunHarness(
      Workflow(parallel: [
        Step("done", steps: [Step("a", run: ["a"])]),
        Step("open", steps: [Step("b", run: ["b"])]),
        Step("each", run: ["e"]).forEach(["x", "y"]),
        Step("again", steps: [Step("c", run: ["c"])]).retry(RetryPolicy(max: 1, jitter: .none)),
        Step("later", steps: [Step("d", run: ["d"])], needs: ["open"]),
      ]))
    run.time.advance(by: .milliseconds(500))
    run.executor.exit("a")
    run.executor.exit("c", code: 1)
    func states() -> [String] {
      run.run.report.groups.map { group in
        let state =
          switch group.state {
          case .running(let since): "since \(since)"
          case .retrying(let until): "until \(until)"
          case .finished(let end): "\(end.outcome)"
          }
        let elements = group.start.elements.map { " of \($0)" } ?? ""
        return "\(group.address)\(elements): attempt \(group.start.attempt), \(state)"
      }
    }
    #expect(
      states() == [
        "done: attempt 1, success", "open: attempt 1, since 0.0 seconds",
        "each of 2: attempt 1, since 0.0 seconds", "again: attempt 1, until 1.5 seconds",
      ])
    run.time.advance(by: .seconds(1))
    run.executor.exit("b")
    #expect(
      states().suffix(2) == [
        "again: attempt 2, since 1.5 seconds", "later: attempt 1, since 1.5 seconds",
      ])
  }

  @Test func warningIsReportedOncePerCause() throws {
    let harness = try harness()
    let first = RunWarning(kind: .scarceResources, message: "first")
    for message in ["second", "third"] {
      harness.run.warnings.reportOnce(first)
      harness.run.warnings.reportOnce(RunWarning(kind: .jobserver, message: message))
    }
    harness.executor.exit(harness.running[0])
    harness.run.warnings.reportOnce(RunWarning(kind: .fewDescriptors, message: "too late"))
    let reported = [first, RunWarning(kind: .jobserver, message: "second")]
    let events = try #require(harness.subscription.takeAll())
    let published = events.compactMap {
      if case .runWarning(let warning) = $0.kind { warning } else { nil }
    }
    #expect(published == reported)
    #expect(harness.run.report.warnings == reported)
  }

  @Test func aReportKeepsTheFirstHundredWarnings() throws {
    let harness = try harness()
    for number in 1...(RunReport.warningLimit + 1) {
      harness.run.events.publish(.runWarning(RunWarning(kind: .jobserver, message: "\(number)")))
    }
    let kept = harness.run.report.warnings
    #expect(kept.first?.message == "1" && kept.last?.message == "\(RunReport.warningLimit)")
  }

  @Test func aSubscriberAfterTheEndGetsTheEnd() throws {
    let harness = try harness(steps: 600)
    while let step = harness.running.first { harness.executor.exit(step) }
    let events = try #require(harness.run.subscribe().takeAll())
    #expect(events.count == 2)
    guard case .snapshot(let report) = events[0].kind, case .runFinished = events[1].kind else {
      Issue.record("\(events.map(\.kind))")
      return
    }
    #expect(report.succeeded)
  }

  @Test("O12: for a subscriber that does not read, output collapses and lifecycle events stay")
  func outputCollapsesForASlowSubscriber() throws {
    let harness = try harness(steps: 2)
    let slow = harness.run.subscribe(outputLimitBytes: 1_000)
    for _ in 0..<100 { harness.executor.write("0123456789\n", from: "s0") }
    harness.executor.exit("s0")
    for _ in 0..<100 { harness.executor.write("0123456789\n", from: "s1") }
    harness.executor.exit("s1")
    let events = try #require(slow.takeAll())
    let gaps = events.compactMap { event -> OutputGap? in
      guard case .outputDropped(let gap) = event.kind else { return nil }
      return gap
    }
    let lines = events.count { if case .stepOutput = $0.kind { true } else { false } }
    #expect(lines > 0 && lines + gaps.reduce(0) { $0 + $1.count } == 200)
    #expect(gaps.count == 2, "one for each stretch between lifecycle events")
    #expect(gaps.allSatisfy { $0.bytes == $0.count * 10 })
    let whole = try #require(harness.subscription.takeAll())
    let lifecycle = whole.filter { if case .stepOutput = $0.kind { false } else { true } }
    #expect(
      events.filter {
        switch $0.kind {
        case .stepOutput, .outputDropped: false
        default: true
        }
      } == lifecycle)
  }

  @Test func progressCollapsesLikeOutput() {
    var queue = SubscriberQueue(outputLimitBytes: 1_000)
    for number in 1...100 {
      let progress = RunEvent.Kind.stepProgress(StepAddress("a"), StepProgress(number, of: 100))
      queue.append(RunEvent(sequence: UInt64(number), elapsed: .zero, kind: progress))
    }
    let events = queue.takeAll()
    guard case .outputDropped(let gap)? = events.last?.kind else {
      Issue.record("nothing was dropped")
      return
    }
    #expect(events.count - 1 + gap.count == 100 && gap.sequences.upperBound == 100)
  }

  @Test func resumedSubscriberReceivesOutputAgain() throws {
    let harness = try harness()
    let slow = harness.run.subscribe(outputLimitBytes: 1_000)
    for _ in 0..<100 { harness.executor.write("0123456789\n", from: "s0") }
    _ = slow.takeAll()
    harness.executor.write("again\n", from: "s0")
    #expect(
      slow.takeAll()?.contains { event in
        guard case .stepOutput(_, let output) = event.kind else { return false }
        return output.text == "again"
      } == true)
  }

  @Test("C03: a subscriber that lets go is forgotten")
  func aSubscriberThatLetsGoIsForgotten() throws {
    let harness = try harness()
    var gone: EventSubscription? = harness.run.subscribe()
    weak let weakly = gone
    gone = nil
    #expect(weakly == nil)
    harness.executor.exit("s0")
    #expect(harness.newEvents().last == "run finished: success")
  }

  @Test func anAsynchronousReaderSeesTheEnd() async throws {
    let harness = try harness(steps: 3)
    let reader = Task {
      var kinds = 0
      for await _ in harness.run.subscribe() { kinds += 1 }
      return kinds
    }
    while let step = harness.running.first { harness.executor.exit(step) }
    #expect(await reader.value == 11)
  }

  @Test func aCancelledReaderStopsWaiting() async throws {
    let harness = try harness()
    let reader = Task {
      var last: RunEvent?
      for await event in harness.run.subscribe() { last = event }
      return last
    }
    reader.cancel()
    if case .runFinished = await reader.value?.kind { Issue.record("the run has not finished") }
    harness.executor.exit("s0")
  }
}
