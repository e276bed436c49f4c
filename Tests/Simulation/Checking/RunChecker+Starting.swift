import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Whether a step may start: its dependencies have ended as its condition requires, and no enclosing scope is closed.
extension RunChecker {
  func isReady(_ spot: Spot) -> Bool {
    if case .cleanup = blueprint.member(spot.id).part {
      return needs(of: spot).allSatisfy(isSettled)
    }
    return isOpen(around: spot) && needs(of: spot).allSatisfy(isSettled)
  }

  private func isSettled(_ spot: Spot) -> Bool { result(spot) != nil }

  /// Whether its enclosing spot has started and not ended.
  func isOpen(around spot: Spot) -> Bool {
    blueprint.around(spot).map { state($0).phase == .running } ?? true
  }

  /// A reason that allows it not to start, whatever its condition evaluates to.
  func obstacle(to spot: Spot) -> String? {
    if let reason = endings(of: spot, atTheLatest: true).first { return "is cancelled (\(reason))" }
    return isHeldBack(spot, atTheLatest: true) ? "is held back" : nil
  }

  /// The reason why it must not start; `nil` if it may.
  func whyNot(_ spot: Spot) -> String? {
    if !isReady(spot) { return "is not ready" }
    if let obstacle = obstacle(to: spot) { return obstacle }
    let condition = condition(of: spot)
    let member = blueprint.member(spot.id)
    let impliesSuccess = (member.condition?.statuses.isEmpty ?? true) && !member.isClosing
    if impliesSuccess, let need = needs(of: spot).first(where: { holdsBack($0, spot) }) {
      return "needs \(name(need)), which did not succeed"
    }
    guard let condition, !isUncertain(spot) else { return nil }
    return condition.value(known(at: spot))
      ? nil : "has a condition that is false: \(condition.text)"
  }

  mutating func requireMayStart(_ spot: Spot) {
    if let reason = whyNot(spot) { require(false, "\(name(spot)) starts, but \(reason)") }
  }

  mutating func queued(_ spot: Spot) {
    require(state(spot).phase == .waiting, "\(name(spot)) is queued again")
    requireMayStart(spot)
    noteElement(spot)
    states[spot, default: State()].phase = .queued
    states[spot]?.queuedAt = now
    if isRun(spot) { capacity.waiting.append(spot) }
    reported[address(spot)] = .queued
  }

  func address(_ spot: Spot) -> StepAddress { StepAddress(name(spot)) }

  /// The inputs and the end of the attempt. Attempts are made in the order in which they are reported.
  func record(of spot: Spot) -> ScriptedWorld.Record? {
    let index = state(spot).record
    let record = simulation.attempts.indices.contains(index) ? simulation.attempts[index] : nil
    return record?.address.text == name(spot) ? record : nil
  }

  /// Checks that the values it reads are the results of the other steps.
  mutating func requireValues(of spot: Spot) {
    guard let record = record(of: spot) else { return }
    let limit = timeLimit(of: spot)
    require(
      record.timeout == limit,
      "\(name(spot)) may take \(String(describing: record.timeout)), and not \(String(describing: limit))"
    )
    for (variable, value) in record.environment {
      readings += 1
      let isOfElements = variable.hasPrefix("results_")
      let read = isOfElements ? String(variable.dropFirst("results_".count)) : variable
      let other = blueprint.spot(read, from: spot)
      let expected =
        isOfElements
        ? results(of: other) : result(other).map { "\($0.outcome) as \($0.conclusion)" }
      require(
        value == expected,
        "\(name(spot)) reads \(value ?? "nothing") of \(read): \(expected ?? "it has not ended")")
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
    for spot in capacity.waiting where mayRun(spot) {
      require(false, "\(name(spot)) waits for a slot, and there is one")
    }
  }

  /// Whether a group may have been skipped: its steps report that, each when its own dependencies have ended.
  private func mayHaveBeenPassedOver(_ spot: Spot) -> Bool {
    let member = blueprint.member(spot.id)
    guard member.group != nil, !member.isLoop, !member.retries else { return false }
    if let condition = condition(of: spot), mayBe(false, condition, at: spot) { return true }
    return isUncertain(spot) || whyNot(spot) != nil
      || !cancellations(around: spot, atTheLatest: false).isEmpty
  }

  private func mayRun(_ spot: Spot) -> Bool {
    (state(spot).phase == .queued || state(spot).resumesAt < now)
      && capacity.hasRoom(for: spot, of: blueprint, at: now)
  }

  /// Checks that everything running in an ended scope has been asked to stop.
  mutating func requireStops() {
    let running = simulation.attempts.filter { attempt in
      attempt.startedAt <= now && attempt.endedAt.map { $0 > now } ?? true
    }
    for attempt in running {
      guard let spot = blueprint.spot(called: attempt.address.text),
        state(spot).phase == .running
      else { continue }
      let isAsked = attempt.stoppedAt.map { $0 <= now } ?? false
      let isHeld = blueprint.workflow.onFailure == .cancel && isHeld(around: spot)
      // A step that a failure does not block may have started after it.
      let mustEnd =
        !endings(of: spot, atTheLatest: true).isEmpty
        || isHeld && isHeldBack(spot, atTheLatest: true)
      require(isAsked || !mustEnd, "\(name(spot)) runs on, and nobody stops it")
      let mayBeAsked =
        isKilled || isHeld || !cancellations(around: spot, atTheLatest: false).isEmpty
      require(!isAsked || mayBeAsked, "\(name(spot)) is stopped for no reason")
    }
  }
}
