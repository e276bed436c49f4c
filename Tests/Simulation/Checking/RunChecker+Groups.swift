import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Groups, races and loops: how they begin and end, and where a failure in them takes effect.
extension RunChecker {
  mutating func groupStarted(_ subject: Subject, _ start: GroupStart) {
    let before = state(subject)
    let attempt = before.attempt + 1
    require(start.attempt == attempt, "\(name(subject)) starts attempt \(start.attempt)")
    if attempt == 1 {
      require(before.phase == .waiting, "\(name(subject)) starts again")
      if subject.id == "finally" {
        requireEverythingEnded()
        runHadFailed = !causingSteps.isEmpty || !closing.causingSteps.isEmpty
      }
      requireMayStart(subject)
      recordElement(subject)
    } else {
      require(before.phase == .pausing, "\(name(subject)) starts attempt \(attempt) after nothing")
      require(now >= before.resumesAt, "\(name(subject)) does not wait before attempt \(attempt)")
      if let obstacle = obstacle(to: subject) {
        require(false, "\(name(subject)) starts again, but \(obstacle)")
      }
      forget(inside: subject)
    }
    let isError = attempt == 1 && (startError(of: subject) ?? errors.contains(sequence))
    let elements = blueprint.isWholeLoop(subject) ? isError ? 0 : keys(of: subject).count : nil
    require(start.elements == elements, "\(name(subject)) is for \(start.elements ?? 0) elements")
    begin(subject, attempt: attempt)
    if isError { failAtStart(subject) }
  }

  /// Forgets the previous attempt for everything in the group: for this attempt, it did not happen.
  private mutating func forget(inside group: Subject) {
    for subject in states.keys
    where blueprint.enclosing(subject).contains(group) && !isCleanupOf(group, subject) {
      states[subject] = nil
      held.remove(subject)
      cancelled[subject] = nil
      decided[subject] = nil
      // A cleanup step that ran stays counted, and so does its failure.
      if !isCleanup(subject) {
        counts.forget(subject)
        reported[address(subject)] = nil
      }
    }
    held.remove(group)
    cancelled[group] = nil
    decided[group] = nil
    states[group]?.successes = []
  }

  private func isCleanupOf(_ group: Subject, _ subject: Subject) -> Bool {
    blueprint.member(subject.id).part == .cleanup(of: group.id)
  }

  mutating func groupRetrying(_ subject: Subject, _ retry: Retry) {
    require(state(subject).phase == .running, "\(name(subject)) is tried again without having run")
    requireMembersEnded(subject)
    requireCleaned(in: subject)
    if let obstacle = obstacle(to: subject) {
      require(false, "\(name(subject)) is to be tried again, but \(obstacle)")
    }
    recordRetry(of: subject, retry)
  }

  mutating func requireMembersEnded(_ group: Subject) {
    for subject in states.keys where blueprint.enclosing(subject).contains(group) {
      let phase = state(subject).phase
      require(phase == .ended || phase == .waiting, "\(name(group)) ends before \(name(subject))")
    }
    guard !blueprint.isWholeLoop(group) else { return }
    for member in blueprint.members(of: group) {
      require(result(member) != nil, "\(name(group)) ends before \(name(member))")
    }
  }

  mutating func groupFinished(_ subject: Subject, _ end: GroupEnd) {
    let phase = state(subject).phase
    require(phase == .running || phase == .pausing, "\(name(subject)) ends without a start")
    let failsAtStart = state(subject).failsAtStart
    if !failsAtStart { requireMembersEnded(subject) }
    if failsAtStart {
      requireError(of: subject, end)
    } else if blueprint.isWholeLoop(subject) {
      requireVerdict(ofLoop: subject, end)
    } else if phase == .pausing {
      requireSoon("\(name(subject)) waits for its next attempt, and is given up for no reason") {
        $0.isHeld(around: subject) || $0.isKilled
          || !$0.cancellations(around: subject, atTheLatest: false).isEmpty
      }
    } else {
      requireCleaned(in: subject)
      require(end.attempts == state(subject).attempt, "\(name(subject)) had other attempts")
      requireVerdict(of: subject, end)
    }
    if let elements = end.notStarted { counts.add(elements, at: subject) }
    states[subject]?.phase = .ended
    states[subject]?.end = .group(end)
    if !failsAtStart, end.conclusion == .failure, let failure = end.failure {
      act(failure, of: subject, naming: end.cause ?? address(subject))
    }
    memberEnded(subject)
  }

