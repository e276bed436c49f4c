import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that every skip has a reason, and that the reason is true.
extension RunChecker {
  mutating func skipped(_ spot: Spot, _ reason: SkipReason) {
    let phase = state(spot).phase
    require(phase == .waiting || phase == .queued, "\(name(spot)) is skipped after its start")
    if let earlier = reasonTold(around: spot) {
      require(earlier == reason, "\(name(spot)) is skipped otherwise than what is around it")
    } else if phase == .queued {
      requireReason(reason, of: spot, wasQueued: true)
    } else {
      requireReason(reason, of: outermostNotStarted(around: spot), wasQueued: false)
    }
    noteElement(spot)
    capacity.waiting.removeAll { $0 == spot }
    states[spot, default: State()].phase = .ended
    states[spot]?.end = .skip(reason)
    reported[address(spot)] = .skipped(reason)
    counts.add(reason, at: spot)
    cleaned(spot)
    memberEnded(spot)
  }

  /// The reason why an enclosing group did not start, if one of its steps has reported it.
  private func reasonTold(around spot: Spot) -> SkipReason? {
    let outermost = outermostNotStarted(around: spot)
    return outermost == spot ? nil : reasonTold(in: outermost)
  }

  private func reasonTold(in group: Spot) -> SkipReason? {
    for member in blueprint.members(of: group) {
      if case .skip(let reason)? = state(member).end { return reason }
      if let reason = reasonTold(in: member) { return reason }
    }
    return nil
  }

  /// The outermost enclosing group that did not start; the spot itself if all have started.
  private func outermostNotStarted(around spot: Spot) -> Spot {
    if case .cleanup = blueprint.member(spot.id).part { return spot }
    return ([spot] + blueprint.enclosing(spot)).last { state($0).phase == .waiting } ?? spot
  }

  private mutating func requireReason(_ reason: SkipReason, of spot: Spot, wasQueued: Bool) {
    if !wasQueued {
      require(isReady(spot), "\(name(spot)) is skipped before what it needs has ended")
    }
    switch reason {
    case .condition(let owner):
      require(owner == address(spot), "\(name(spot)) is skipped by the condition of \(owner)")
      guard let condition = condition(of: spot) else {
        return require(false, "\(name(spot)) has no condition")
      }
      require(
        mayBe(false, condition, at: spot),
        "\(name(spot)) is skipped, but \(condition.text)")
    case .dependencyFailed(let culprit):
      require(!wasQueued, "\(name(spot)) was ready, and is skipped after \(culprit)")
      require(
        needs(of: spot).contains { result($0)?.holdsBack == true },
        "\(name(spot)) is skipped after \(culprit), and all that it needs succeeded")
      requireFailure(of: culprit, "\(name(spot)) is skipped after")
    case .heldBack(let culprit):
      require(blueprint.workflow.onFailure != .continue, "\(name(spot)) is held back")
      requireSoon("\(name(spot)) is held back, and nothing around it has failed") {
        $0.isHeldBack(spot, atTheLatest: false)
      }
      requireFailure(of: culprit, "\(name(spot)) is held back by")
    case .cancelled(let cause):
      requireSoon("\(name(spot)) is cancelled by \(cause), which did not happen") {
        $0.isKilled || $0.endings(of: spot, atTheLatest: false).contains(cause)
          || $0.blueprint.member(spot.id).part == .finally && $0.isTrue(cause, at: spot)
      }
    case .notSelected: require(false, "\(name(spot)) was selected")
    }
  }

  /// Checks that this address failed, or was ended for a reason of its own.
  private mutating func requireFailure(of culprit: StepAddress, _ what: String) {
    requireSoon("\(what) \(culprit), which did not fail") { checker in
      guard let spot = checker.blueprint.spot(called: culprit.text) else { return false }
      let failed = checker.result(spot).map { $0.outcome == .failure } ?? false
      return failed || checker.deadline(of: spot).map { $0.deadline <= checker.now } ?? false
        || checker.cancelled[spot] != nil
    }
  }

  func isTrue(_ reason: CancelReason, at spot: Spot) -> Bool {
    if case .failure(let culprit) = reason {
      guard let failed = blueprint.spot(called: culprit.text) else { return false }
      return isHeld(around: spot) && result(failed)?.outcome == .failure
    }
    if isKilled, reason == .requested { return true }
    return cancellations(around: spot, atTheLatest: false).contains(reason)
  }
}
