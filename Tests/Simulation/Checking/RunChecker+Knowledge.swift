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
    var blocksDependents: Bool

    init(_ outcome: Outcome, _ conclusion: Outcome) {
      (self.outcome, self.conclusion) = (outcome, conclusion)
      blocksDependents = conclusion != .success
    }

    /// A step skipped by its own `if`, or its group's, blocks nothing.
    init(_ reason: SkipReason) {
      self.init(reason.outcome, reason.outcome)
      if case .condition = reason { blocksDependents = false }
    }
  }

  func state(_ subject: Subject) -> State { states[subject] ?? State() }
  func name(_ subject: Subject) -> String { blueprint.address(of: subject) }
  func name(_ scope: Subject?) -> String { scope.map(name) ?? "the run" }

  /// Its end; `nil` if it has not ended.
  func result(_ subject: Subject) -> Result? {
    switch state(subject).end {
    case .step(let end): return Result(end.outcome, end.conclusion)
    case .group(let end): return Result(end.outcome, end.conclusion)
    case .skip(let reason): return Result(reason)
    case nil where state(subject).hasBeenReady: return Result(.success, .success)
    case nil: return skip(ofGroup: subject).map { Result($0) }
    }
  }

  /// The reason why a group never started. Only its steps report it, and all of them were skipped.
  func skip(ofGroup subject: Subject) -> SkipReason? {
    guard blueprint.member(subject.id).group != nil, state(subject).phase == .waiting else {
      return nil
    }
    var reason: SkipReason?
    for member in blueprint.members(of: subject) {
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
  func needs(of subject: Subject) -> [Subject] {
    switch blueprint.member(subject.id).part {
    case .cleanup:
      // The cleanup steps of a group wait for all its members.
      groupAround(subject).map { blueprint.members(of: $0) } ?? topLevel
    case .finally where subject.id == "finally": topLevel
    case .main, .finally: blueprint.needs(of: subject)
    }
  }

  var topLevel: [Subject] { blueprint.topLevel.map { Subject(id: $0, keys: []) } }

  /// The enclosing group: not the loop that it is an element of.
  func groupAround(_ subject: Subject) -> Subject? {
    blueprint.enclosing(subject).first { !blueprint.isWholeLoop($0) }
  }

  /// Whether a direct or indirect dependency failed and was not tolerated. `finally` steps consider the run, and
  /// therefore not failures that a group in it tolerated.
  func hasFailed(above subject: Subject) -> Bool {
    if blueprint.isFinal(subject), runHadFailed { return true }
    if !failedServices(above: subject).isEmpty { return true }
    var seen: Set<Subject> = []
    var next = [subject]
    while let subject = next.popLast() {
      for inner in [subject] + blueprint.enclosing(subject) where inner.id != "finally" {
        for need in needs(of: inner) where seen.insert(need).inserted {
          if let group = toleratingGroup(around: need, outside: inner) {
            next.append(group)
            continue
          }
          if result(need)?.conclusion == .failure || state(need).lackedService { return true }
          next.append(need)
          next += inside(passedOver: need)
        }
      }
    }
    return false
  }

  /// The steps in a group that never started, through which its dependents wait.
  private func inside(passedOver group: Subject) -> [Subject] {
    guard skip(ofGroup: group) != nil else { return [] }
    return blueprint.members(of: group).flatMap { [$0] + inside(passedOver: $0) }
  }

  // MARK: Scopes

  /// The scopes whose limits, failures and cancellations apply to it; `nil` for the run.
  func scopes(around subject: Subject) -> [Subject?] {
    switch blueprint.member(subject.id).part {
    case .main: blueprint.enclosing(subject).map { $0 } + [nil]
    case .finally: blueprint.enclosing(subject).map { $0 }
    case .cleanup: []
    }
  }

  func isHeld(around subject: Subject) -> Bool {
    scopes(around: subject).contains(where: held.contains)
  }

  /// The reasons for which an enclosing scope is being ended. At the exact time of a group's time limit, or of a
  /// race's end, either order is possible.
  func cancellations(around subject: Subject, atTheLatest isCertain: Bool) -> Set<CancelReason> {
    scopes(around: subject).reduce(into: []) { $0.formUnion(cancellations(of: $1, isCertain)) }
  }

  private func cancellations(of scope: Subject?, _ isCertain: Bool) -> Set<CancelReason> {
    var reasons: Set<CancelReason> = []
    if !isCertain || decided[scope] != now { reasons = cancelled[scope] ?? [] }
    guard let scope, let (limit, deadline) = deadline(of: scope) else { return reasons }
    if isCertain ? deadline < now : deadline <= now {
      reasons.insert(.groupTimeout(StepAddress(name(scope)), limit))
    }
    return reasons
  }

  func deadline(of scope: Subject) -> (limit: Duration, deadline: Duration)? {
    guard !blueprint.isWholeLoop(scope), state(scope).phase == .running,
      !state(scope).failsAtStart,
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
  func condition(of subject: Subject) -> RandomCondition? {
    let member = blueprint.member(subject.id)
    guard let condition = member.condition, member.isLoop else { return member.condition }
    let isPerElement =
      condition.asksAboutElement && blueprint.isForEach(subject.id)
    return isPerElement == blueprint.isElement(subject) ? condition : nil
  }

  /// The enclosing scopes to whose failures, and to whose cancellation, it is exposed: neither its own condition nor
  /// that of an enclosing group within the scope makes it immune. A service that has been ready is started again in
  /// spite of failures.
  private func exposures(of subject: Subject) -> [(scope: Subject?, toFailures: Bool, toEnd: Bool)]
  {
    let part = blueprint.member(subject.id).part
    let isKept = state(subject).hasBeenReady
    let chain = [subject] + (part == .main ? blueprint.enclosing(subject) : [])
    let own = blueprint.member(subject.id).condition.map { [$0] } ?? []
    return scopes(around: subject).enumerated().map { index, scope in
      let conditions = chain.prefix(index + 1).compactMap { blueprint.member($0.id).condition }
      return (
        scope, part == .main && !isKept && !conditions.contains(where: \.looksAtFailures),
        // Enclosing groups give immunity only to the end of the run.
        !(scope == nil ? conditions : own).contains(where: \.standsCancellation)
      )
    }
  }

  /// Whether a failure may keep it from starting. A loop that has reached its failure limit may begin one more element
  /// at the same time, before it is blocked.
  func isBlockedByFailure(_ subject: Subject, atTheLatest isCertain: Bool) -> Bool {
    exposures(of: subject).contains { scope, toFailures, _ in
      let isLoop = scope.map(blueprint.isWholeLoop) ?? false
      return toFailures && held.contains(scope) && !(isCertain && isLoop && decided[scope] == now)
    }
  }

  /// The reasons for which it must end or not start, whatever its condition.
  func endings(of subject: Subject, atTheLatest isCertain: Bool) -> Set<CancelReason> {
    exposures(of: subject).reduce(into: []) { reasons, exposure in
      if exposure.toEnd { reasons.formUnion(cancellations(of: exposure.scope, isCertain)) }
    }
  }

  /// Whether the end of an enclosing scope would end it if it had no condition: `success()` evaluates to what starting
  /// without a condition would. Groups that start despite the end of the run give immunity to it.
  private func isEnding(around subject: Subject) -> Bool {
    let isImmune = blueprint.enclosing(subject).contains {
      $0.id != subject.id && blueprint.member($0.id).condition?.standsCancellation == true
    }
    return scopes(around: subject).contains { scope in
      !(scope == nil && isImmune) && !cancellations(of: scope, true).isEmpty
    }
  }

  /// Whether a dependency blocks it. Dependencies outside a group that starts despite failures do not block its
  /// members.
  func blocksDependents(_ need: Subject, _ subject: Subject) -> Bool {
    guard result(need)?.blocksDependents != false,
      toleratingGroup(around: need, outside: subject) == nil
    else { return false }
    let immune = blueprint.enclosing(subject).first {
      blueprint.member($0.id).condition?.looksAtFailures == true
    }
    return immune.map { blueprint.enclosing(need).contains($0) } ?? true
  }

  /// The outermost group around something that failed, or did not run because of a failure in that group, which tolerates
  /// the failure and does not contain a dependent.
  private func toleratingGroup(around need: Subject, outside subject: Subject) -> Subject? {
    guard let result = result(need), result.blocksDependents,
      let cause = cause(of: need).flatMap({ blueprint.subject(called: $0.text) })
    else { return nil }
    let around = [subject] + blueprint.enclosing(subject)
    return blueprint.enclosing(need).last { group in
      !around.contains(group) && ([cause] + blueprint.enclosing(cause)).contains(group)
        && blueprint.member(group.id).step.allowFailure.tolerates(failureClasses(of: cause))
    }
  }

  /// The step or group that caused an end without success.
  private func cause(of subject: Subject) -> StepAddress? {
    let cancellation: CancelReason?
    switch state(subject).end {
    case .step(let end) where end.conclusion == .cancelled: cancellation = end.cancellation
    case .skip(.cancelled(let reason)): cancellation = reason
    case .skip(.dependencyFailed(let address)), .skip(.heldBack(let address)): return address
    case .group(let end): return end.cause ?? address(subject)
    case .step: return address(subject)
    case .skip, nil: return nil
    }
    return cancellation?.causingGroup
  }

  private func failureClasses(of subject: Subject) -> [ErrorClass] {
    switch state(subject).end {
    case .step(let end): end.failure?.classes ?? []
    case .group(let end): end.failure?.classes ?? []
    // A group that is still ending its members because of its time limit.
    case .skip, nil: [.timeout]
    }
  }

  /// Whether something that it needs did not succeed: directly, or as a service.
  private func isBlocked(_ subject: Subject) -> Bool {
    (needs(of: subject) + failedServices(above: subject)).contains { blocksDependents($0, subject) }
  }

  /// Whether its condition may evaluate to this value. Steps report for a group that does not start, perhaps after a
  /// cancellation that had not happened when the group was decided.
  func mayBe(_ value: Bool, _ condition: RandomCondition, at subject: Subject) -> Bool {
    if isUncertain(subject) { return true }
    var known = known(at: subject)
    if condition.value(known) == value { return true }
    let member = blueprint.member(subject.id)
    guard known.cancelled, member.group != nil, !member.isLoop, !member.retries else {
      return false
    }
    (known.cancelled, known.failure) = (false, hasFailed(above: subject))
    known.success = !isBlocked(subject)
    return condition.value(known) == value
  }

  func known(at subject: Subject) -> RandomCondition.Known {
    let whole = whole(subject)
    let member = blueprint.member(subject.id)
    let isCancelled =
      member.isClosing
      ? isClosedEarly(subject, atTheLatest: true)
      : !cancellations(around: subject, atTheLatest: true).isEmpty
    let hasFailed = hasFailed(above: whole)
    let success =
      member.isClosing
      ? !hasFailed : !isBlocked(whole)
    let isEnding = member.isClosing ? isCancelled : isEnding(around: subject)
    return RandomCondition.Known(
      success: !isEnding && success, failure: !isCancelled && hasFailed,
      cancelled: isCancelled, index: index(at: subject)
    ) { self.result(self.blueprint.subject($0, from: subject))?.outcome.rawValue }
  }

  /// Whether a time limit passes at exactly this time, so that `cancelled()` may evaluate to either value.
  func isUncertain(_ subject: Subject) -> Bool {
    cancellations(around: subject, atTheLatest: true)
      != cancellations(around: subject, atTheLatest: false)
      || blueprint.member(subject.id).isClosing
        && isClosedEarly(subject, atTheLatest: true) != isClosedEarly(subject, atTheLatest: false)
  }

  // MARK: Cleanup and finally

  /// Whether the group that a cleanup step belongs to, or a scope around it or around `finally`, was ended early: by a
  /// time limit, a race that was decided, a cancellation, or under `cancel` a failure outside of what has failed itself.
  private func isClosedEarly(_ subject: Subject, atTheLatest isCertain: Bool) -> Bool {
    var isSpared = hasFailed(above: subject)
    if !isSpared, hasLost(subject) { return true }
    let closed = isCleanup(subject) ? groupAround(subject) : nil
    for scope in blueprint.enclosing(subject).map(Optional.some) + [nil] {
      let ended =
        scope != nil && scope == closed
        ? endings(ofClosed: scope, isCertain) : cancellations(of: scope, isCertain)
      if !ended.isEmpty || !isSpared && isStopped(scope, isCertain) { return true }
      guard let scope else { continue }
      let member = blueprint.member(scope.id)
      isSpared = isSpared || member.part == .main && member.condition?.looksAtFailures == true
    }
    return false
  }

  /// Whether a cleanup step belongs to a member of a race or join that was decided without it.
  private func hasLost(_ subject: Subject) -> Bool {
    guard case .cleanup(let id) = blueprint.member(subject.id).part,
      let group = groupAround(subject), cancelled[group]?.contains(where: \.isDecision) == true
    else { return false }
    return !state(group).successes.contains(blueprint.subject(id, from: group))
  }

  /// The reasons for which a group was ended whose members have all ended. That it was decided is no reason for those that
  /// have decided it.
  private func endings(ofClosed scope: Subject?, _ isCertain: Bool) -> Set<CancelReason> {
    guard let scope else { return [] }
    var reasons = (cancelled[scope] ?? []).filter { !$0.isDecision }
    if let (limit, deadline) = deadline(of: scope), let last = state(scope).membersEndedAt,
      isCertain ? deadline < last : deadline <= last,
      reasons.count == cancelled[scope]?.count ?? 0 || deadline <= decided[scope] ?? last
    {
      reasons.insert(.groupTimeout(StepAddress(name(scope)), limit))
    }
    return reasons
  }

  /// Whether a failure in a scope ends its running steps. It ends none of `finally`.
  private func isStopped(_ scope: Subject?, _ isCertain: Bool) -> Bool {
    let isMain = scope.map { blueprint.member($0.id).part == .main } ?? true
    return isMain && blueprint.workflow.onFailure == .cancel && held.contains(scope)
      && !(isCertain && decided[scope] == now)
  }

  /// Whether its condition is false, and only because something that it needs did not succeed, or a scope around it is
  /// being cancelled. Plain groups are reported
  /// by their members, perhaps later.
  func onlyLacksSuccess(_ condition: RandomCondition, at subject: Subject) -> Bool {
    let member = blueprint.member(subject.id)
    let isReportedLater = member.group != nil && !member.isLoop && !member.retries
    guard !member.isClosing, !isReportedLater, !isUncertain(subject),
      isEnding(around: subject) || isBlocked(whole(subject)), condition.statuses.contains(.success)
    else { return false }
    var known = known(at: subject)
    if condition.value(known) != false { return false }
    known.success = true
    // With an error, it would fail as without success() in the condition.
    return condition.value(known) != false
  }

  /// Whether it counts as cancelled although its condition stands that: it calls success() too, and only lacks that.
  func maySuccessBeLacking(at subject: Subject) -> Bool {
    guard let condition = condition(of: subject), condition.statuses.contains(.success) else {
      return false
    }
    var known = known(at: subject)
    if isUncertain(subject) { known.success = false }
    if condition.value(known) != false { return false }
    known.success = true
    return condition.value(known) != false
  }

  /// The loop of an element; the spot itself if it is none.
  func whole(_ subject: Subject) -> Subject {
    blueprint.isElement(subject) ? blueprint.around(subject) ?? subject : subject
  }
}

extension CancelReason {
  /// The step or group that caused it; `nil` if it came from outside of the run.
  fileprivate var causingGroup: StepAddress? {
    switch self {
    case .groupTimeout(let address, _), .failure(let address), .raceWon(let address, _),
      .joined(let address):
      address
    case .requested, .filesChanged, .signal, .runTimeout, .recordLost: nil
    }
  }

  /// Whether it is the success of a race or join.
  fileprivate var isDecision: Bool {
    switch self {
    case .raceWon, .joined: true
    default: false
    }
  }
}
