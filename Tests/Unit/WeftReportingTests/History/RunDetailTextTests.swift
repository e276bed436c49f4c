import Testing
import WeftDefinition
import WeftJSON
public import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord
@testable import WeftReporting

@Suite struct RunDetailTextTests {
  private static let id = RunID("20261121-151337-4f2a9c")
  private static let start = WallTime(nanoseconds: 1_795_274_017_123_000_000)
  private static let failure = StepFailure(
    classes: [.exit(3), .exit], message: "exited with code 3", help: "look\u{1B}[2J")

  private static func end(
    _ outcome: Outcome, _ conclusion: Outcome? = nil, attempts: Int = 1, bytes: UInt64 = 0,
    because reason: CancelReason? = nil, outputs: [ReportedOutput] = []
  ) -> RunRecord.Kind {
    .event(
      .stepFinished(
        "x",
        StepEnd(
          outcome: outcome, conclusion: conclusion ?? outcome, attempts: attempts, exit: nil,
          failure: outcome == .failure ? failure : nil, cancellation: reason,
          duration: .milliseconds(1200), outputBytes: bytes, outputs: outputs)),
      keeping: RecordedValues())
  }

  private static func of(_ step: StepAddress, _ kind: RunRecord.Kind) -> RunRecord.Kind {
    guard case .event(.stepFinished(_, let end), let kept) = kind else { return kind }
    return .event(.stepFinished(step, end), keeping: kept)
  }

  private static let opening = RunRecord.Kind.opened(
    RecordOpening(run: id, workflow: "rel\u{1B}ease", file: "w.json"))

  private static let steps: [RunRecord.Kind] = [
    .event(
      .runStarted(
        RunStart(
          run: id, workflow: nil, file: nil, startedAt: start, stepCount: 12, groupCount: 0,
          maxParallel: 2, engineProcess: 99, containment: nil, resumption: 0))),
    of(
      "build",
      end(
        .success, bytes: 10,
        outputs: [
          ReportedOutput(name: "words", value: .array([.string("one"), .int(2)])),
          ReportedOutput(name: "token", value: .none),
          ReportedOutput(name: "long", value: .string(String(repeating: "x", count: 300))),
        ])),
    of("test[eu west]", end(.failure, attempts: 2, bytes: 20)),
    of("lint", end(.failure, .success)),
    of("slow", end(.cancelled, because: .signal("INT"))),
    .event(.stepSkipped("deploy", .dependencyFailed("test[eu west]"))),
    .event(.stepSkipped("only", .condition(of: "only"))),
    .event(.stepQueued("next")), .event(.stepStarted("now", attempt: 2)),
    .event(.stepStarted("job", attempt: 1, job: .slurm)),
    .event(.stepStarted("begun", attempt: 1, job: .slurm)),
    .event(.stepBegun("begun", attempt: 1)),
    .event(
      .stepRetrying(
        "again",
        Retry(
          attempt: 1, of: 3, failure: failure, exit: nil, duration: .seconds(1),
          delay: .seconds(2), usage: nil))),
  ]

  private static func finish(_ outcome: Outcome) -> RunRecord.Kind {
    .event(
      .runFinished(
        RunEnd(
          outcome: outcome, firstFailure: outcome == .success ? nil : "test[eu west]",
          cancellation: outcome == .cancelled ? .signal("INT") : nil, duration: .seconds(3),
          counts: OutcomeCounts(),
          outputs: outcome == .success
            ? [
              ReportedOutput(name: "count", value: .int(3)),
              ReportedOutput(name: "key", value: .none),
            ] : [])))
  }

  private static func detail(
    _ state: RecordedState, _ kinds: [RunRecord.Kind], damage: JournalError? = nil
  ) -> RunDetail {
    var past = RunState()
    for (index, kind) in kinds.enumerated() {
      past.apply(
        RunRecord(
          number: UInt64(index + 1), at: start.advanced(by: .milliseconds(index)), kind))
    }
    return RunDetail(
      id, state, past, damage: damage, folder: ".weft/runs/\(id)")
  }

  private static let details: [(name: String, detail: RunDetail)] = [
    ("success", detail(.success, [opening, of("a", end(.success)), finish(.success)])),
    ("failure", detail(.failure, [opening] + steps + [finish(.failure)])),
    (
      "resumed",
      detail(
        .cancelled,
        [opening] + steps
          + [.opened(RecordOpening(run: id, resumption: 1))] + steps.prefix(2) + [
            finish(.cancelled)
          ])
    ),
    ("interrupted", detail(.interrupted, [opening] + steps)),
    ("running", detail(.running, [opening] + steps)),
    (
      "damaged",
      detail(
        .damaged, [opening] + steps.prefix(3),
        damage: JournalError(kind: .checksum, file: "j\u{1B}", line: 4, offset: 99))
    ),
  ]

  @Test(
    "S18: what a record says is shown whole, and moves no terminal's cursor",
    arguments: details.map(\.name))
  func hostileRecordTextIsShownHarmlessly(name: String) throws {
    let detail = try #require(RunDetailTextTests.details.first { $0.name == name }?.detail)
    let text = RunDetailText(
      DisplaySettings(mode: .plain), run: "\(RunDetailTextTests.id)", now: WallTime(nanoseconds: 0)
    ).rendered(detail)
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    #expect(Golden("../Golden/history/show-\(name).txt").mismatch(with: text) == nil)
  }

  @Test func programsGetAllThatIsKnown() throws {
    let detail = try #require(RunDetailTextTests.details.first { $0.name == "failure" }?.detail)
    let json = RunDetailJSON.rendered(detail)
    #expect(Golden("../Golden/history/show-failure.json").mismatch(with: json) == nil)
  }
}

extension StepAddress: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}
