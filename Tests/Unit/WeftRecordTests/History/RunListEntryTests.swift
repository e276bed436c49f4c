import Testing
import WeftJSON
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct RunListEntryTests {
  private let scratch: ScratchFolder
  private let state: StateDirectory
  private let run = SampleRecords.run

  init() throws {
    scratch = try ScratchFolder()
    state = try scratch.state()
  }

  private func end(
    _ outcome: Outcome, outputs: [ReportedOutput] = [], succeeded: Int = 2
  ) -> RunRecord.Kind {
    .event(
      .runFinished(
        RunEnd(
          outcome: outcome, firstFailure: nil, cancellation: nil, duration: .seconds(3),
          counts: OutcomeCounts(
            succeeded: succeeded, failed: 1, tolerated: 0, cancelled: 0, skipped: 0),
          outputs: outputs)))
  }

  private func record(_ kinds: RunRecord.Kind...) throws {
    let (_, writer) = try RunFolder.make(in: state)
    for kind in kinds { try writer.record(kind, elapsed: .seconds(1)) }
    writer.close()
  }

  private func replaceJournal(_ change: (inout [UInt8]) -> Void) throws {
    let folder = try state.folder(of: run)
    var bytes = try folder.bytes(of: "journal.jsonl", limit: 8 << 20)
    change(&bytes)
    try folder.remove("journal.jsonl")
    try folder.write(bytes, to: "journal.jsonl", surviving: false)
  }

  @Test(arguments: [
    (Outcome.success, RecordedState.success), (.failure, .failure), (.cancelled, .cancelled),
  ])
  func aRunThatHasEndedIsWhatItsLastRecordSays(outcome: Outcome, expected: RecordedState) throws {
    try record(.event(.stepQueued("a")), end(outcome))
    let glance = try #require(state.glance(at: run))
    #expect(glance.state == expected)
    #expect(glance.duration == .seconds(3))
    #expect(glance.counts.succeeded == 2)
    #expect(glance.counts.done == 3)
    #expect(glance.startedAt == SampleRecords.start)
  }

  @Test func anEngineThatHasTheRunMakesItRunning() throws {
    let (folder, writer) = try RunFolder.make(in: state)
    try writer.record(.event(.stepStarted("a", attempt: 1)), elapsed: .zero)
    #expect(state.glance(at: run)?.state == .running)
    #expect(try state.detail(of: run).state == .running)
    _ = folder
  }

  @Test func runWithoutEngineAndEndIsInterrupted() throws {
    try record(
      .event(.stepSkipped("b", .notSelected)), .event(.stepQueued("a")),
      .event(.stepFinished("a", SampleRecords.wholeEnd), keeping: RecordedValues()))
    let glance = try #require(state.glance(at: run))
    #expect(glance.state == .interrupted)
    #expect(glance.counts.tolerated == 1)
    #expect(glance.counts.skipped == 1)
  }

  @Test func runResumedAfterItsEndHasNotEnded() throws {
    try record(end(.failure))
    let folder = try RunFolder.open(run, in: state)
    let writer = try folder.append(
      after: try folder.contents(), RecordOpening(run: run, resumption: 1), durability: .process,
      startedAt: SampleRecords.start)
    #expect(state.glance(at: run)?.state == .running)
    writer.close()
  }

  @Test(
    "what has ended is known by the last record, however long that is",
    arguments: [100, 20 << 10, 3 << 20])
  func longEnds(count: Int) throws {
    let text = String(repeating: "x", count: count)
    try record(
      .event(.stepQueued("a")),
      end(.success, outputs: [ReportedOutput(name: "o", value: .string(text))]))
    #expect(state.glance(at: run)?.state == .success)
  }

  @Test func tornRecordAfterTheEndChangesNothing() throws {
    try record(end(.success))
    try replaceJournal { $0 += Array("{\"n\":3,".utf8) }
    #expect(state.glance(at: run)?.state == .success)
  }

  @Test(
    "J24, S18: a run that cannot be read is told of with the reason, and hides no other",
    arguments: [
      ("removed", "no such file"), ("empty", "is empty"), ("garbage", "no complete first record"),
      ("newer", "written by weft"), ("flipped", "checksum"), ("stranger", "a different run"),
      ("link", "symbolic link"), ("open", "not a directory"),
    ])
  func damage(kind: String, reason: String) throws {
    try record(.event(.stepQueued("a")), .event(.stepQueued("b")))
    let other = RunID("20261121-000000-000002")
    do { _ = try RunFolder.make(in: state, run: other) }
    try damage(kind)
    let glance = try #require(state.glance(at: run))
    #expect(glance.state == .damaged)
    #expect(glance.damage?.contains(reason) == true, "\(glance.damage ?? "")")
    #expect(state.glance(at: other)?.state == .interrupted)
    #expect(state.ids == [other, run])
  }

  private func damage(_ kind: String) throws {
    switch kind {
    case "removed": try state.folder(of: run).remove("journal.jsonl")
    case "empty": try replaceJournal { $0 = [] }
    case "garbage": try replaceJournal { $0 = Array("nonsense\n\u{1B}[2J".utf8) }
    case "newer": try replaceJournal { $0 = RunListEntryTests.newer }
    case "flipped": try replaceJournal { $0[$0.count / 2] ^= 1 }
    case "stranger":
      let line = SampleRecords.lines(of: [
        .opened(RecordOpening(run: RunID("20200101-000000-000000")))
      ])[0]
      try replaceJournal { $0 = line }
    case "link", "open":
      state.runs.removeDirectory(run.text)
      let path = "\(state.runs.path)/\(run.text)"
      if kind == "link" {
        #expect(symlink(scratch.path, path) == 0)
      } else {
        try state.runs.write([], to: run.text, surviving: false)
      }
    default: Issue.record("\(kind)")
    }
  }

  /// The first line of a journal by a later weft.
  private static let newer: [UInt8] = {
    let line = String(decoding: SampleRecords.lines[0].dropLast(19), as: UTF8.self)
    let parts = line.split(separator: "\"format\":\(RecordOpening.currentFormat)", maxSplits: 1)
    return Forgery.line(
      Array("\(parts[0])\"format\":\(RecordOpening.currentFormat + 1)\(parts[1])".utf8)) + [
        UInt8(ascii: "\n")
      ]
  }()

  @Test func aRunThatIsGoneIsNotTold() { #expect(state.glance(at: run) == nil) }

  @Test("J12: who looks at a run keeps no engine from it")
  func readingARunDoesNotLockIt() async throws {
    do { _ = try RunFolder.make(in: state) }
    let (state, run) = (state, run)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask { for _ in 0..<500 { _ = state.glance(at: run) } }
      }
      group.addTask {
        for _ in 0..<300 { _ = try RunFolder.open(run, in: state) }
      }
      try await group.waitForAll()
    }
  }

  @Test func runsOfTheSameSecondAreOrderedByTheirRecords() throws {
    let texts = [
      "121-151337-ffffff", "121-151337-aaaaaa", "121-151337-cccccc", "120-000000-eeeeee",
    ]
    let ids = texts.map { RunID("20261\($0)") }
    for (index, id) in ids.enumerated() {
      _ = try RunFolder.make(
        RunFolder.Contents(workflow: nil, opening: RecordOpening(run: id)), in: state,
        durability: .process, startedAt: SampleRecords.start.advanced(by: .milliseconds(index)))
    }
    #expect(state.newestFirst() == [ids[2], ids[1], ids[0], ids[3]])
    #expect(state.newestFirst(atMost: 1) == [ids[2]])
  }

  @Test func runIDContainsItsStartTime() {
    #expect(
      RunID("20261121-151337-4f2a9c").startedAt
        == WallTime(nanoseconds: 1_795_274_017_000_000_000))
    #expect(RunID("20261321-151337-4f2a9c").startedAt == nil)
    #expect(RunID("x").startedAt == nil)
  }
}
