import Testing
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

@testable import WeftReporting

@Suite struct RunProgressTests {
  private static func progress(_ run: ScriptedRun) -> RunProgress {
    var progress = RunProgress()
    for event in run.events { progress.apply(event, log: run.log) }
    return progress
  }

  private static func tail(_ count: Int) -> OutputTail {
    var tail = OutputTail()
    for line in 1...count { tail.append(Array("line \(line)".utf8)[...]) }
    return tail
  }

  @Test(arguments: [1, 19, 20, 21, 45, 60])
  func aTailHasTheLastLinesInOrder(count: Int) {
    let tail = RunProgressTests.tail(count)
    let lines = tail.lines.map { String(decoding: $0, as: UTF8.self) }
    #expect(lines == (max(1, count - 19)...count).map { "line \($0)" })
    #expect(tail.lineCount == count)
  }

  @Test func theLogGivesTheTailWhenEventsAreMissing() throws {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "seen")
    for line in 1...3000 { run.writeUnseen("a", "missed line \(line)") }
    run.fail("a")
    let tail = try #require(RunProgressTests.progress(run).failures.entries.first).tail
    #expect(tail.lines.count == 20)
    #expect(tail.lines.last == Array("missed line 3000".utf8))
    #expect(tail.lines.first == Array("missed line 2981".utf8))
  }

  @Test func memoryIsBoundedHoweverManyFail() {
    var run = ScriptedRun(steps: 1000)
    for step in 1...1000 {
      run.start("s\(step)")
      run.write("s\(step)", "output")
      run.fail("s\(step)")
    }
    run.finish()
    let progress = RunProgressTests.progress(run)
    #expect(progress.failures.entries.count == FailureList.entryLimit)
    #expect(progress.failures.omitted == 950)
    #expect(progress.failures.entries.count { $0.tail.lineCount > 0 } == FailureList.tailLimit)
    #expect(progress.counts.failed == 1000)
    #expect(progress.running.isEmpty)
  }

  @Test func causeIsListedFirstAndToleratedFailuresLast() {
    var run = ScriptedRun(steps: 4)
    for step in ["tolerated", "early", "cause", "late"] { run.start(step) }
    run.fail("tolerated", isTolerated: true)
    for step in ["early", "cause", "late"] { run.fail(step) }
    let entries = RunProgressTests.progress(run).failures.ordered(cause: StepAddress("cause"))
    #expect(entries.map(\.address.text) == ["cause", "early", "late", "tolerated"])
  }

  @Test func reasonsBeyondTheLimitAreCountedTogether() {
    var skips = SkipList()
    for reason in 0..<25 {
      for step in 0..<2 {
        skips.add(StepAddress("\(reason)-\(step)"), .dependencyFailed(StepAddress("\(reason)")))
      }
    }
    #expect(skips.entries.count == SkipList.reasonLimit)
    #expect(skips.entries.allSatisfy { $0.count == 2 })
    #expect(skips.omitted == 10)
  }

  @Test("a group's next attempt makes skips void", arguments: 1...3)
  func skipsOfEarlierAttemptsAreNotListed(attempts: Int) throws {
    let workflow = Workflow(
      steps: [Step("g", steps: [Step("a", run: "a"), Step("b", run: "b")]).retry(attempts)])
    var progress = RunProgress(shape: RunShape(try #require(Planner.plan(workflow).plan)))
    let group = StepAddress("g")
    var kinds: [RunEvent.Kind] = []
    for attempt in 1...attempts {
      kinds += [
        .groupStarted(group, GroupStart(attempt: attempt)),
        .stepSkipped("b", .cancelled(.groupTimeout(group, .seconds(1)))),
      ]
    }
    kinds.append(
      .groupFinished(
        group,
        GroupEnd(outcome: .failure, conclusion: .failure, failure: nil, cause: nil, duration: .zero)
      ))
    for kind in kinds {
      progress.apply(RunEvent(sequence: 1, elapsed: .zero, kind: kind), log: { _, _ in [] })
      let listed = progress.skips.entries
      if case .stepSkipped = kind { #expect(listed.map(\.count) == [1]) }
      if case .groupStarted = kind { #expect(listed.isEmpty) }
    }
    #expect(progress.skips.entries.map(\.names) == [["b"]])
  }

  @Test func everyReasonHasItsSentence() {
    let step = StepAddress("build")
    let reasons: [(SkipReason, String)] = [
      (.dependencyFailed(step), "because \"build\" failed"),
      (.heldBack(by: step), "because nothing starts after \"build\" failed"),
      (.cancelled(.requested), "before the start (on request)"),
      (.cancelled(.signal("INT")), "before the start (interrupted)"),
      (.cancelled(.signal("TERM")), "before the start (received SIGTERM)"),
      (
        .cancelled(.runTimeout(.seconds(600))),
        "before the start (the run's time limit of 10 m passed)"
      ),
      (
        .cancelled(.groupTimeout(step, .seconds(90))),
        "before the start (the time limit of \"build\", 90 s, passed)"
      ),
      (.cancelled(.failure(of: step)), "before the start (\"build\" failed)"),
    ]
    for (reason, sentence) in reasons { #expect(reason.sentence == sentence) }
  }
}
