import WeftDefinition
import WeftExecution
import WeftPlanning

/// What has become of whom, and what conditions come to.
extension RunChecker {
  struct Result {
    var outcome: Outcome
    var conclusion: Outcome
    /// Whether those who wait for success cannot go on.
    var holdsBack: Bool

    init(_ outcome: Outcome, _ conclusion: Outcome) {
      (self.outcome, self.conclusion) = (outcome, conclusion)
      holdsBack = conclusion != .success
    }

    /// One skipped by its own `if`, or its group's, holds nobody back.
    init(_ reason: SkipReason) {
      self.init(reason.outcome, reason.outcome)
      if case .condition = reason { holdsBack = false }
    }
  }

  func state(_ spot: Spot) -> State { states[spot] ?? State() }
  func name(_ spot: Spot) -> String { blueprint.address(of: spot) }
  func name(_ scope: Spot?) -> String { scope.map(name) ?? "the run" }

  /// How it has ended; `nil`: it has not.
  func result(_ spot: Spot) -> Result? {
    switch state(spot).end {
    case .step(let end): return Result(end.outcome, end.conclusion)
    case .group(let end): return Result(end.outcome, end.conclusion)
    case .skip(let reason): return Result(reason)
    case nil: return skip(ofGroup: spot).map { Result($0) }
    }
  }

  /// Why a group never started: it is told by its steps, all of which were skipped.
  func skip(ofGroup spot: Spot) -> SkipReason? {
    guard blueprint.member(spot.id).group != nil, state(spot).phase == .waiting else { return nil }
    var reason: SkipReason?
    for member in blueprint.members(of: spot) {
      if case .skip(let known)? = state(member).end {
        reason = reason ?? known
      } else if let known = skip(ofGroup: member) {
        reason = reason ?? known
      } else {
        return nil
      }
    }
    return reason
  }

  /// What must have ended before it starts, besides the start of what is around it.
  func needs(of spot: Spot) -> [Spot] {
    switch blueprint.member(spot.id).part {
    case .cleanup:
      // What cleans up in a group waits for all its members.
      groupAround(spot).map { blueprint.members(of: $0) } ?? topLevel
    case .finally where spot.id == "finally": topLevel
    case .main, .finally: blueprint.needs(of: spot)
    }
  }

  var topLevel: [Spot] { blueprint.topLevel.map { Spot(id: $0, keys: []) } }

  /// The group around it: not the loop that it is an element of.
  func groupAround(_ spot: Spot) -> Spot? {
    blueprint.enclosing(spot).first { !blueprint.isWholeLoop($0) }
  }

  /// Whether something that it waits for, however far above, failed and was not tolerated. What is done finally
  /// asks about the run, and so not about what a group in it has tolerated.
  func hasFailed(above spot: Spot) -> Bool {
    if blueprint.isFinal(spot), runHadFailed { return true }
    var seen: Set<Spot> = []
    var next = [spot]
    while let spot = next.popLast() {
      for inner in [spot] + blueprint.enclosing(spot) where inner.id != "finally" {
        for need in needs(of: inner) where seen.insert(need).inserted {
          if result(need)?.conclusion == .failure { return true }
          next.append(need)
          next += inside(passedOver: need)
        }
      }
    }
    return false
  }

  /// What never started is passed by all the ways through it.
  private func inside(passedOver group: Spot) -> [Spot] {
    guard skip(ofGroup: group) != nil else { return [] }
    return blueprint.members(of: group).flatMap { [$0] + inside(passedOver: $0) }
  }

  // MARK: Scopes

  /// Within whose limits, failures and cancellations it stands; `nil`: the run.
  func scopes(around spot: Spot) -> [Spot?] {
    switch blueprint.member(spot.id).part {
    case .main: blueprint.enclosing(spot).map { $0 } + [nil]
    case .finally: blueprint.enclosing(spot).map { $0 }
    case .cleanup: []
    }
  }

  func isHeld(around spot: Spot) -> Bool { scopes(around: spot).contains(where: held.contains) }

  /// Why something around it is being ended. At the very moment of a group's time limit, or of a race's end,
  /// nobody can say what comes first.
  func cancellations(around spot: Spot, atTheLatest isCertain: Bool) -> Set<CancelReason> {
    scopes(around: spot).reduce(into: []) { $0.formUnion(cancellations(of: $1, isCertain)) }
  }

  private func cancellations(of scope: Spot?, _ isCertain: Bool) -> Set<CancelReason> {
    var reasons: Set<CancelReason> = []
    if !isCertain || decided[scope] != now { reasons = cancelled[scope] ?? [] }
    guard let scope, let (limit, deadline) = deadline(of: scope) else { return reasons }
    if isCertain ? deadline < now : deadline <= now {
      reasons.insert(.groupTimeout(StepAddress(name(scope)), limit))
    }
    return reasons
  }

  func deadline(of scope: Spot) -> (limit: Duration, deadline: Duration)? {
    guard !blueprint.isWholeLoop(scope), state(scope).phase == .running,
      let limit = blueprint.member(scope.id).step.timeout,
      blueprint.member(scope.id).group != nil
    else { return nil }
    return (limit, state(scope).startedAt + limit)
  }

