import Testing
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A run that is written and followed in turn.
@Suite struct FollowedRunTests {
  private let scratch: ScratchFolder
  private let state: StateDirectory
  private let run = SampleRecords.run

  init() throws {
    scratch = try ScratchFolder()
    state = try scratch.state()
  }

  /// The reported news, in words.
  private func newEvents(_ followed: inout FollowedRun) -> [String] {
    var reported: [String] = []
    _ = followed.poll { update in
      switch update {
      case .began(let opening, _): reported.append("began \(opening.resumption)")
      case .happened(let events):
        for event in events {
          switch event.kind {
          case .stepOutput(let step, let output):
            let mark = output.ending == .newline ? "" : "…"
            reported.append("\(step): \(output.text)\(mark)")
          default: reported.append(event.kind.traits.type)
          }
        }
      }
    }
    return reported
  }

  private func append(_ text: String, to step: StepAddress) throws {
    let logs = try state.folder(of: run).directory("logs", makes: true)
    try logs.file(LogFolder.fileName(of: step), .makingOrAppending).writeAll(text)
  }

  private func finished(_ step: StepAddress, logBytes: Int) -> RunRecord.Kind {
    .event(
      .stepFinished(
        step,
        StepEnd(
          outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .zero,
          outputBytes: UInt64(logBytes))), keeping: RecordedValues())
  }

  private let end = RunRecord.Kind.event(
    .runFinished(
      RunEnd(
        outcome: .failure, firstFailure: nil, cancellation: nil, duration: .zero,
        counts: OutcomeCounts())))

  private func started(_ step: StepAddress, _ attempt: Int = 1) -> RunRecord.Kind {
    .event(.stepStarted(step, attempt: attempt))
  }