  // MARK: Outcome

  private mutating func requireVerdict(of subject: Subject, _ end: GroupEnd) {
    var expected = verdicts(of: subject)
    let isFailedByOutput = end.failure?.classes == [.output] && end.cause == nil
    if expected.contains(.success), isError(outputOf: subject) {
      let isCertain = expected == [.success]
      expected.remove(.success)
      expected.insert(.failure)
      require(
        isFailedByOutput || !isCertain,
        "\(name(subject)) has an output that cannot be computed, and ends in \(end.outcome)")
    } else {
      require(!isFailedByOutput, "\(name(subject)) fails by its outputs, and has them")
    }
    require(
      expected.contains(end.outcome),
      "\(name(subject)) ends in \(end.outcome), and not in \(expected)"
    )
    let tolerance = blueprint.member(subject.id).step.allowFailure
    let isTolerated = end.failure.map { tolerance.tolerates($0.classes) } ?? false
    require(
      end.conclusion == (isTolerated ? .success : end.outcome),
      "\(name(subject)) ended in \(end.outcome), and counts as \(end.conclusion)")
    let isRace = blueprint.member(subject.id).group?.order == .race
    let winner = isRace && end.outcome == .success ? state(subject).successes.first : nil
    require(
      end.winner == winner.map(address),
      "\(name(subject)) is won by \(end.winner?.text ?? "nobody")")
    if let failure = end.failure, isMissingCleanup(subject, after: failure) {
      requireSoon("\(name(subject)) is not retried, for no reason") {
        $0.isKilled || $0.isHeld(around: subject)
          || !$0.cancellations(around: subject, atTheLatest: false).isEmpty
      }
    }
  }

  /// The outcomes that a group may have, given how its members ended.
  private func verdicts(of subject: Subject) -> Set<Outcome> {
    let successes = state(subject).successes.count
    switch (blueprint.member(subject.id).group?.order, blueprint.member(subject.id).group?.join) {
    case (.race, _) where successes > 0: return [.success]
    case (_, .atLeast(let count)) where successes >= count: return [.success]
    default: break
    }
    var verdicts: Set<Outcome> = []
    let time = state(subject).membersEndedAt ?? now
    if let (_, deadline) = deadline(of: subject), deadline <= time {
      // A group that is being ended anyway does not time out.
      let isEnding = !cancellations(around: subject, atTheLatest: false).isEmpty
      if deadline < time, !isEnding { return [.failure] }
      verdicts.insert(.failure)
    }
    let results = blueprint.members(of: subject).compactMap(result)
    for outcome in [Outcome.failure, .cancelled, .skipped] {
      if results.contains(where: { $0.conclusion == outcome && $0.blocksDependents }) {
        return verdicts.union([outcome])
      }
    }
    return verdicts.union([.success])
  }

  private mutating func requireVerdict(ofLoop subject: Subject, _ end: GroupEnd) {
    let keys = keys(of: subject)
    let elements = keys.map { Subject(id: subject.id, keys: subject.keys + [$0]) }
    let results = elements.map(result)
    let failures = results.count { $0?.conclusion == .failure }
    let isCut = results.contains { $0 == nil }
    if isCut {
      requireSoon("\(name(subject)) ends before all its elements have, for no reason") {
        $0.held.contains(subject) || $0.isHeld(around: subject) || $0.isKilled
          || !$0.cancellations(around: elements[0], atTheLatest: false).isEmpty
      }
    }
    let known = results.compactMap { $0 }
    let outcome: Outcome =
      if failures > tolerated(of: subject) {
        .failure
      } else if known.contains(where: {
        $0.conclusion == .cancelled
      }) {
        .cancelled
      } else if known.contains(where: { $0.conclusion == .skipped && $0.blocksDependents }) {
        .skipped
      } else { .success }
    if isCut, outcome != .failure {
      require(
        end.outcome == .cancelled || end.outcome == .skipped,
        "\(name(subject)) ends in \(end.outcome), and not all elements have been run")
    } else {
      require(
        end.outcome == outcome, "\(name(subject)) ends in \(end.outcome), and not in \(outcome)")
    }
    require(end.conclusion == end.outcome, "\(name(subject)) tolerates more than its elements")
  }

