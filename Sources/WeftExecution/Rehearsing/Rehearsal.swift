import WeftDefinition
package import WeftEvents
package import WeftPlanning

/// The knowledge from earlier runs that a rehearsal needs: a run that only predicts, whose steps run nothing.
///
/// The engine decides everything as in any run. It only asks this where a value is missing that a step would have
/// yielded, and for the ends of steps that are not waited for.
package protocol Rehearsal: Sendable {
  /// Whether a step ends at once, without a slot: it waits for a person or for a point in time, or is restored from
  /// the cache.
  func endsAtOnce(_ step: PlannedStep, at address: StepAddress) -> Bool

  /// The end of a step, and its values.
  func end(of step: PlannedStep, at address: StepAddress) -> RehearsedEnd

  /// Whether a step, group or loop starts whose condition reads a missing value.
  func admits(_ address: StepAddress) -> Bool

  /// The elements of a loop whose list reads a missing value.
  func elements(of loop: StepAddress) -> RecordedElements

  /// The time that a step with `wait` takes if that depends on a missing value.
  func wait(of address: StepAddress) -> Duration

  /// Notes that a step fails before it starts, as it would in a run.
  func fails(_ step: StepAddress, _ failure: StepFailure)

  /// Whether the `maxParallel` of a loop has no effect.
  func lifts(limitOf loop: StepAddress) -> Bool
}

/// The end of a step in a rehearsal, as in an earlier run.
package struct RehearsedEnd: Sendable, Hashable {
  package var end: StepEnd
  /// `nil` if they are not known.
  package var values: RecordedValues?

  package init(_ end: StepEnd, _ values: RecordedValues?) {
    self.end = end
    self.values = values
  }
}

extension RunEngine {
  /// `nil` for a run whose steps really run.
  var rehearsal: (any Rehearsal)? { configuration.rehearsal }

  /// Ends a step that is rehearsed without an attempt.
  func rehearse(_ task: StepTask) -> NodeResult? {
    guard let rehearsal else { return nil }
    let rehearsed = rehearsal.end(of: task.step, at: task.address)
    reportStart(of: task)
    return conclude(task, rehearsed.end, nodeValues(of: rehearsed, task.step.node))
  }

  /// The values of a rehearsed step, as far as expressions read them.
  func nodeValues(of rehearsed: RehearsedEnd, _ node: Plan.NodeIndex) -> NodeValues {
    let end = rehearsed.end
    if let kept = rehearsed.values, kept.answers(plan.values.reads(ofNode: node), end) {
      return kept.nodeValues(of: end, spool: values.spool)
    }
    var unknown = NodeValues(end)
    unknown.isUnknown = true
    return unknown
  }

  /// The elements of a loop, if only an earlier run knows them.
  func rehearsedListing(of task: LoopTask) -> Result<LoopListing, StepFailure>? {
    rehearsal.map {
      LoopLister(values, task, recorded: $0.elements(of: task.address)).listing()
    }
  }
}

extension RunEngine {
  /// Ends a step without a program whose outputs read a missing value.
  func rehearsedValues(of task: StepTask, _ end: StepEnd) -> NodeResult? {
    guard let rehearsal else { return nil }
    let known = rehearsal.end(of: task.step, at: task.address)
    return conclude(task, end, nodeValues(of: known, task.step.node))
  }
}

extension StepField {
  /// Whether it is known of a step whose values are not.
  var isOfOutcome: Bool {
    switch self {
    case .outcome, .conclusion, .attempts, .duration, .exitCode, .signal: true
    case .stdout, .stderr, .json, .outputs, .status, .headers, .body, .stale, .pages, .winner,
      .results:
      false
    }
  }
}