  /// Whether somebody has ended the run without a grace.
  var isKilled: Bool {
    simulation.interruptions.contains { $0.kills && $0.moment <= now }
  }

  // MARK: Conditions

  /// Its condition, if it is asked there: one that asks about the element, of each element.
  func condition(of spot: Spot) -> RandomCondition? {
    let member = blueprint.member(spot.id)
    guard let condition = member.condition, member.isLoop else { return member.condition }
    let isPerElement =
      condition.asksAboutElement && blueprint.isForEach(spot.id)
    return isPerElement == blueprint.isElement(spot) ? condition : nil
  }

  /// The scopes around it from whose failures, and from whose cancellation, nothing shelters it: neither its own
  /// condition nor that of a group around it that stands in the scope.
  private func exposures(of spot: Spot) -> [(scope: Spot?, toFailures: Bool, toEnd: Bool)] {
    let part = blueprint.member(spot.id).part
    let chain = [spot] + (part == .main ? blueprint.enclosing(spot) : [])
    let own = blueprint.member(spot.id).condition.map { [$0] } ?? []
    return scopes(around: spot).enumerated().map { index, scope in
      let conditions = chain.prefix(index + 1).compactMap { blueprint.member($0.id).condition }
      return (
        scope, part == .main && !conditions.contains(where: \.looksAtFailures),
        // What is around it shelters it from the end of the run alone.
        !(scope == nil ? conditions : own).contains(where: \.standsCancellation)
      )
    }
  }

  /// Whether a failure lets it not start. In one moment, a loop that has had enough failures may begin with
  /// another element before it is held back.
  func isHeldBack(_ spot: Spot, atTheLatest isCertain: Bool) -> Bool {
    exposures(of: spot).contains { scope, toFailures, _ in
      let isLoop = scope.map(blueprint.isWholeLoop) ?? false
      return toFailures && held.contains(scope) && !(isCertain && isLoop && decided[scope] == now)
    }
  }

  /// Why it is to end, or not to start, whatever its condition.
  func endings(of spot: Spot, atTheLatest isCertain: Bool) -> Set<CancelReason> {
    exposures(of: spot).reduce(into: []) { reasons, exposure in
      if exposure.toEnd { reasons.formUnion(cancellations(of: exposure.scope, isCertain)) }
    }
  }

  /// Whether the end of something around it ends it too, were it not for its own condition: `success()` says of
  /// it what starting without a condition would. Groups that start in spite of it shelter from the end of the run.
  private func isEnding(around spot: Spot) -> Bool {
    let isSheltered = blueprint.enclosing(spot).contains {
      $0.id != spot.id && blueprint.member($0.id).condition?.standsCancellation == true
    }
    return scopes(around: spot).contains { scope in
      !(scope == nil && isSheltered) && !cancellations(of: scope, true).isEmpty
    }
  }

  /// What it waits for without holding it back: what is outside of a group that starts in spite of failures.
  func holdsBack(_ need: Spot, _ spot: Spot) -> Bool {
    guard result(need)?.holdsBack != false else { return false }
    let sheltered = blueprint.enclosing(spot).first {
      blueprint.member($0.id).condition?.looksAtFailures == true
    }
    return sheltered.map { blueprint.enclosing(need).contains($0) } ?? true
  }

  /// Whether its condition may come to a value. A group that does not start is told by its steps, perhaps after
  /// something has been cancelled that was not when it was its turn.
  func mayBe(_ value: Bool, _ condition: RandomCondition, at spot: Spot) -> Bool {
    if isUncertain(spot) { return true }
    var known = known(at: spot)
    if condition.value(known) == value { return true }
    let member = blueprint.member(spot.id)
    guard known.cancelled, member.group != nil, !member.isLoop, !member.retries else {
      return false
    }
    (known.cancelled, known.failure) = (false, hasFailed(above: spot))
    known.success = !needs(of: spot).contains { holdsBack($0, spot) }
    return condition.value(known) == value
  }

  func known(at spot: Spot) -> RandomCondition.Known {
    let whole =
      blueprint.isElement(spot) ? blueprint.around(spot) ?? spot : spot
    let member = blueprint.member(spot.id)
    let isCancelled =
      member.isClosing
      ? cancelled[nil] != nil : !cancellations(around: spot, atTheLatest: true).isEmpty
    let hasFailed = hasFailed(above: whole)
    let success =
      member.isClosing
      ? !hasFailed : !needs(of: whole).contains { holdsBack($0, whole) }
    let isEnding = member.isClosing ? isCancelled : isEnding(around: spot)
    return RandomCondition.Known(
      success: !isEnding && success, failure: !isCancelled && hasFailed,
      cancelled: isCancelled, index: index(at: spot)
    ) { self.result(self.blueprint.spot($0, from: spot))?.outcome.rawValue }
  }

  /// Whether time limits pass at this very moment, so that `cancelled()` may be either.
  func isUncertain(_ spot: Spot) -> Bool {
    cancellations(around: spot, atTheLatest: true)
      != cancellations(around: spot, atTheLatest: false)
  }
}
