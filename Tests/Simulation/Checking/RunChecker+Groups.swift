import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Groups, races and loops: how they begin and end, and where a failure in them takes effect.
extension RunChecker {
  mutating func groupStarted(_ spot: Spot, _ start: GroupStart) {
    let before = state(spot)
    let attempt = before.attempt + 1
    require(start.attempt == attempt, "\(name(spot)) starts attempt \(start.attempt)")
    if attempt == 1 {
      require(before.phase == .waiting, "\(name(spot)) starts again")
      if spot.id == "finally" {
        requireEverythingEnded()
        runHadFailed = !culprits.isEmpty || !closing.culprits.isEmpty
      }
      requireMayStart(spot)
      noteElement(spot)
    } else {
      require(before.phase == .pausing, "\(name(spot)) starts attempt \(attempt) after nothing")
      require(now >= before.resumesAt, "\(name(spot)) does not wait before attempt \(attempt)")
      if let obstacle = obstacle(to: spot) {
        require(false, "\(name(spot)) starts again, but \(obstacle)")
      }
      forget(inside: spot)
    }
    let elements = blueprint.isWholeLoop(spot) ? keys(of: spot).count : nil
    require(start.elements == elements, "\(name(spot)) is for \(start.elements ?? 0) elements")
    begin(spot, attempt: attempt)
  }

  /// Forgets the previous attempt for everything in the group: for this attempt, it did not happen.
  private mutating func forget(inside group: Spot) {
    for spot in states.keys
    where blueprint.enclosing(spot).contains(group) && !isCleanupOf(group, spot) {
      states[spot] = nil
      held.remove(spot)
      cancelled[spot] = nil
      decided[spot] = nil
      // A cleanup step that ran stays counted, and so does its failure.
      if !isCleanup(spot) {
        counts.forget(spot)
        reported[address(spot)] = nil
      }
    }
    held.remove(group)
    cancelled[group] = nil
    decided[group] = nil
    states[group]?.successes = []
  }

  private func isCleanupOf(_ group: Spot, _ spot: Spot) -> Bool {
    blueprint.member(spot.id).part == .cleanup(of: group.id)
  }

  mutating func groupRetrying(_ spot: Spot, _ retry: Retry) {
    require(state(spot).phase == .running, "\(name(spot)) is tried again without having run")
    requireMembersEnded(spot)
    requireCleaned(in: spot)
    if let obstacle = obstacle(to: spot) {
      require(false, "\(name(spot)) is to be tried again, but \(obstacle)")
    }
    noteRetry(of: spot, retry)
  }

  private mutating func requireMembersEnded(_ group: Spot) {
    for spot in states.keys where blueprint.enclosing(spot).contains(group) {
      let phase = state(spot).phase
      require(phase == .ended || phase == .waiting, "\(name(group)) ends before \(name(spot))")
    }
    guard !blueprint.isWholeLoop(group) else { return }
    for member in blueprint.members(of: group) {
      require(result(member) != nil, "\(name(group)) ends before \(name(member))")
    }
  }

  mutating func groupFinished(_ spot: Spot, _ end: GroupEnd) {
    let phase = state(spot).phase
    require(phase == .running || phase == .pausing, "\(name(spot)) ends without a start")
    requireMembersEnded(spot)
    if blueprint.isWholeLoop(spot) {
      requireVerdict(ofLoop: spot, end)
    } else if phase == .pausing {
      requireSoon("\(name(spot)) waits for its next attempt, and is given up for no reason") {
        $0.isHeld(around: spot) || $0.isKilled
          || !$0.cancellations(around: spot, atTheLatest: false).isEmpty
      }
    } else {
      requireCleaned(in: spot)
      require(end.attempts == state(spot).attempt, "\(name(spot)) had other attempts")
      requireVerdict(of: spot, end)
    }
    if let elements = end.notStarted { counts.add(elements, at: spot) }
    states[spot]?.phase = .ended
    states[spot]?.end = .group(end)
    if end.conclusion == .failure, let failure = end.failure {
      act(failure, of: spot, naming: end.cause ?? address(spot))
    }
    memberEnded(spot)
  }

  // MARK: Outcome

  private mutating func requireVerdict(of spot: Spot, _ end: GroupEnd) {
    let expected = verdicts(of: spot)
    require(
      expected.contains(end.outcome), "\(name(spot)) ends in \(end.outcome), and not in \(expected)"
    )
    let tolerance = blueprint.member(spot.id).step.allowFailure
    let isTolerated = end.failure.map { tolerance.tolerates($0.classes) } ?? false
    require(
      end.conclusion == (isTolerated ? .success : end.outcome),
      "\(name(spot)) ended in \(end.outcome), and counts as \(end.conclusion)")
    let isRace = blueprint.member(spot.id).group?.order == .race
    let winner = isRace && end.outcome == .success ? state(spot).successes.first : nil
    require(
      end.winner == winner.map(address), "\(name(spot)) is won by \(end.winner?.text ?? "nobody")")
    if let failure = end.failure, isOwedAnother(spot, after: failure) {
      requireSoon("\(name(spot)) is not retried, for no reason") {
        $0.isKilled || $0.isHeld(around: spot)
          || !$0.cancellations(around: spot, atTheLatest: false).isEmpty
      }
    }
  }

