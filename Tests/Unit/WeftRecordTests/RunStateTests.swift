import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RunStateTests {
  private let success = StepEnd(
    outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .zero)

  private func run(_ kinds: [RunRecord.Kind]) -> RunState {
    var run = RunState()
    for (index, kind) in kinds.enumerated() {
      run.apply(
        RunRecord(
          number: UInt64(index + 1), at: SampleRecords.start.advanced(by: .seconds(index)), kind))
    }
    return run
  }

  @Test func aStepStandsWhereItsLastRecordSays() {
    let run = run([
      .opened(SampleRecords.opening), .event(.stepQueued("a")), .event(.stepQueued("b")),
      .event(.stepStarted("a", attempt: 1)), .event(.stepQueued("c")),
      .spawned("a", attempt: 1, ProcessIdentity(id: 7, startTicks: 9)),
      .event(.stepStarted("b", attempt: 1)),
      .event(.stepFinished("b", success), keeping: RecordedValues(stdout: .text("x"))),
      .event(.stepStarted("d", attempt: 1)), .event(.stepRetrying("d", SampleRecords.retry)),
      .event(.stepSkipped("e", .notSelected)),
    ])
    #expect(run.opening == SampleRecords.opening)
    #expect(run.startedAt == SampleRecords.start)
    #expect(run.step("a")?.state == .started(attempt: 1))
    #expect(run.step("a")?.process == ProcessIdentity(id: 7, startTicks: 9))
    #expect(run.step("b")?.state == .finished(success, RecordedValues(stdout: .text("x"))))
    #expect(run.step("c")?.state == .queued)
    #expect(run.step("d")?.state == .retrying(SampleRecords.retry))
    #expect(run.step("e")?.state == .skipped(.notSelected))
    #expect(run.step("f") == nil)
    #expect(run.inDoubt == ["a"])
    #expect(run.end == nil)
  }

  @Test("X16: what an attempt left for good is known by the engine that ran it")
  func keptRests() {
    var second = RecordOpening(run: SampleRecords.run, resumption: 1)
    second.cookie = EngineCookie("ff112233445566778899aabbccddeeff")
    let run = run([
      .opened(SampleRecords.opening), .kept("a", attempt: 2), .kept("b[x]", attempt: 1),
      .opened(second), .kept("a", attempt: 1),
      // The record of a Weft that gave its programs no cookie.
      .opened(RecordOpening(run: SampleRecords.run, resumption: 2)), .kept("c", attempt: 1),
    ])
    #expect(run.engines.map(\.cookie) == [SampleRecords.cookie, second.cookie])
    #expect(
      run.engines.map(\.kept) == [
        [AttemptName(step: "a", number: 2), AttemptName(step: "b[x]", number: 1)],
        [AttemptName(step: "a", number: 1)],
      ])
    #expect(run.engines.map(\.process) == [SampleRecords.opening.engine, second.engine])
  }

  @Test func stepStaysInDoubtUntilAnAttemptEnds() {
    var kinds: [RunRecord.Kind] = [
      .opened(SampleRecords.opening), .event(.stepStarted("a", attempt: 1)),
      .opened(RecordOpening(run: SampleRecords.run, resumption: 1)), .event(.stepQueued("a")),
    ]
    #expect(run(kinds).inDoubt == ["a"])
    let left = StepEnd(
      outcome: .failure, conclusion: .failure, attempts: 1, exit: nil,
      failure: StepFailure(classes: [.inDoubt], message: "may have run"), duration: .zero)
    kinds.append(.event(.stepFinished("a", left), keeping: RecordedValues()))
    kinds.append(.opened(RecordOpening(run: SampleRecords.run, resumption: 2)))
    #expect(run(kinds).inDoubt == ["a"])
    kinds.append(.event(.stepStarted("a", attempt: 1)))
    #expect(run(kinds).inDoubt == ["a"])
    #expect(run(kinds).step("a")?.engine == 2)
    kinds.append(.event(.stepFinished("a", success), keeping: RecordedValues()))
    #expect(run(kinds).inDoubt == [])
    #expect(run(kinds).resumptions == 2)
  }

  @Test func recordsBeforeAGroupsAttemptAreVoid() throws {
    let run = run([
      .opened(SampleRecords.opening),
      .event(.groupStarted("g", GroupStart(attempt: 1))), .event(.stepStarted("a", attempt: 1)),
      .event(.stepFinished("a", success), keeping: RecordedValues()),
      .event(.groupRetrying("g", SampleRecords.retry)),
      .event(.groupStarted("g", GroupStart(attempt: 2))), .event(.stepStarted("b", attempt: 1)),
    ])
    let begun = try #require(run.group("g")).startedBy
    #expect(begun == 5)
    #expect(run.step("a", since: begun) == nil)
    #expect(run.step("a") != nil)
    #expect(run.step("b", since: begun)?.isInDoubt == true)
  }

  @Test func listedElementsAreKept() {
    let elements = RecordedElements(elements: [.init(key: "k", value: .string("v"))])
    let end = GroupEnd(
      outcome: .success, conclusion: .success, failure: nil, cause: nil, duration: .zero)
    let run = run([
      .opened(SampleRecords.opening), .listed("g", elements),
      .event(.groupStarted("g", GroupStart(elements: 1))), .event(.groupFinished("g", end)),
    ])
    #expect(run.group("g")?.elements == elements)
    #expect(run.group("g")?.state == .finished(end))
  }

  @Test func aLoopThatIsListedIsNoLongerSkipped() {
    let elements = RecordedElements(elements: [.init(key: "k", value: .string("v"))])
    let records: [RunRecord.Kind] = [
      .opened(SampleRecords.opening), .event(.stepSkipped("g", .dependencyFailed("a"))),
      .listed("g", elements),
    ]
    #expect(run(Array(records.prefix(2))).step("g") != nil)
    #expect(run(records).step("g") == nil)
  }

  @Test func aServiceKeepsTheTimeUntilItWasReady() {
    func end(_ seconds: Int) -> StepEnd {
      StepEnd(
        outcome: .success, conclusion: .success, attempts: 1, exit: nil, duration: .seconds(seconds)
      )
    }
    var records: [RunRecord.Kind] = [
      .opened(SampleRecords.opening), .event(.stepQueued("db")),
      .event(.stepStarted("db", attempt: 1)), .event(.stepReady("db", end(2))),
      .event(.stepStarted("db", attempt: 2)), .event(.stepReady("db", end(5))),
    ]
    #expect(run(records).step("db")?.readyAfter == .seconds(2))
    records.append(.event(.stepFinished("db", end(9))))
    #expect(run(records).step("db")?.readyAfter == .seconds(2))
    records.append(.event(.stepStarted("db", attempt: 1)))
    #expect(run(records).step("db")?.readyAfter == nil)
  }

  @Test func aWaitKeepsItsEndOverEngines() {
    let moment = WallTime(nanoseconds: 5)
    let run = run([
      .opened(SampleRecords.opening), .event(.stepQueued("w")),
      .event(.stepStarted("w", attempt: 1)), .waiting("w", until: moment),
      .opened(RecordOpening(run: SampleRecords.run, resumption: 1)),
    ])
    #expect(run.step("w")?.waitsUntil == moment)
  }

  @Test func aQuestionThatIsAskedAgainHasNoEarlierEnd() {
    let asks: [RunRecord.Kind] = [
      .event(.stepStarted("q", attempt: 1)), .event(.stepAsking("q", message: "?")),
    ]
    let moment = WallTime(nanoseconds: 5)
    let first = [.opened(SampleRecords.opening)] + asks + [.waiting("q", until: moment)]
    #expect(run(first).step("q")?.isTooLate(at: WallTime(nanoseconds: 6)) == true)
    #expect(run(first).step("q")?.isTooLate(at: moment) == false)
    #expect(run(first + asks).step("q")?.waitsUntil == nil)
  }

  @Test func aRunThatIsTakenUpAgainHasNotEnded() {
    let end = RunEnd(
      outcome: .failure, firstFailure: "a", cancellation: nil, duration: .zero,
      counts: OutcomeCounts())
    var kinds: [RunRecord.Kind] = [
      .opened(SampleRecords.opening), .event(.runCancelling(.requested)), .event(.runFinished(end)),
    ]
    #expect(run(kinds).end == end)
    #expect(run(kinds).cancellation == .requested)
    kinds.append(.opened(RecordOpening(run: SampleRecords.run, resumption: 1)))
    #expect(run(kinds).end == nil)
    #expect(run(kinds).cancellation == nil)
    #expect(run(kinds).opening == SampleRecords.opening)
  }

  @Test("J23: what it holds grows with steps, and not with records")
  func memoryByStepsAndNotByRecords() {
    var run = RunState()
    run.apply(RunRecord(number: 1, at: SampleRecords.start, .opened(SampleRecords.opening)))
    for number in 2..<20_000 as Range<UInt64> {
      let kind = RunRecord.Kind.event(
        number % 2 == 0 ? .stepStarted("a", attempt: 1) : .stepRetrying("a", SampleRecords.retry))
      run.apply(RunRecord(number: number, at: SampleRecords.start, kind))
    }
    #expect(run.steps.count == 1)
    #expect(run.groups.isEmpty)
  }
}
