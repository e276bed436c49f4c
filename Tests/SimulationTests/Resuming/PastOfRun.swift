import WeftExecution
import WeftPlanning

/// What was told of one part of a run, until its engine was killed, left it, or came to its end.
struct RunPart {
  var events: [RunEvent]
  var remains: [String] = []
  var end: RunEnd?
  /// The steps of the workflow that its engine was told to run again.
  var rerunSteps: Set<String> = []
  /// The same for elements.
  var rerunAddresses: Set<StepAddress> = []
}

/// What is recorded of the parts of a run so far.
struct PastOfRun {
  private(set) var run = RecordedRun()
  private var number: UInt64 = 0
  private var parts = 0

  /// One more engine has taken up the run, and this has happened.
  mutating func append(_ events: [RunEvent]) {
    append(.opened(.init(run: RunID("simulated"), resumption: parts)))
    parts += 1
    for event in events where event.kind.isRecorded { append(RunRecord.Kind(event.kind)) }
  }

  /// One more engine has taken up the run, and has recorded this.
  mutating func append(
    _ records: some Sequence<RunRecord.Kind>, rerunning rerun: [StepAddress],
    visiting visit: (RunRecord) -> Void
  ) {
    append(.opened(.init(run: RunID("simulated"), resumption: parts, rerun: rerun)), visit)
    parts += 1
    for record in records { append(record, visit) }
  }

  private mutating func append(_ kind: RunRecord.Kind, _ visit: (RunRecord) -> Void = { _ in }) {
    number += 1
    let record = RunRecord(number: number, at: WallTime(nanoseconds: 0), kind)
    run.apply(record)
    visit(record)
  }
}

extension RunEvent.Kind {
  fileprivate var isRecorded: Bool {
    switch self {
    case .stepWaiting, .stepOutput, .outputDropped, .snapshot: false
    default: true
    }
  }
}
