import WeftDefinition
public import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord
@testable import WeftReports

/// A journal that a test writes, and the run that reports read from it.
struct Journal {
  static let run = RunID("20261121-151337-4f2a9c")
  static let start = WallTime(nanoseconds: 1_795_274_017_000_000_000)

  private(set) var records: [RunRecord] = []
  private var logs: [StepAddress: String] = [:]
  /// The time between engines.
  private var idle = Duration.zero

  init(
    slots: Int = 2, name: String? = "release", file: String? = nil, hash: String? = nil,
    nested: [RecordedFile] = [], inputs: [ReportedOutput] = []
  ) {
    open(slots: slots, 0, name: name, file: file, hash, nested, inputs)
  }

  private mutating func open(
    slots: Int, _ resumption: Int, at milliseconds: Int = 0, name: String? = nil,
    file: String? = nil, _ hash: String? = nil, _ nested: [RecordedFile] = [],
    _ inputs: [ReportedOutput] = []
  ) {
    add(
      .opened(
        RecordOpening(
          run: Journal.run, resumption: resumption, workflow: name, file: file, hash: hash,
          nested: nested, inputs: inputs)),
      at: milliseconds)
    add(
      .event(
        .runStarted(
          RunStart(
            run: Journal.run, workflow: name, file: file, startedAt: Journal.start, stepCount: 9,
            groupCount: 0, maxParallel: slots, engineProcess: 9, containment: nil,
            resumption: resumption))), at: milliseconds)
  }

  /// Another engine continues the run an hour later; times still count from the first start.
  mutating func resume(at milliseconds: Int, slots: Int = 2) {
    idle += .seconds(3600)
    open(slots: slots, 1, at: milliseconds)
  }

  mutating func add(_ kind: RunRecord.Kind, at milliseconds: Int) {
    records.append(
      RunRecord(
        number: UInt64(records.count + 1),
        at: Journal.start.advanced(by: .milliseconds(milliseconds) + idle), kind))
  }

  mutating func add(_ event: RunEvent.Kind, at milliseconds: Int) {
    add(.event(event), at: milliseconds)
  }

  /// A step that is queued, started and finished at these times.
  mutating func step(
    _ step: StepAddress, queued: Int, started: Int, ended: Int, _ outcome: Outcome = .success,
    pools: [PoolRequest] = [], log: String? = nil
  ) {
    add(.stepQueued(step, waitingFor: pools), at: queued)
    add(.stepStarted(step, attempt: 1), at: started)
    add(.stepFinished(step, Journal.end(outcome, after: ended - started)), at: ended)
    logs[step] = log
  }

  mutating func finish(_ outcome: Outcome, at milliseconds: Int, first: StepAddress? = nil) {
    add(
      .runFinished(
        RunEnd(
          outcome: outcome, firstFailure: first, cancellation: nil,
          duration: .milliseconds(milliseconds), counts: OutcomeCounts())), at: milliseconds)
  }

  mutating func log(_ step: StepAddress, _ text: String) { logs[step] = text }

  static let failure = StepFailure(
    classes: [.exit(3), .exit], message: "exited with code 3", help: "look")

  static func end(
    _ outcome: Outcome, after milliseconds: Int, conclusion: Outcome? = nil,
    because reason: CancelReason? = nil, attempts: Int = 1
  ) -> StepEnd {
    StepEnd(
      outcome: outcome, conclusion: conclusion ?? outcome, attempts: attempts, exit: nil,
      failure: outcome == .failure ? failure : nil, cancellation: reason,
      duration: .milliseconds(milliseconds))
  }

  static func retry(_ attempt: Int, after milliseconds: Int, delay: Int) -> Retry {
    Retry(
      attempt: attempt, of: 3, failure: failure, exit: nil, duration: .milliseconds(milliseconds),
      delay: .milliseconds(delay), usage: nil)
  }

  // MARK: Reading

  var builder: TimelineBuilder {
    var builder = TimelineBuilder()
    for record in sorted { builder.apply(record) }
    return builder
  }

  /// The records in order of time, as an engine writes them; ends before starts.
  private var sorted: [RunRecord] {
    records.enumerated().sorted {
      ($0.element.at.nanoseconds, $0.element.kind.rank, $0.offset)
        < ($1.element.at.nanoseconds, $1.element.kind.rank, $1.offset)
    }.enumerated().map { RunRecord(number: UInt64($0 + 1), at: $1.element.at, $1.element.kind) }
  }

  func timeline(pools: [String: Int] = [:]) -> RunTimeline {
    RunTimeline(builder, capacities: pools)
  }

  func reported(
    _ plan: Plan? = nil, isLive: Bool = false, damage: JournalError? = nil,
    mask: SecretMask = .none, definition: Plan? = nil,
    history: DurationHistory = DurationHistory(), missingLogs: Set<StepAddress> = []
  ) -> ReportedRun {
    var state = RunState()
    for record in sorted { state.apply(record) }
    let detail = RunDetail(
      Journal.run, damage == nil ? state.state(isHeld: isLive) : .damaged, state,
      damage: damage, folder: ".weft/runs/\(Journal.run)")
    let logs = logs
    return ReportedRun(
      detail, builder, plan, mask: mask, definition: definition, history: history,
      words: Journal.run.text, hasLog: { !missingLogs.contains($0) },
      readEnd: { step, limit in
        logs[step].map { text in
          let bytes = Array(text.utf8)
          return LogEnd(Array(bytes.suffix(limit)), isWhole: bytes.count <= limit)
        }
      })
  }
}

extension RunRecord.Kind {
  fileprivate var rank: Int {
    switch self {
    case .opened: 0
    case .event(.runStarted, _): 1
    case .event(.stepFinished, _), .event(.stepRetrying, _): 2
    case .event(.runFinished, _): 4
    default: 3
    }
  }
}

extension RunTimeline {
  subscript(_ step: StepAddress) -> Step { steps.first { $0.address == step }! }
}

extension StepAddress: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}
