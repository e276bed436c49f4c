import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// The results of spots, and the values of conditions.
extension RunChecker {
  struct Result {
    var outcome: Outcome
    var conclusion: Outcome
    /// Whether it blocks dependents that require success.
    var holdsBack: Bool

    init(_ outcome: Outcome, _ conclusion: Outcome) {
      (self.outcome, self.conclusion) = (outcome, conclusion)
      holdsBack = conclusion != .success
    }

    /// A step skipped by its own `if`, or its group's, blocks nothing.
    init(_ reason: SkipReason) {
      self.init(reason.outcome, reason.outcome)
      if case .condition = reason { holdsBack = false }
    }
  }

  func state(_ spot: Spot) -> State { states[spot] ?? State() }
  func name(_ spot: Spot) -> String { blueprint.address(of: spot) }
  func name(_ scope: Spot?) -> String { scope.map(name) ?? "the run" }

  /// Its end; `nil` if it has not ended.
  func result(_ spot: Spot) -> Result? {
    switch state(spot).end {
    case .step(let end): return Result(end.outcome, end.conclusion)
    case .group(let end): return Result(end.outcome, end.conclusion)
    case .skip(let reason): return Result(reason)
    case nil: return skip(ofGroup: spot).map { Result($0) }
    }
  }

  /// The reason why a group never started. Only its steps report it, and all of them were skipped.
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

  /// The spots that must have ended before it starts, besides the start of its enclosing spot.
  func needs(of spot: Spot) -> [Spot] {
    switch blueprint.member(spot.id).part {
    case .cleanup:
      // The cleanup steps of a group wait for all its members.
      groupAround(spot).map { blueprint.members(of: $0) } ?? topLevel
    case .finally where spot.id == "finally": topLevel
    case .main, .finally: blueprint.needs(of: spot)
    }
  }

  var topLevel: [Spot] { blueprint.topLevel.map { Spot(id: $0, keys: []) } }

  /// The enclosing group: not the loop that it is an element of.
  func groupAround(_ spot: Spot) -> Spot? {
    blueprint.enclosing(spot).first { !blueprint.isWholeLoop($0) }
  }

  /// Whether a direct or indirect dependency failed and was not tolerated. `finally` steps consider the run, and
  /// therefore not failures that a group in it tolerated.
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

  /// The steps in a group that never started, through which its dependents wait.
  private func inside(passedOver group: Spot) -> [Spot] {
    guard skip(ofGroup: group) != nil else { return [] }
    return blueprint.members(of: group).flatMap { [$0] + inside(passedOver: $0) }
  }

  // MARK: Scopes

  /// The scopes whose limits, failures and cancellations apply to it; `nil` for the run.
  func scopes(around spot: Spot) -> [Spot?] {
    switch blueprint.member(spot.id).part {
    case .main: blueprint.enclosing(spot).map { $0 } + [nil]
    case .finally: blueprint.enclosing(spot).map { $0 }
    case .cleanup: []
    }
  }

  func isHeld(around spot: Spot) -> Bool { scopes(around: spot).contains(where: held.contains) }

  /// The reasons for which an enclosing scope is being ended. At the exact time of a group's time limit, or of a
  /// race's end, either order is possible.
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

  /// Whether the run was killed without a grace period.
  var isKilled: Bool {
    simulation.interruptions.contains { $0.kills && $0.moment <= now }
  }

  // MARK: Conditions

  /// Its condition, if it is evaluated at this spot: a condition that reads the element is evaluated for each element.
  func condition(of spot: Spot) -> RandomCondition? {
    let member = blueprint.member(spot.id)
    guard let condition = member.condition, member.isLoop else { return member.condition }
    let isPerElement =
      condition.asksAboutElement && blueprint.isForEach(spot.id)
    return isPerElement == blueprint.isElement(spot) ? condition : nil
  }

  /// The enclosing scopes to whose failures, and to whose cancellation, it is exposed: neither its own condition nor
  /// that of an enclosing group within the scope makes it immune.
  private func exposures(of spot: Spot) -> [(scope: Spot?, toFailures: Bool, toEnd: Bool)] {
    let part = blueprint.member(spot.id).part
    let chain = [spot] + (part == .main ? blueprint.enclosing(spot) : [])
    let own = blueprint.member(spot.id).condition.map { [$0] } ?? []
    return scopes(around: spot).enumerated().map { index, scope in
      let conditions = chain.prefix(index + 1).compactMap { blueprint.member($0.id).condition }
      return (
        scope, part == .main && !conditions.contains(where: \.looksAtFailures),
        // Enclosing groups give immunity only to the end of the run.
        !(scope == nil ? conditions : own).contains(where: \.standsCancellation)
      )
    }
  }

  /// Whether a failure may keep it from starting. A loop that has reached its failure limit may begin one more element
  /// at the same time, before it is blocked.
  func isHeldBack(_ spot: Spot, atTheLatest isCertain: Bool) -> Bool {
    exposures(of: spot).contains { scope, toFailures, _ in
      let isLoop = scope.map(blueprint.isWholeLoop) ?? false
      return toFailures && held.contains(scope) && !(isCertain && isLoop && decided[scope] == now)
    }
  }

  /// The reasons for which it must end or not start, whatever its condition.
  func endings(of spot: Spot, atTheLatest isCertain: Bool) -> Set<CancelReason> {
    exposures(of: spot).reduce(into: []) { reasons, exposure in
      if exposure.toEnd { reasons.formUnion(cancellations(of: exposure.scope, isCertain)) }
    }
  }

  /// Whether the end of an enclosing scope would end it if it had no condition: `success()` evaluates to what starting
  /// without a condition would. Groups that start despite the end of the run give immunity to it.
  private func isEnding(around spot: Spot) -> Bool {
    let isImmune = blueprint.enclosing(spot).contains {
      $0.id != spot.id && blueprint.member($0.id).condition?.standsCancellation == true
    }
    return scopes(around: spot).contains { scope in
      !(scope == nil && isImmune) && !cancellations(of: scope, true).isEmpty
    }
  }

  /// Whether a dependency blocks it. Dependencies outside a group that starts despite failures do not block its
  /// members.
  func holdsBack(_ need: Spot, _ spot: Spot) -> Bool {
    guard result(need)?.holdsBack != false else { return false }
    let immune = blueprint.enclosing(spot).first {
      blueprint.member($0.id).condition?.looksAtFailures == true
    }
    return immune.map { blueprint.enclosing(need).contains($0) } ?? true
  }

  /// Whether its condition may evaluate to this value. Steps report for a group that does not start, perhaps after a
  /// cancellation that had not happened when the group was decided.
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

  /// Whether a time limit passes at exactly this time, so that `cancelled()` may evaluate to either value.
  func isUncertain(_ spot: Spot) -> Bool {
    cancellations(around: spot, atTheLatest: true)
      != cancellations(around: spot, atTheLatest: false)
  }
}
