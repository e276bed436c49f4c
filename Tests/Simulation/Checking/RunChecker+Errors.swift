import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Values that cannot be computed, and requests of resources that never fit: what has them fails at its start, is not
/// tried again, and nothing in it runs.
extension RunChecker {
  /// The starts that are followed by such a failure, before any other start of the same step or group.
  static func errors(in events: [RunEvent]) -> Set<UInt64> {
    var (starts, found) = ([StepAddress: UInt64](), Set<UInt64>())
    for event in events {
      switch event.kind {
      case .stepStarted(let step, _, _): starts[step] = event.sequence
      case .groupStarted(let group, _): starts[group] = event.sequence
      case .stepFinished(let step, let end) where end.failure?.classes == [.expression]:
        if let start = starts[step] { found.insert(start) }
      case .groupFinished(let group, let end)
      where end.failure?.classes == [.expression] && end.cause == nil:
        if let start = starts[group] { found.insert(start) }
      default: break
      }
    }
    return found
  }

  /// Whether the condition of a step, group or loop that is to start, or the list of the loop, cannot be computed; `nil`
  /// if the value depends on what happens at exactly this time.
  func startError(of subject: Subject) -> Bool? {
    if let condition = condition(of: subject), condition.mayFail {
      if isUncertain(subject) { return nil }
      if condition.value(known(at: subject)) == nil { return true }
    }
    return blueprint.isWholeLoop(subject) && isError(listOf: subject)
  }

  /// Whether the list, a key or the limit of a loop cannot be computed.
  private func isError(listOf loop: Subject) -> Bool {
    let list = blueprint.made.lists[loop.id]
    if let error = list?.error, occurs(error, at: loop), !isFound(list, from: loop) { return true }
    guard let error = blueprint.made.loopErrors[loop.id], occurs(error, at: loop) else {
      return false
    }
    // Without elements, there are no keys.
    return !isOfKeys(loop) || !keys(of: loop).isEmpty
  }

  private func isOfKeys(_ loop: Subject) -> Bool {
    guard case .forEach(let forEach) = blueprint.member(loop.id).step.control.fanOut else {
      return false
    }
    return forEach.$maxParallel.expression == nil
  }

  private func occurs(_ error: RandomError, at subject: Subject) -> Bool {
    result(blueprint.subject(error.source, from: subject))?.outcome.rawValue == error.outcome
  }

  /// Whether a variable or another key of a step cannot be computed: each attempt of it fails.
  func isError(keyOf subject: Subject) -> Bool {
    blueprint.made.attemptErrors(of: subject.id).contains { occurs($0, at: subject) }
  }

  /// Whether an output of a step, group or element cannot be computed: it fails if it would have succeeded.
  func isError(outputOf subject: Subject) -> Bool {
    guard !blueprint.isWholeLoop(subject) else { return false }
    return blueprint.made.outputErrors[subject.id].map { occurs($0, at: subject) } ?? false
  }

  /// Begins a group or loop that fails at its start. Its failure takes effect now, and not when it has ended: members
  /// outside of it that are needed in it may still run.
  mutating func failAtStart(_ subject: Subject) {
    states[subject]?.failsAtStart = true
    let failure = StepFailure(classes: [.expression], message: "")
    let tolerance = blueprint.member(subject.id).step.allowFailure
    if !blueprint.isWholeLoop(subject), tolerance.tolerates(failure.classes) { return }
    act(failure, of: subject, naming: address(subject))
  }

  /// Checks the end of a step that fails at its start, or whose attempt does.
  mutating func requireError(of subject: Subject, _ end: StepEnd) {
    // A condition that cannot be computed comes before the resources.
    let isTooLarge = isRun(subject) && capacity.isTooLarge(subject) && state(subject).error == false
    require(
      end.failure?.classes == [isTooLarge ? .limit : .expression]
        && end.failure?.message.isEmpty == false,
      "\(name(subject)) cannot start, and ends in \(end.outcome): \(end.failure?.message ?? "")")
    require(state(subject).startedAt == now, "\(name(subject)) fails at its start, and takes time")
  }

  /// Checks the end of a group or loop that fails at its start.
  mutating func requireError(of subject: Subject, _ end: GroupEnd) {
    require(
      end.failure?.classes == [.expression] && end.failure?.message.isEmpty == false
        && end.cause == nil,
      "\(name(subject)) cannot start, and ends in \(end.outcome): \(end.failure?.message ?? "")")
    require(
      end.attempts == 1 && end.winner == nil && end.notStarted == nil,
      "\(name(subject)) cannot start, and ends as if it had: \(end)")
    // `allowFailure` of a loop is that of its elements.
    let isTolerated =
      !blueprint.isWholeLoop(subject)
      && blueprint.member(subject.id).step.allowFailure.tolerates([.expression])
    require(
      end.outcome == .failure && end.conclusion == (isTolerated ? .success : .failure),
      "\(name(subject)) failed at its start, and counts as \(end.conclusion)")
    guard isReportedAsAWhole(subject) else { return requireMembersEnded(subject) }
    require(state(subject).startedAt == now, "\(name(subject)) fails at its start, and takes time")
    let inside = states.keys.filter { blueprint.enclosing($0).contains(subject) }
    require(inside.isEmpty, "\(name(subject)) cannot start, and \(inside.map(name)) does")
  }

  /// Whether the members of a group that does not start are not reported.
  private func isReportedAsAWhole(_ subject: Subject) -> Bool {
    let member = blueprint.member(subject.id)
    return member.isLoop || member.retries
  }
}
