import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// The events of one part of a run, until its engine was killed, suspended it, or finished it.
struct RunPart {
  var events: [RunEvent]
  /// The attempts that were made, also after its engine was killed.
  var attempts: [ScriptedWorld.Record] = []
  var leaks: [String] = []
  var end: RunEnd?
  /// The steps of the workflow that its engine was asked to rerun.
  var rerunSteps: Set<String> = []
  /// The elements that its engine was asked to rerun.
  var rerunAddresses: Set<StepAddress> = []
  /// The steps in doubt that its engine was asked to count as done.
  var accepted: Set<StepAddress> = []
  /// The answers that were left for its engine before the part.
  var answers: [ControlRequest] = []
  /// The steps that resume lists as in doubt before the part.
  var interrupted: Set<StepAddress> = []

  /// The steps that were recorded as in doubt before the part and are not rerun on request, also losers of races.
  var inDoubt: Set<StepAddress> = []

  /// The steps that the part reports as in doubt. They are reported as started, but are not run.
  var doubted: Set<StepAddress> {
    Set(
      events.compactMap { event in
        switch event.kind {
        case .stepFinished(let address, let end)
        where end.failure?.classes.contains(.inDoubt) == true:
          address
        // The engine was killed before it reported that.
        case .stepStarted(let address, _, _)
        where self.end == nil && inDoubt.contains(address)
          && !attempts.contains { $0.address == address && $0.startedAt == event.elapsed }:
          address
        default: nil
        }
      })
  }
}

/// The recorded past of the parts of a run so far.
struct RunHistory {
  private(set) var run = RunState()
  private var number: UInt64 = 0
  private var parts = 0

  /// Appends what a further engine recorded of a run, until it was killed after a number of events.
  mutating func append(_ simulation: Simulation, until count: Int) {
    append(
      simulation.records.prefix { $0.eventsBefore < count }.map(\.kind), rerunning: [],
      visiting: { _ in })
  }

  /// Appends the records of a further engine that resumed the run.
  mutating func append(
    _ records: some Sequence<RunRecord.Kind>, rerunning rerun: [StepAddress],
    visiting visit: (RunRecord) -> Void
  ) {
    append(.opened(.init(run: RunID("simulated"), resumption: parts, rerun: rerun)), visit)
    parts += 1
    for record in records { append(record, visit) }
  }

  private mutating func append(_ kind: RunRecord.Kind, _ visit: (RunRecord) -> Void) {
    number += 1
    let record = RunRecord(number: number, at: WallTime(nanoseconds: 0), kind)
    run.apply(record)
    visit(record)
  }
}
