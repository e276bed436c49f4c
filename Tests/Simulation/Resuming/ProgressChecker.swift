import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that resuming a run leads to its end. It shares no code with the engine, and uses only the workflow and the
/// events.
///
/// The state of a step or group is that of its latest event, in any part of the run. A part may end in success only if
/// each step has succeeded or was tolerated, or is skipped for a reason that holds: its own condition or a group's, a
/// selection, a race or join that is decided, a group that tolerated its end.
struct ProgressChecker {
  private enum Standing {
    case started
    case ended(StepEnd)
    case skipped(SkipReason)

    func isSkipped(by condition: StepAddress) -> Bool {
      if case .skipped(.condition(condition)) = self { true } else { false }
    }
  }

  private let blueprint: Blueprint
  /// The state of each step, over all parts.
  private var steps: [Subject: Standing] = [:]
  /// The ends of groups in the current part.
  private var groups: [Subject: GroupEnd] = [:]
  /// The groups that the current part restored.
  private var restoredGroups: Set<Subject> = []
  private var mentioned: Set<Subject> = []
  private var settled: Set<Subject> = []
  /// The latest ends of groups, in any part.
  private var lastEnds: [Subject: GroupEnd] = [:]
  /// The number of elements of each loop.
  private var elements: [Subject: Int] = [:]
  private(set) var violations: [String] = []

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts { check(part) }
  }

  private mutating func check(_ part: RunPart) {
    // Each part reports every group that begins or is done again.
    (mentioned, settled, groups, elements) = ([], [], [:], [:])
    restoredGroups = []
    for event in part.events { note(event.kind) }
    guard let end = part.end else { return }
    if end.outcome == .success { requireAllDone() }
  }

  // MARK: Events

  private mutating func note(_ kind: RunEvent.Kind) {
    switch kind {
    case .stepStarted(let address, _, _):
      let subject = subject(address)
      requireNeeds(of: subject)
      steps[subject] = .started
    case .stepFinished(let address, let end), .stepRestored(let address, let end),
      .stepCached(let address, let end), .stepReady(let address, let end):
      let subject = subject(address)
      mentioned.insert(subject)
      steps[subject] = .ended(end)
      if end.conclusion == .success { settled.insert(subject) }
    case .stepSkipped(let address, let reason):
      let subject = subject(address)
      mentioned.insert(subject)
      steps[subject] = .skipped(reason)
      groups[subject] = nil
      if isOwn(reason) { settled.insert(subject) }
    case .groupStarted(let address, let start):
      let subject = subject(address)
      elements[subject] = start.elements
      if start.isRestored { restoredGroups.insert(subject) }
      lastEnds[subject] = nil
      steps[subject] = nil
      groups[subject] = nil
    case .groupRetrying(let address, _):
      // Nothing is known yet about its contents in the next attempt.
      let group = subject(address)
      let isOutside = { [blueprint] (subject: Subject) in
        !blueprint.enclosing(subject).contains(group)
      }
      mentioned = mentioned.filter(isOutside)
      settled = settled.filter(isOutside)
      groups = groups.filter { isOutside($0.key) }
    case .groupFinished(let address, let end):
      let subject = subject(address)
      mentioned.insert(subject)
      groups[subject] = end
      lastEnds[subject] = end
      if end.conclusion == .success { settled.insert(subject) }
    default: break
    }
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nothing has the address \(address)")
    }
    return subject
  }

  /// Whether a skip lets dependents run: one by a condition, or by the options of the run.
  private func isOwn(_ reason: SkipReason) -> Bool {
    switch reason {
    case .condition, .notSelected: true
    case .dependencyFailed, .heldBack, .cancelled: false
    }
  }

  // MARK: Order

  /// Checks that a step starts after all its dependencies are settled in this part, unless its condition reads
  /// failures.
  private mutating func requireNeeds(of subject: Subject) {
    guard blueprint.member(subject.id).part == .main else { return }
    let around = [subject] + blueprint.enclosing(subject)
    let immune = around.first { blueprint.member($0.id).condition?.looksAtFailures == true }
    for inner in around {
      if inner == immune { return }
      // A step with success() in its condition decides for itself.
      if blueprint.member(inner.id).condition?.statuses.isEmpty == false { continue }
      for need in blueprint.needs(of: inner)
      where !isSettled(need) && !isTolerated(need, outside: around) {
        // Failures outside a group that runs despite them do not block its members.
        if let immune, !blueprint.enclosing(need).contains(immune) { continue }
        violations.append(
          "\(name(subject)) starts, and \(name(need)), which \(name(inner)) needs, is not settled")
      }
    }
  }

  /// Whether its dependents may start. A plain group that never began is reported by its members.
  private func isSettled(_ subject: Subject) -> Bool {
    if settled.contains(subject) { return true }
    guard blueprint.member(subject.id).group != nil, groups[subject] == nil,
      !mentioned.contains(subject)
    else { return false }
    // A group that was done, and that a skipped group now contains, keeps its end.
    if lastEnds[subject]?.conclusion == .success,
      blueprint.enclosing(subject).contains(where: isSkipped)
    {
      return true
    }
    return blueprint.members(of: subject).allSatisfy(isSettled)
  }

  /// Whether something failed, or did not run because of a failure, and a group around both tolerates the failure, which
  /// contains none of `others`.
  private func isTolerated(_ need: Subject, outside others: [Subject]) -> Bool {
    if steps[need] == nil, groups[need] == nil, blueprint.member(need.id).group != nil {
      return blueprint.members(of: need).allSatisfy {
        isSettled($0) || isTolerated($0, outside: others)
      }
    }
    guard let (cause, classes) = failure(of: need) else { return false }
    return blueprint.enclosing(need).contains { group in
      !others.contains(group) && ([cause] + blueprint.enclosing(cause)).contains(group)
        && blueprint.member(group.id).step.allowFailure.tolerates(classes)
    }
  }

  private func failure(of subject: Subject) -> (cause: Subject, classes: [ErrorClass])? {
    switch steps[subject] {
    case .ended(let end)?: return (subject, end.failure?.classes ?? [])
    case .skipped(.dependencyFailed(let cause))?, .skipped(.heldBack(let cause))?:
      let cause = self.subject(cause)
      return failure(of: cause).map { (cause, $0.classes) }
    case .skipped, .started: return nil
    case nil:
      return groups[subject].map { end in
        (end.cause.map(self.subject) ?? subject, end.failure?.classes ?? [])
      }
    }
  }

  /// Whether the condition of a plain group skips it in this part, as its members report.
  private func isSkipped(_ group: Subject) -> Bool {
    let address = StepAddress(blueprint.address(of: group))
    return mentioned.contains { steps[$0]?.isSkipped(by: address) == true }
  }

  // MARK: The end

  private mutating func requireAllDone() {
    for id in blueprint.topLevel { require(Subject(id: id, keys: [])) }
    for (subject, standing) in steps {
      guard case .started = standing, !isDecidedAround(subject), !isGone(subject) else { continue }
      violations.append("the run succeeds, and \(name(subject)) has begun and not ended")
    }
  }

  private mutating func require(_ subject: Subject) {
    let member = blueprint.member(subject.id)
    if case .skipped(let reason)? = steps[subject] { return requireReason(reason, of: subject) }
    // A group that is not reported again keeps its recorded end, since an enclosing group is skipped.
    let standing = lastEnds[subject].flatMap { $0.conclusion == .success ? $0 : nil }
    if let group = groups[subject] ?? standing {
      if group.conclusion != .success, !isBlocked(subject) {
        violations.append("the run succeeds, and \(name(subject)) ended as \(group.conclusion)")
      }
      // Work that a race, a join or a tolerated failure leaves undone is not missing, and neither are elements.
      if member.endsEarly || group.outcome != .success || blueprint.isWholeLoop(subject) { return }
      for inner in blueprint.members(of: subject) { require(inner) }
      return
    }
    switch steps[subject] {
    case .ended(let end):
      // A service that starts again in a group that is done does so for a cleanup, whose result counts.
      let isOnlyForCleanup =
        member.isService && !restoredGroups.isDisjoint(with: blueprint.enclosing(subject))
      if end.conclusion != .success, !isOnlyForCleanup {
        violations.append("the run succeeds, and \(name(subject)) ended as \(end.conclusion)")
      }
    case .started: break
    case .skipped: break
    case nil:
      // A group that never began.
      guard member.group != nil, !member.isLoop, !member.retries else {
        violations.append("the run succeeds, and nothing is told of \(name(subject))")
        return
      }
      for inner in blueprint.members(of: subject) { require(inner) }
    }
    if !mentioned.contains(subject) {
      if member.group == nil {
        violations.append("\(name(subject)) is not mentioned in the last part")
      }
    }
  }

  private mutating func requireReason(_ reason: SkipReason, of subject: Subject) {
    if isOwn(reason) || isDecidedAround(subject) || isTrue(reason) || isGone(subject) { return }
    if case .dependencyFailed(let group) = reason, couldNotStart(group) { return }
    violations.append("the run succeeds, and \(name(subject)) is skipped: \(reason)")
  }

  /// Whether a group failed at its start, and that was tolerated: its members, and what needs one of them, do not run.
  private func couldNotStart(_ address: StepAddress) -> Bool {
    groups.contains { group, end in
      end.failsAtStart && end.conclusion == .success
        && StepAddress(blueprint.address(of: group)) == address
    }
  }

  /// Whether an enclosing group is over for everything in it: won, joined, or tolerated.
  private func isDecidedAround(_ subject: Subject) -> Bool {
    blueprint.enclosing(subject).contains { group in
      guard let end = groups[group], end.conclusion == .success else { return false }
      return blueprint.member(group.id).endsEarly || end.outcome != .success
    }
  }

  /// Whether work that began has become irrelevant: a condition now skips an enclosing group, or an enclosing loop now
  /// has other elements, all of which have ended.
  private func isGone(_ subject: Subject) -> Bool {
    let around = [subject] + blueprint.enclosing(subject)
    return zip(around, around.dropFirst()).contains { inner, group in
      if case .skipped(let reason)? = steps[group], isOwn(reason) { return true }
      guard blueprint.isWholeLoop(group), groups[group] != nil, !mentioned.contains(inner) else {
        return false
      }
      let siblings = mentioned.filter {
        $0.id == inner.id && $0.keys.count == inner.keys.count && $0.keys.starts(with: group.keys)
      }
      return siblings.count == elements[group]
    }
  }

  /// Whether the reason of a skip still holds: a step failed, and an enclosing group tolerated it.
  private func isTrue(_ reason: SkipReason) -> Bool {
    switch reason {
    case .condition, .notSelected: return true
    // The group may not have begun in this part, since an enclosing one is skipped.
    case .cancelled(.raceWon(let group, _)), .cancelled(.joined(let group)):
      return lastEnds[self.subject(group)]?.conclusion == .success
    case .cancelled: return false
    case .dependencyFailed(let causingStep), .heldBack(let causingStep):
      let subject = subject(causingStep)
      guard case .ended(let end)? = steps[subject], end.outcome == .failure else {
        return groups[subject]?.outcome == .failure && isDecidedAround(subject)
      }
      return isDecidedAround(subject)
    }
  }

  /// Whether a step in a group is skipped for a reason that holds, and the group with it.
  private func isBlocked(_ group: Subject) -> Bool {
    steps.contains { subject, standing in
      guard case .skipped(let reason) = standing, blueprint.enclosing(subject).contains(group)
      else {
        return false
      }
      return !isOwn(reason) && isTrue(reason)
    }
  }

  private func name(_ subject: Subject) -> String { blueprint.address(of: subject) }
}