  @Test func recordedEventsAreReportedOnceInOrder() throws {
    let (folder, writer) = try RunFolder.make(in: state)
    var followed = try FollowedRun(run, in: state)
    #expect(newEvents(&followed) == ["began 0"])
    try writer.record(.event(.stepQueued("a")), elapsed: .zero)
    try writer.record(started("a"), elapsed: .zero)
    #expect(newEvents(&followed) == ["step.queued", "step.started"])
    #expect(newEvents(&followed) == [])
    try append("one\ntw", to: "a")
    #expect(newEvents(&followed) == ["a: one"])
    try append("o\nrest", to: "a")
    try writer.record(finished("a", logBytes: 12), elapsed: .zero)
    try writer.record(end, elapsed: .zero)
    #expect(followed.isHeld)
    #expect(
      newEvents(&followed) == ["a: two", "a: rest…", "step.finished", "run.finished"])
    #expect(followed.end?.outcome == .failure)
    _ = folder
  }

  @Test func aRecordThatIsBeingWrittenIsWaitedFor() throws {
    let (_, writer) = try RunFolder.make(in: state)
    writer.close()
    var followed = try FollowedRun(run, in: state)
    #expect(newEvents(&followed) == ["began 0"])
    let line = SampleRecords.lines(of: [.event(.stepQueued("x")), .event(.stepQueued("a"))])[1]
    let journal = try state.folder(of: run).file("journal.jsonl", .appending)
    for part in [line[..<20], line[20..<(line.count - 1)]] {
      try journal.writeAll(Array(part))
      #expect(newEvents(&followed) == [])
    }
    try journal.writeAll("\n")
    #expect(newEvents(&followed) == ["step.queued"])
    #expect(!followed.isHeld)
  }

  @Test func truncatedTornRecordIsNotMissed() throws {
    do {
      let (_, writer) = try RunFolder.make(in: state)
      try writer.record(started("a"), elapsed: .zero)
      writer.close()
    }
    var followed = try FollowedRun(run, in: state)
    try state.folder(of: run).file("journal.jsonl", .appending).writeAll(
      String(repeating: "x", count: 3000))
    #expect(newEvents(&followed) == ["began 0", "step.started"])
    let folder = try RunFolder.open(run, in: state)
    let writer = try folder.append(
      after: try folder.contents(), RecordOpening(run: run, resumption: 1), durability: .process,
      startedAt: SampleRecords.start)
    try writer.record(started("b"), elapsed: .zero)
    #expect(newEvents(&followed) == ["began 1", "step.started"])
  }

  @Test func onlyTheLastEngineIsReported() throws {
    do {
      let (_, writer) = try RunFolder.make(in: state)
      try writer.record(started("a"), elapsed: .zero)
      try append("before\n", to: "a")
      try writer.record(finished("a", logBytes: 7), elapsed: .zero)
      try writer.record(end, elapsed: .zero)
      writer.close()
    }
    let folder = try RunFolder.open(run, in: state)
    let writer = try folder.append(
      after: try folder.contents(), RecordOpening(run: run, resumption: 1), durability: .process,
      startedAt: SampleRecords.start)
    try writer.record(started("a"), elapsed: .zero)
    try append("after\n", to: "a")
    var followed = try FollowedRun(run, in: state)
    #expect(newEvents(&followed) == ["began 1", "step.started", "a: after"])
  }

  @Test func eventsAfterAKilledEngineAreNotMissed() throws {
    do {
      let (_, writer) = try RunFolder.make(in: state)
      try writer.record(started("a"), elapsed: .zero)
      try append("before\n", to: "a")
      writer.close()
    }
    let folder = try RunFolder.open(run, in: state)
    let writer = try folder.append(
      after: try folder.contents(), RecordOpening(run: run, resumption: 1), durability: .process,
      startedAt: SampleRecords.start)
    try writer.record(started("a"), elapsed: .zero)
    try append("after\n", to: "a")
    try writer.record(finished("a", logBytes: 6), elapsed: .zero)
    var followed = try FollowedRun(run, in: state)
    // Output that the first engine left cannot be distinguished from that of the second.
    #expect(
      newEvents(&followed) == ["began 1", "step.started", "a: before", "a: after", "step.finished"])
  }

  @Test func outputOfRepeatedAttemptsIsReportedOnce() throws {
    let (folder, writer) = try RunFolder.make(in: state)
    for (step, cumulative) in [("a", true), ("e[0]", false)] {
      let step = StepAddress(step)
      try writer.record(started(step), elapsed: .zero)
      try append("one\n", to: step)
      try writer.record(finished(step, logBytes: 4), elapsed: .zero)
      try writer.record(started(step), elapsed: .zero)
      try append("two\n", to: step)
      try writer.record(finished(step, logBytes: cumulative ? 8 : 4), elapsed: .zero)
    }
    var followed = try FollowedRun(run, in: state)
    let expected = ["a", "e[0]"].flatMap {
      [
        "step.started", "\($0): one", "step.finished", "step.started", "\($0): two",
        "step.finished",
      ]
    }
    #expect(newEvents(&followed) == ["began 0"] + expected)
    _ = folder
  }

  @Test func outputIsReportedBeforeTheRetry() throws {
    let (folder, writer) = try RunFolder.make(in: state)
    var followed = try FollowedRun(run, in: state)
    try writer.record(started("a"), elapsed: .zero)
    try append("no newline", to: "a")
    try writer.record(.event(.stepRetrying("a", SampleRecords.retry)), elapsed: .zero)
    #expect(newEvents(&followed) == ["began 0", "step.started", "a: no newline…", "step.retrying"])
    try writer.record(started("a", 2), elapsed: .zero)
    try append("\nagain\n", to: "a")
    #expect(newEvents(&followed) == ["step.started", "a: ", "a: again"])
    _ = folder
  }

  @Test("S18: a log that is a link is not read")
  func linkedLogs() throws {
    let (folder, writer) = try RunFolder.make(in: state)
    try writer.record(started("a"), elapsed: .zero)
    try append("x\n", to: "b")
    let logs = "\(state.runs.path)/\(run)/logs"
    #expect(symlink("b.log", "\(logs)/a.log") == 0)
    var followed = try FollowedRun(run, in: state)
    #expect(newEvents(&followed) == ["began 0", "step.started"])
    _ = folder
  }
}
