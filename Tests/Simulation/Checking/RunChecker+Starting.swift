import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Whether a step may start: its dependencies have ended as its condition requires, and no enclosing scope is closed.
extension RunChecker {
  func isReady(_ subject: Subject) -> Bool {
    if case .cleanup = blueprint.member(subject.id).part {
      return needs(of: subject).allSatisfy(isSettled)
    }
    return isOpen(around: subject) && needs(of: subject).allSatisfy(isSettled)
  }

  private func isSettled(_ subject: Subject) -> Bool { result(subject) != nil }

  /// Whether its enclosing spot has started and not ended.
  func isOpen(around subject: Subject) -> Bool {
    blueprint.around(subject).map { state($0).phase == .running && !state($0).failsAtStart } ?? true
  }

  /// A reason that allows it not to start, whatever its condition evaluates to.
  func obstacle(to subject: Subject) -> String? {
    if let reason = endings(of: subject, atTheLatest: true).first {
      return "is cancelled (\(reason))"
    }
    return isBlockedByFailure(subject, atTheLatest: true) ? "is held back" : nil
  }

  /// The reason why it must not start; `nil` if it may.
  func whyNot(_ subject: Subject) -> String? {
    if !isReady(subject) { return "is not ready" }
    if let obstacle = obstacle(to: subject) { return obstacle }
    let condition = condition(of: subject)
    let member = blueprint.member(subject.id)
    let impliesSuccess = (member.condition?.statuses.isEmpty ?? true) && !member.isClosing
    let needs = needs(of: subject) + failedServices(above: subject)
    if impliesSuccess, let need = needs.first(where: { blocksDependents($0, subject) }) {
      return "needs \(name(need)), which did not succeed"
    }
    guard let condition, !isUncertain(subject) else { return nil }
    // With an error, it starts and fails.
    return condition.value(known(at: subject)) != false
      ? nil : "has a condition that is false: \(condition.text)"
  }

  mutating func requireMayStart(_ subject: Subject) {
    if let reason = whyNot(subject) { require(false, "\(name(subject)) starts, but \(reason)") }
  }

  mutating func queued(_ subject: Subject) {
    require(state(subject).phase == .waiting, "\(name(subject)) is queued again")
    requireMayStart(subject)
    recordElement(subject)
    let error = startError(of: subject)
    states[subject, default: State()].phase = .queued
    states[subject]?.error = error
    states[subject]?.queuedAt = now
    capacity.request(resources(of: subject), for: subject)
    if isRun(subject) { capacity.waiting.append(subject) }
    reported[address(subject)] = .queued
  }

  func address(_ subject: Subject) -> StepAddress { StepAddress(name(subject)) }

  /// The inputs and the end of the attempt. Attempts are made in the order in which they are reported.
  func record(of subject: Subject) -> ScriptedWorld.Record? {
    let index = state(subject).record
    let record = simulation.attempts.indices.contains(index) ? simulation.attempts[index] : nil
    return record?.address.text == name(subject) ? record : nil
  }

  /// Checks that the values it reads are the results of the other steps.
  mutating func requireValues(of subject: Subject) {
    guard let record = record(of: subject) else { return }
    let limit = timeLimit(of: subject)
    require(
      record.timeout == limit,
      "\(name(subject)) may take \(String(describing: record.timeout)), and not \(String(describing: limit))"
    )
    for (variable, value) in record.environment {
      readings += 1
      if variable == RandomError.variable {
        require(value == RandomError.value, "\(name(subject)) reads \(value ?? "nothing")")
        continue
      }
      let isOfElements = variable.hasPrefix("results_")
      let read = isOfElements ? String(variable.dropFirst("results_".count)) : variable
      let other = blueprint.subject(read, from: subject)
      let expected =
        isOfElements
        ? results(of: other) : result(other).map { "\($0.outcome) as \($0.conclusion)" }
      require(
        value == expected,
        "\(name(subject)) reads \(value ?? "nothing") of \(read): \(expected ?? "it has not ended")"
      )
    }
  }

  // MARK: No needless waiting

  mutating func requireNobodyIdle() {
    for group in [nil] + states.filter({ $0.value.phase == .running }).keys.map(Optional.some) {
      let members = group.map { blueprint.isWholeLoop($0) ? [] : blueprint.members(of: $0) }
      for member in members ?? topLevel where state(member).phase == .waiting {
        let isIdle = isReady(member) && result(member) == nil && !mayHaveBeenPassedOver(member)
        require(!isIdle, "\(name(member)) could start, and nobody looks at it")
      }
    }
    for subject in capacity.waiting where mayRun(subject) {
      require(false, "\(name(subject)) waits for a slot, and there is one")
    }
  }

  /// Whether a group may have been skipped: its steps report that, each when its own dependencies have ended.
  private func mayHaveBeenPassedOver(_ subject: Subject) -> Bool {
    let member = blueprint.member(subject.id)
    guard member.group != nil, !member.isLoop, !member.retries else { return false }
    if let condition = condition(of: subject), mayBe(false, condition, at: subject) { return true }
    // A service has failed since one of its steps has reported that.
    if reasonTold(in: subject) != nil { return true }
    return isUncertain(subject) || whyNot(subject) != nil
      || !cancellations(around: subject, atTheLatest: false).isEmpty
  }

  private func mayRun(_ subject: Subject) -> Bool {
    (state(subject).phase == .queued || state(subject).resumesAt < now)
      && capacity.hasRoom(for: subject, of: blueprint, at: now)
  }

  /// Checks that everything running in an ended scope has been asked to stop.
  mutating func requireStops() {
    let running = simulation.attempts.filter { attempt in
      attempt.startedAt <= now && attempt.endedAt.map { $0 > now } ?? true
    }
    for attempt in running {
      guard let subject = blueprint.subject(called: attempt.address.text),
        state(subject).phase == .running
      else { continue }
      let isAsked = attempt.stoppedAt.map { $0 <= now } ?? false
      if blueprint.member(subject.id).isService, isAsked, mayBeStopped(subject, attempt) {
        continue
      }
      if state(subject).isUp {
        require(!isAsked, "\(name(subject)) is stopped, and something still needs it")
        continue
      }
      let isHeld =
        blueprint.workflow.onFailure == .cancel && blueprint.member(subject.id).part == .main
        && isHeld(around: subject)
      // A step that a failure does not block may have started after it.
      let mustEnd =
        !endings(of: subject, atTheLatest: true).isEmpty
        || isHeld && isBlockedByFailure(subject, atTheLatest: true)
      require(isAsked || !mustEnd, "\(name(subject)) runs on, and nobody stops it")
      let mayBeAsked =
        isKilled || isHeld || !cancellations(around: subject, atTheLatest: false).isEmpty
      require(!isAsked || mayBeAsked, "\(name(subject)) is stopped for no reason")
    }
  }
}