  /// The outcomes that a group may have, given how its members ended.
  private func verdicts(of spot: Spot) -> Set<Outcome> {
    let successes = state(spot).successes.count
    switch (blueprint.member(spot.id).group?.order, blueprint.member(spot.id).group?.join) {
    case (.race, _) where successes > 0: return [.success]
    case (_, .atLeast(let count)) where successes >= count: return [.success]
    default: break
    }
    var verdicts: Set<Outcome> = []
    if let (_, deadline) = deadline(of: spot), deadline <= now {
      // A group that is being ended anyway does not time out.
      let isEnding = !cancellations(around: spot, atTheLatest: false).isEmpty
      if deadline < now, !isEnding { return [.failure] }
      verdicts.insert(.failure)
    }
    let results = blueprint.members(of: spot).compactMap(result)
    for outcome in [Outcome.failure, .cancelled, .skipped] {
      if results.contains(where: { $0.conclusion == outcome && $0.holdsBack }) {
        return verdicts.union([outcome])
      }
    }
    return verdicts.union([.success])
  }

  private mutating func requireVerdict(ofLoop spot: Spot, _ end: GroupEnd) {
    let keys = keys(of: spot)
    let elements = keys.map { Spot(id: spot.id, keys: spot.keys + [$0]) }
    let results = elements.map(result)
    let failures = results.count { $0?.conclusion == .failure }
    let isCut = results.contains { $0 == nil }
    if isCut {
      requireSoon("\(name(spot)) ends before all its elements have, for no reason") {
        $0.held.contains(spot) || $0.isHeld(around: spot) || $0.isKilled
          || !$0.cancellations(around: elements[0], atTheLatest: false).isEmpty
      }
    }
    let known = results.compactMap { $0 }
    let outcome: Outcome =
      if failures > tolerated(of: spot) {
        .failure
      } else if known.contains(where: {
        $0.conclusion == .cancelled
      }) { .cancelled } else if known.contains(where: { $0.conclusion == .skipped && $0.holdsBack })
      {
        .skipped
      } else { .success }
    if isCut, outcome != .failure {
      require(
        end.outcome == .cancelled || end.outcome == .skipped,
        "\(name(spot)) ends in \(end.outcome), and not all elements have been run")
    } else {
      require(end.outcome == outcome, "\(name(spot)) ends in \(end.outcome), and not in \(outcome)")
    }
    require(end.conclusion == end.outcome, "\(name(spot)) tolerates more than its elements")
  }

  func tolerated(of loop: Spot) -> Int {
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
  mutating func memberEnded(_ spot: Spot) {
    guard let around = blueprint.around(spot), !isCleanup(spot), let result = result(spot) else {
      return
    }
    if blueprint.isWholeLoop(around) {
      guard result.conclusion == .failure else { return }
      states[around, default: State()].failures += 1
      if state(around).failures == tolerated(of: around) + 1 { hold(around) }
      return
    }
    guard result.conclusion == .success else { return }
    states[around, default: State()].successes.append(spot)
    let (count, group) = (state(around).successes.count, blueprint.member(around.id).group)
    if group?.order == .race, count == 1 {
      cancelled[around, default: []].insert(.raceWon(address(around), by: address(spot)))
      decided[around] = now
    }
    if case .atLeast(let enough)? = group?.join, count == enough {
      cancelled[around, default: []].insert(.joined(address(around)))
      decided[around] = now
    }
  }

  /// Checks an element that begins or is skipped: in order, each once, and within the concurrency limit.
  mutating func noteElement(_ spot: Spot) {
    guard blueprint.isElement(spot), state(spot).phase == .waiting,
      let loop = blueprint.around(spot), let key = spot.keys.last
    else { return }
    let keys = keys(of: loop)
    let index = keys.firstIndex(of: key) ?? -1
    let spots = keys.map { Spot(id: spot.id, keys: loop.keys + [$0]) }
    require(index >= 0, "\(name(loop)) has no element \(key)")
    require(
      spots.prefix(max(index, 0)).allSatisfy { state($0).phase != .waiting },
      "\(name(spot)) comes before its turn")
    guard case .forEach(let forEach) = blueprint.member(spot.id).step.control.fanOut,
      let limit = forEach.maxParallel
    else { return }
    let active = spots.count { state($0).phase != .waiting && state($0).phase != .ended }
    require(active < limit, "\(active + 1) elements of \(name(loop)) are under way, of \(limit)")
  }

  // MARK: Failures

  mutating func hold(_ scope: Spot?) {
    guard blueprint.workflow.onFailure != .continue else { return }
    held.insert(scope)
    if decided[scope] == nil { decided[scope] = now }
  }

  /// Applies a failure within the nearest scope that may absorb it.
  mutating func act(_ failure: StepFailure, of spot: Spot, naming culprit: StepAddress) {
    guard !isCleanup(spot) else { return closing.failed(culprit) }
    for scope in blueprint.enclosing(spot) {
      let member = blueprint.member(scope.id)
      // A loop counts its failures; a race continues.
      if blueprint.isWholeLoop(scope) || member.endsEarly { return }
      let absorbs =
        member.step.allowFailure.tolerates(failure.classes) || member.retries
        || blueprint.isElement(scope) || scope.id == "finally"
        || member.part == .main && member.condition?.looksAtFailures == true
      if absorbs { return hold(scope) }
    }
    if spot.id == "finally" { return closing.failed(culprit) }
    hold(nil)
    culprits.append((culprit, now))
  }
}
