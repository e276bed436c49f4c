import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Services: they count as done when they are ready, run as long as they are needed, and then end in their turn.
extension RunChecker {
  /// The services that it needs, directly or not, and that have failed.
  func failedServices(above subject: Subject) -> [Subject] {
    (blueprint.services[subject.id] ?? []).map { blueprint.subject($0, from: subject) }
      .filter { result($0)?.conclusion == .failure }
  }

  mutating func ready(_ subject: Subject, _ end: StepEnd) {
    require(blueprint.member(subject.id).isService, "\(name(subject)) is ready, and is no service")
    let state = state(subject)
    require(
      state.phase == .running && !state.isUp, "\(name(subject)) is ready, but it is \(state.phase)")
    require(record(of: subject)?.readyAt == now, "\(name(subject)) is ready without a sign")
    require(end.outcome == .success, "\(name(subject)) is ready in \(end.outcome)")
    if let limit = timeToGetReady(of: subject) {
      require(now - state.startedAt <= limit, "\(name(subject)) is ready too late")
    }
    capacity.vacate(subject)
    states[subject]?.hasBeenReady = true
    states[subject]?.isUp = true
    for group in blueprint.enclosing(subject) { states[group]?.membersEndedAt = now }
  }

  /// Checks the end of a service. One that has been stopped in its turn has succeeded.
  mutating func requireServiceOutcome(of subject: Subject, _ end: StepEnd, wasPausing: Bool) {
    let (state, group) = (state(subject), groupAround(subject))
    let record = wasPausing ? nil : record(of: subject)
    defer { closing.remove(subject, in: group) }
    switch end.outcome {
    case .success:
      require(state.hasBeenReady, "\(name(subject)) succeeds, and was never ready")
      require(
        wasPausing || record?.stoppedAt != nil || isKilled,
        "\(name(subject)) succeeds, and was not stopped")
      if isKilled { return }
      requireUnneeded(subject)
      let next = closing.next(in: group)
      require(next == subject, "\(name(subject)) ends before \(next.map(name) ?? "nothing")")
    case .failure where wasPausing: requireCutShort(subject)
    case .failure:
      let isLate = end.failure?.classes == [.timeout]
      require(isLate || end.failure?.classes == [.service], "\(name(subject)) fails otherwise")
      if isLate {
        require(!state.isUp, "\(name(subject)) was ready in time")
        require(isLateAtTheLatest(subject, now), "\(name(subject)) had time to get ready")
      } else if case .ended? = record?.status {
      } else {
        require(false, "\(name(subject)) fails, and was stopped")
      }
      if let failure = end.failure, isMissingCleanup(subject, after: failure) {
        requireSoon("\(name(subject)) is not started again, for no reason") {
          $0.isKilled || $0.isBlockedByFailure(subject, atTheLatest: false)
            || !$0.cancellations(around: subject, atTheLatest: false).isEmpty
        }
      }
    case .cancelled:
      require(!state.isUp, "\(name(subject)) is cancelled while it is up")
      requireCancellation(of: subject, end)
    case .skipped: require(false, "\(name(subject)) is skipped after its start")
    }
  }

  /// Checks the end of a step that would have waited for ever for slots that services keep.
  mutating func requireDeadlock(of subject: Subject, _ end: StepEnd) {
    closing.remove(subject, in: groupAround(subject))
    require(capacity.running.isEmpty, "\(name(subject)) fails for ever, and something runs")
    let pools = capacity.pools(of: subject, blueprint)
    let isKept = capacity.serving.contains {
      !capacity.pools(of: $0, blueprint).isDisjoint(with: pools)
    }
    require(isKept, "\(name(subject)) waits for no service")
    requireConclusion(of: subject, end)
  }

  private func isLateAtTheLatest(_ subject: Subject, _ time: Duration) -> Bool {
    guard let limit = timeToGetReady(of: subject) else { return false }
    return state(subject).startedAt + limit <= time
  }

  /// Whether a service may have been asked to stop: nothing needs it any more, or it was not ready in time.
  func mayBeStopped(_ subject: Subject, _ attempt: ScriptedWorld.Record) -> Bool {
    if isKilled { return true }
    let state = state(subject)
    if !state.isUp, isLateAtTheLatest(subject, attempt.stoppedAt ?? now) { return true }
    return state.hasBeenReady && isUnneeded(subject)
  }

  private mutating func requireUnneeded(_ subject: Subject) {
    require(isUnneeded(subject), "\(name(subject)) ends, and something still needs it")
  }

  /// Whether the members of its group have ended, and nothing that needs it is under way.
  private func isUnneeded(_ service: Subject) -> Bool {
    let members = groupAround(service).map { blueprint.members(of: $0) } ?? topLevel
    return members.allSatisfy { result($0) != nil }
      && states.allSatisfy { subject, state in
        !blueprint.need(subject, service) || state.phase == .ended || state.phase == .waiting
          || state.hasBeenReady && !state.isUp
      }
  }
}
