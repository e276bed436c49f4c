import Testing
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct RunDetailTests {
  private func detail(of kinds: [RunRecord.Kind]) throws -> RunDetail {
    let scratch = try ScratchFolder()
    let state = try scratch.state()
    let (_, writer) = try RunFolder.make(in: state)
    for kind in kinds { try writer.record(kind, elapsed: .zero) }
    writer.close()
    return try state.detail(of: SampleRecords.run)
  }

  private let start = RunRecord.Kind.event(
    .runStarted(
      RunStart(
        run: SampleRecords.run, workflow: nil, file: nil, startedAt: SampleRecords.start,
        stepCount: 9, groupCount: 1, maxParallel: 2, engineProcess: 99, containment: nil,
        resumption: 0)))

  private func finished(
    _ step: StepAddress, _ outcome: Outcome, because reason: CancelReason? = nil
  ) -> RunRecord.Kind {
    .event(
      .stepFinished(
        step,
        StepEnd(
          outcome: outcome, conclusion: outcome, attempts: 1, exit: nil, cancellation: reason,
          duration: .zero)), keeping: RecordedValues())
  }

  @Test func stepsAreListedInJournalOrder() throws {
    let detail = try detail(of: [
      start, .event(.stepQueued("z")), .event(.stepQueued("a")), finished("a", .success),
      .event(.stepSkipped("m", .notSelected)), finished("z", .success),
    ])
    #expect(detail.recorded.steps.addresses == ["z", "a", "m"])
  }

  @Test func adviceNamesWhatWouldBeDoneAgainAndNothingElse() throws {
    let detail = try detail(of: [
      start, finished("done", .success), finished("failed", .failure),
      finished("stopped", .cancelled, because: .signal("INT")),
      finished("beaten", .cancelled, because: .raceWon("r", by: "done")),
      .event(.stepSkipped("false", .condition(of: "false"))),
      .event(.stepSkipped("held", .heldBack(by: "failed"))), .event(.stepStarted("c", attempt: 1)),
      .listed("each", RecordedElements(elements: [.init(key: "0", value: nil)])),
      finished("each[0]", .success),
    ])
    let advice = ResumeAdvice(detail)
    #expect(advice.again == ["failed", "stopped", "held"])
    #expect(advice.inDoubt == ["c"])
    // Nine steps: seven are mentioned themselves, and one by its elements.
    #expect(advice.unlisted == 1)
  }

  @Test func aWarningThatEachEngineRepeatsIsListedOnce() throws {
    let warning = RunRecord.Kind.event(
      .runWarning(RunWarning(kind: .stateReplaced, message: "another run has replaced it")))
    let detail = try detail(of: [start, warning, .opened(SampleRecords.opening), start, warning])
    #expect(detail.recorded.warnings.count == 1)
  }

  @Test func recordsBeforeTheDamageAreRead() throws {
    let scratch = try ScratchFolder()
    let state = try scratch.state()
    let (_, writer) = try RunFolder.make(in: state)
    for kind in [finished("a", .success), finished("b", .success), finished("c", .success)] {
      try writer.record(kind, elapsed: .zero)
    }
    writer.close()
    let folder = try state.folder(of: SampleRecords.run)
    var bytes = try folder.bytes(of: "journal.jsonl", limit: 1 << 20)
    bytes[bytes.count * 3 / 4] ^= 1
    try folder.remove("journal.jsonl")
    try folder.write(bytes, to: "journal.jsonl", surviving: false)
    let detail = try state.detail(of: SampleRecords.run)
    #expect(detail.state == .damaged)
    #expect(
      detail.recorded.steps.addresses.first == "a" && !detail.recorded.steps.addresses.contains("c")
    )
    #expect(detail.damage?.message.contains("checksum") == true)
  }

  @Test func everyRecordCanBeTold() throws {
    let detail = try detail(of: Array(SampleRecords.kinds.dropFirst()))
    let text = String(decoding: RunDetailJSON.rendered(detail), as: UTF8.self)
    #expect(text.contains("\"state\": \"failure\""))
    #expect(text.contains("deploy[eu/west"))
    // A secret value is not recorded, but its name is.
    #expect(text.contains("\"secretOutputs\""))
  }
}
