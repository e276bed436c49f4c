import WeftPlanning

/// Folds the events of a run into what is known of it.
struct ReportFold {
  private let plan: Plan
  /// `nil` before `runStarted`.
  private(set) var report: RunReport?
  /// The last event of all, once it has happened.
  private(set) var finish: RunEvent?

  init(plan: Plan) {
    self.plan = plan
  }

  /// - Parameter step: The index of the step that the event is about.
  mutating func apply(_ event: RunEvent, step: Int?) {
    switch event.kind {
    case .runStarted(let start):
      report = RunReport(
        start: start,
        steps: plan.steps.map { StepReport(address: $0.address, state: .pending) })
    case .stepQueued: set(step, .queued)
    case .stepStarted(_, let attempt):
      set(step, .running(since: event.elapsed, attempt: attempt))
    case .stepFinished(_, let end): set(step, .finished(end))
    case .stepSkipped(_, let reason): set(step, .skipped(reason))
    case .runWarning(let warning): add(warning)
    case .runFinished(let end):
      report?.end = end
      finish = event
    case .stepOutput, .groupStarted, .groupFinished, .runCancelling, .outputDropped, .snapshot:
      break
    }
  }

  private mutating func add(_ warning: RunWarning) {
    guard let count = report?.warnings.count, count < RunReport.warningLimit else { return }
    report?.warnings.append(warning)
  }

  private mutating func set(_ step: Int?, _ state: StepState) {
    guard let step else { preconditionFailure("an event of a step without the step's index") }
    report?.steps[step].state = state
  }
}