  func tolerated(of loop: Subject) -> Int {
    guard case .forEach(let forEach) = blueprint.member(loop.id).step.control.fanOut else {
      return 0
    }
    let count = keys(of: loop).count
    return switch forEach.tolerance {
    case .count(let limit): limit
    case .percent(let percent): count * percent / 100
    }
  }

  // MARK: Members

  /// Applies the end of a member to its enclosing group or loop.
  mutating func memberEnded(_ subject: Subject) {
    guard let around = blueprint.around(subject), !isCleanup(subject), let result = result(subject)
    else {
      return
    }
    // Members of a group that never starts have the only events about it.
    if !state(subject).hasBeenReady {
      for group in blueprint.enclosing(subject) { states[group]?.membersEndedAt = now }
    }
    if blueprint.isWholeLoop(around) {
      guard result.conclusion == .failure else { return }
      states[around, default: State()].failures += 1
      if state(around).failures == tolerated(of: around) + 1 { hold(around) }
      return
    }
    guard result.conclusion == .success else { return }
    states[around, default: State()].successes.append(subject)
    let (count, group) = (state(around).successes.count, blueprint.member(around.id).group)
    if group?.order == .race, count == 1 {
      cancelled[around, default: []].insert(.raceWon(address(around), by: address(subject)))
      decided[around] = now
    }
    if case .atLeast(let enough)? = group?.join, count == enough {
      cancelled[around, default: []].insert(.joined(address(around)))
      decided[around] = now
    }
  }

  /// Checks an element that begins or is skipped: in order, each once, and within the concurrency limit.
  mutating func recordElement(_ subject: Subject) {
    guard blueprint.isElement(subject), state(subject).phase == .waiting,
      let loop = blueprint.around(subject), let key = subject.keys.last
    else { return }
    let keys = keys(of: loop)
    let index = keys.firstIndex(of: key) ?? -1
    let spots = keys.map { Subject(id: subject.id, keys: loop.keys + [$0]) }
    require(index >= 0, "\(name(loop)) has no element \(key)")
    require(
      spots.prefix(max(index, 0)).allSatisfy { state($0).phase != .waiting },
      "\(name(subject)) comes before its turn")
    guard case .forEach(let forEach) = blueprint.member(subject.id).step.control.fanOut,
      let limit = forEach.maxParallel
    else { return }
    let active = spots.count { state($0).phase != .waiting && state($0).phase != .ended }
    require(active < limit, "\(active + 1) elements of \(name(loop)) are under way, of \(limit)")
  }

  // MARK: Failures

  mutating func hold(_ scope: Subject?) {
    guard blueprint.workflow.onFailure != .continue else { return }
    held.insert(scope)
    if decided[scope] == nil { decided[scope] = now }
  }

  /// Applies a failure within the nearest scope that may absorb it.
  mutating func act(_ failure: StepFailure, of subject: Subject, naming causingStep: StepAddress) {
    guard !isCleanup(subject) else { return closing.failed(causingStep) }
    for scope in blueprint.enclosing(subject) {
      let member = blueprint.member(scope.id)
      // A loop counts its failures; a race continues.
      if blueprint.isWholeLoop(scope) || member.endsEarly { return }
      let absorbs =
        member.step.allowFailure.tolerates(failure.classes) || member.retries
        || blueprint.isElement(scope) || scope.id == "finally"
        || member.part == .main && member.condition?.looksAtFailures == true
      if absorbs { return hold(scope) }
    }
    if subject.id == "finally" { return closing.failed(causingStep) }
    hold(nil)
    causingSteps.append((causingStep, now))
  }
}
