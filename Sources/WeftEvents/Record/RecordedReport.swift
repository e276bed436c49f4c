package import WeftPlanning

/// Rebuilds the report of the previous engine from the records of a run.
///
/// Steps that an earlier engine recorded, and that the previous one kept as they ended, have no record of their own
/// in its part of the journal. The report shows them as restored.
package struct RecordedReport {
  private let plan: Plan
  private let indices: [StepAddress: Int]
  private var fold: ReportFold
  private var startedAt = WallTime(nanoseconds: 0)
  private var hasBegun = false
  private var recorded = RecordedRun()

  package init(of plan: Plan) {
    self.plan = plan
    indices = Dictionary(
      plan.steps.enumerated().map { ($0.element.address, $0.offset) },
      uniquingKeysWith: { first, _ in first })
    fold = ReportFold(plan: plan)
  }

  /// The report so far; `nil` before the engine started the run.
  package var value: RunReport? { fold.report }

  package mutating func apply(_ record: RunRecord) {
    let elapsed = max(.zero, record.at.since(startedAt))
    recorded.apply(record)
    switch record.kind {
    case .opened:
      fold = ReportFold(plan: plan)
      startedAt = record.at
      hasBegun = false
    case .event(let event, _):
      if case .runFinished = event { restore(at: elapsed) }
      apply(event, at: elapsed)
    case .waiting(let step, let moment):
      let delay = max(.zero, moment.since(record.at))
      apply(.stepWaiting(step, for: delay), at: elapsed)
    case .spawned, .kept, .listed, .groupSkipped, .outdated: break
    }
  }

  private mutating func restore(at elapsed: Duration) {
    let restored = recorded.steps.filter { address, step in
      step.engine < recorded.resumptions && !step.isOutdated && !recorded.isInDoubt(address)
    }
    for (address, step) in restored.sorted(by: { $0.value.number < $1.value.number }) {
      guard case .finished(let end, _) = step.state else { continue }
      apply(.stepRestored(address, end), at: elapsed)
    }
  }

  private mutating func apply(_ event: RunEvent.Kind, at elapsed: Duration) {
    if case .runStarted = event { hasBegun = true }
    // A journal can contain records of steps from before `runStarted`; an engine emits no such events.
    if hasBegun { fold.apply(event, at: elapsed, step: event.step.flatMap { indices[$0] }) }
  }
}
