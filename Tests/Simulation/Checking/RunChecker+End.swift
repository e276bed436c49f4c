import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// The number of steps for each outcome. Attempts of a group that are followed by another attempt do not count.
struct OutcomeTally {
  private var ends: [Subject: [Outcome]] = [:]

  /// Counts each step once: cleanup that ran again counts by its latest end.
  mutating func add(_ end: StepEnd, at subject: Subject) { ends[subject] = [end.outcome] }
  mutating func add(_ reason: SkipReason, at subject: Subject) { ends[subject] = [reason.outcome] }
  mutating func add(_ elements: ElementsNotStarted, at subject: Subject) {
    ends[subject, default: []] += Array(repeating: elements.outcome, count: elements.steps)
  }
  mutating func forget(_ subject: Subject) { ends[subject] = nil }

  func count(_ outcome: Outcome) -> Int {
    ends.values.reduce(0) { $0 + $1.count { $0 == outcome } }
  }
}

extension RunChecker {
  mutating func checkEnd() {
    guard let end else { return require(false, "the run did not finish") }
    for subject in topLevel { require(result(subject) != nil, "\(name(subject)) has no end") }
    for (subject, state) in states {
      require(state.phase == .ended, "\(name(subject)) has no end: it is \(state.phase)")
    }
    requireCleaned(in: nil)
    let started = simulation.attempts.map { "\($0.address) \($0.number)" }
    let announced = startedAttempts.map { "\($0.address) \($0.number)" }
    require(started == announced, "other attempts were made than are told of")
    checkFinally()
    checkOutcome(end)
    checkReport(end)
  }

  private mutating func checkFinally() {
    guard !blueprint.workflow.finally.isEmpty else { return }
    let finally = Subject(id: "finally", keys: [])
    require(state(finally).phase == .ended, "what is to be done finally was not done")
  }

  /// Whether a loop was cut short because the whole run was cancelled.
  private var hasLeftElementsOut: Bool {
    states.contains { subject, state in
      guard blueprint.isWholeLoop(subject), case .group(let end)? = state.end else { return false }
      return end.outcome == .cancelled && cancelled[subject] == nil
        && blueprint.enclosing(subject).allSatisfy { cancelled[$0] == nil }
    }
  }

  /// Checks that the run's outcome follows from what happened in it.
  private mutating func checkOutcome(_ end: RunEnd) {
    // Among failures of the same time, the first reported need not be the first decided.
    let first = causingSteps.filter { $0.at == causingSteps[0].at }.map(\.address)
    let possible = first.isEmpty ? Array(closing.causingSteps.prefix(1)) : first
    let causingStep = possible.first
    require(
      end.firstFailure.map(possible.contains) ?? possible.isEmpty,
      "the run fails of \(end.firstFailure?.text ?? "nothing"), and not of \(possible)")
    let cancellation = cancelled[nil]?.first
    // A cancellation that changed nothing does not count; one may change more than the steps that it cancelled.
    let hasActed =
      counts.count(.cancelled) > 0 || end.outcome == .cancelled || hasLeftElementsOut
    let isCancelled = cancellation != nil && hasActed
    let outcome: Outcome =
      if isCancelled { .cancelled } else if causingStep != nil { .failure } else { .success }
    require(end.outcome == outcome, "the run ends in \(end.outcome), and not in \(outcome)")
    require(end.cancellation == (isCancelled ? cancellation : nil), "another cancellation is told")
    let reported = end.counts
    require(reported.succeeded == counts.count(.success), "\(reported.succeeded) succeeded")
    require(
      reported.failed + reported.tolerated == counts.count(.failure),
      "\(reported.failed) failed, \(reported.tolerated) were tolerated; not \(counts.count(.failure))"
    )
    require(reported.cancelled == counts.count(.cancelled), "\(reported.cancelled) were cancelled")
    require(reported.skipped == counts.count(.skipped), "\(reported.skipped) were skipped")
  }

  /// Checks that the fold of the events equals the report.
  private mutating func checkReport(_ end: RunEnd) {
    let report = simulation.report
    require(report.end == end, "the report ends otherwise")
    var left = reported
    for step in report.steps {
      if let state = left.removeValue(forKey: step.address) {
        require(step.state == state, "\(step.address) is reported otherwise")
      } else {
        require(step.state == .pending, "\(step.address) is reported, and nothing was told of it")
      }
    }
    require(left.isEmpty, "\(left.keys.map(\.text).sorted()) are not reported")
  }
}
