package import WeftPlanning

/// The report of the engine that wrote last, made again of the records of a run.
package struct RecordedReport {
  private let plan: Plan
  private let indices: [StepAddress: Int]
  private var fold: ReportFold
  private var startedAt = WallTime(nanoseconds: 0)
  private var hasBegun = false

  package init(of plan: Plan) {
    self.plan = plan
    indices = Dictionary(
      plan.steps.enumerated().map { ($0.element.address, $0.offset) },
      uniquingKeysWith: { first, _ in first })
    fold = ReportFold(plan: plan)
  }

  /// What is known by now; `nil` before the engine has begun.
  package var value: RunReport? { fold.report }

  package mutating func apply(_ record: RunRecord) {
    let elapsed = max(.zero, record.at.since(startedAt))
    switch record.kind {
    case .opened:
      fold = ReportFold(plan: plan)
      startedAt = record.at
      hasBegun = false
    case .event(let event): apply(event, of: record.kind.step, at: elapsed)
    case .finished(let step, let end, _):
      apply(.stepFinished(step, end), of: step, at: elapsed)
    case .cached(let step, let end, _): apply(.stepCached(step, end), of: step, at: elapsed)
    case .waiting(let step, let moment):
      let delay = max(.zero, moment.since(record.at))
      apply(.stepWaiting(step, for: delay), of: step, at: elapsed)
    case .spawned, .kept, .listed: break
    }
  }

  private mutating func apply(
    _ event: RunEvent.Kind, of step: StepAddress?, at elapsed: Duration
  ) {
    if case .runStarted = event { hasBegun = true }
    // A journal can tell of steps before the run has begun; an engine does not.
    if hasBegun { fold.apply(event, at: elapsed, step: step.flatMap { indices[$0] }) }
  }
}
