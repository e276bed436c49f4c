import WeftPlanning

/// Folds the events of a run into what is known of it.
struct ReportFold {
  private let plan: Plan
  /// `nil` before `runStarted`.
  private(set) var report: RunReport?
  /// Where the steps of elements stand in the report, which come after those of the plan.
  private var places: [StepAddress: Int] = [:]

  init(plan: Plan) {
    self.plan = plan
  }

  /// - Parameter step: The index in the plan of the step that the event is about; `nil` of one that the plan
  ///   does not know by its address.
  mutating func apply(_ kind: RunEvent.Kind, at elapsed: Duration, step: Int?) {
    switch kind {
    case .runStarted(let start):
      report = RunReport(
        start: start,
        steps: plan.steps.map { StepReport(address: $0.address, state: .pending) })
    case .stepQueued(let address): set(step, address, .queued)
    case .stepStarted(let address, let attempt):
      set(step, address, .running(since: elapsed, attempt: attempt))
    case .stepAsking(let address, let message):
      set(step, address, .asking(since: elapsed, message: message))
    case .stepRetrying(let address, let retry):
      set(step, address, .retrying(after: retry.attempt, until: elapsed + retry.delay))
    case .stepFinished(let address, let end): set(step, address, .finished(end))
    case .stepRestored(let address, let end): set(step, address, .restored(end))
    case .stepCached(let address, let end): set(step, address, .cached(end))
    case .stepSkipped(let address, let reason): set(step, address, .skipped(reason))
    case .runWarning(let warning): add(warning)
    case .runFinished(let end): report?.end = end
    case .runWaiting(let pause): report?.pause = pause
    case .stepOutput, .groupStarted, .groupRetrying, .groupFinished, .runCancelling,
      .outputDropped, .snapshot:
      break
    }
  }

  private mutating func add(_ warning: RunWarning) {
    guard let count = report?.warnings.count, count < RunReport.warningLimit else { return }
    report?.warnings.append(warning)
  }

  private mutating func set(_ step: Int?, _ address: StepAddress, _ state: StepState) {
    if let place = step ?? places[address] {
      report?.steps[place].state = state
    } else {
      places[address] = report?.steps.count
      report?.steps.append(StepReport(address: address, state: state))
    }
  }
}
