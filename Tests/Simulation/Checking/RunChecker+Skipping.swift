import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that every skip has a reason, and that the reason is true.
extension RunChecker {
  mutating func skipped(_ subject: Subject, _ reason: SkipReason) {
    let phase = state(subject).phase
    require(phase == .waiting || phase == .queued, "\(name(subject)) is skipped after its start")
    if let group = blueprint.enclosing(subject).first(where: { state($0).failsAtStart }) {
      require(
        reason == .dependencyFailed(address(group)) && phase == .waiting,
        "\(name(subject)) is skipped, and not because \(name(group)) failed at its start")
    } else if let earlier = reasonTold(around: subject) {
      require(earlier == reason, "\(name(subject)) is skipped otherwise than what is around it")
    } else if phase == .queued {
      requireReason(reason, of: subject, wasQueued: true)
    } else {
      requireReason(reason, of: outermostNotStarted(around: subject), wasQueued: false)
    }
    recordElement(subject)
    capacity.waiting.removeAll { $0 == subject }
    states[subject, default: State()].phase = .ended
    states[subject]?.end = .skip(reason)
    reported[address(subject)] = .skipped(reason)
    counts.add(reason, at: subject)
    cleaned(subject)
    memberEnded(subject)
  }

  /// The reason why an enclosing group did not start, if one of its steps has reported it.
  private func reasonTold(around subject: Subject) -> SkipReason? {
    let outermost = outermostNotStarted(around: subject)
    return outermost == subject ? nil : reasonTold(in: outermost)
  }

  func reasonTold(in group: Subject) -> SkipReason? {
    for member in blueprint.members(of: group) {
      if case .skip(let reason)? = state(member).end { return reason }
      if let reason = reasonTold(in: member) { return reason }
    }
    return nil
  }

  /// The outermost enclosing group that did not start; the spot itself if all have started.
  private func outermostNotStarted(around subject: Subject) -> Subject {
    if case .cleanup = blueprint.member(subject.id).part { return subject }
    return ([subject] + blueprint.enclosing(subject)).last { state($0).phase == .waiting }
      ?? subject
  }

  private mutating func requireReason(_ reason: SkipReason, of subject: Subject, wasQueued: Bool) {
    if !wasQueued {
      require(isReady(subject), "\(name(subject)) is skipped before what it needs has ended")
    }
    switch reason {
    case .condition(let owner):
      require(owner == address(subject), "\(name(subject)) is skipped by the condition of \(owner)")
      guard let condition = condition(of: subject) else {
        return require(false, "\(name(subject)) has no condition")
      }
      require(
        mayBe(false, condition, at: subject),
        "\(name(subject)) is skipped, but \(condition.text)")
      require(
        !onlyLacksSuccess(condition, at: subject),
        "\(name(subject)) is skipped by its condition, which only lacks success()")
    case .dependencyFailed(let causingStep):
      require(!wasQueued, "\(name(subject)) was ready, and is skipped after \(causingStep)")
      require(
        (needs(of: whole(subject)) + failedServices(above: subject)).contains {
          result($0)?.blocksDependents == true
        },
        "\(name(subject)) is skipped after \(causingStep), and all that it needs succeeded")
      requireFailure(of: causingStep, "\(name(subject)) is skipped after")
    case .heldBack(let causingStep):
      require(blueprint.workflow.onFailure != .continue, "\(name(subject)) is held back")
      requireSoon("\(name(subject)) is held back, and nothing around it has failed") {
        $0.isBlockedByFailure(subject, atTheLatest: false)
      }
      requireFailure(of: causingStep, "\(name(subject)) is held back by")
    case .cancelled(let cause):
      requireSoon("\(name(subject)) is cancelled by \(cause), which did not happen") {
        $0.isKilled || $0.endings(of: subject, atTheLatest: false).contains(cause)
          || $0.blueprint.member(subject.id).part == .finally && $0.isTrue(cause, at: subject)
          || $0.maySuccessBeLacking(at: subject) && $0.isTrue(cause, at: subject)
      }
    case .notSelected: require(false, "\(name(subject)) was selected")
    }
  }

  /// Checks that this address failed, or was ended for a reason of its own.
  private mutating func requireFailure(of causingStep: StepAddress, _ what: String) {
    requireSoon("\(what) \(causingStep), which did not fail") { checker in
      guard let subject = checker.blueprint.subject(called: causingStep.text) else { return false }
      let failed = checker.result(subject).map { $0.outcome == .failure } ?? false
      return failed || checker.state(subject).failsAtStart
        || checker.deadline(of: subject).map { $0.deadline <= checker.now } ?? false
        || checker.cancelled[subject] != nil
    }
  }

  func isTrue(_ reason: CancelReason, at subject: Subject) -> Bool {
    if case .failure(let causingStep) = reason {
      guard let failed = blueprint.subject(called: causingStep.text) else { return false }
      return isHeld(around: subject) && result(failed)?.outcome == .failure
    }
    if isKilled, reason == .requested { return true }
    return cancellations(around: subject, atTheLatest: false).contains(reason)
  }
}
