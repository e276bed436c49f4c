import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Attempts of a step: each start has one end, and a further attempt follows only if `retry` asks for it.
extension RunChecker {
  func isRun(_ spot: Spot) -> Bool {
    if case .run = blueprint.member(spot.id).step.action { true } else { false }
  }

  mutating func started(_ spot: Spot, attempt: Int) {
    let before = state(spot)
    require(
      attempt == before.attempt + 1,
      "\(name(spot)) starts attempt \(attempt) after \(before.attempt)")
    require(
      before.phase == (attempt == 1 ? .queued : .pausing),
      "\(name(spot)) starts, but it is \(before.phase)")
    if attempt > 1 {
      require(now >= before.resumesAt, "\(name(spot)) does not wait before attempt \(attempt)")
    }
    require(isOpen(around: spot) || isCleanup(spot), "\(name(spot)) starts outside of its group")
    if let obstacle = obstacle(to: spot) { require(false, "\(name(spot)) starts, but \(obstacle)") }
    if isRun(spot) {
      states[spot, default: State()].record = startedAttempts.count
      startedAttempts.append((address(spot), attempt))
      requireTurn(of: spot)
      for excess in capacity.start(spot, of: blueprint, at: now) { require(false, excess) }
    }
    begin(spot, attempt: attempt)
    reported[address(spot)] = .running(since: now, attempt: attempt)
    requireValues(of: spot)
  }

  /// Checks that only a started approval asks.
  mutating func asking(_ spot: Spot, _ message: String) {
    require(state(spot).phase == .running, "\(name(spot)) asks without having started")
    guard case .approve = blueprint.member(spot.id).step.action else {
      return require(false, "\(name(spot)) asks")
    }
    reported[address(spot)] = .asking(since: now, message: message)
  }

  /// Checks that only a started `wait` step waits.
  mutating func waiting(_ spot: Spot, for delay: Duration) {
    require(state(spot).phase == .running, "\(name(spot)) waits without having started")
    guard case .wait(.duration(let length)) = blueprint.member(spot.id).step.action else {
      return require(false, "\(name(spot)) waits")
    }
    require(delay == length, "\(name(spot)) waits for \(delay), and not for \(length)")
    reported[address(spot)] = .waiting(since: now, until: now + delay)
  }

  func isCleanup(_ spot: Spot) -> Bool {
    if case .cleanup = blueprint.member(spot.id).part { true } else { false }
  }

  mutating func begin(_ spot: Spot, attempt: Int) {
    var state = state(spot)
    if attempt == 1 { state.began = now }
    (state.attempt, state.startedAt, state.phase) = (attempt, now, .running)
    states[spot] = state
    if attempt == 1 { noteStart(spot) }
  }

  // MARK: Retries

  mutating func retrying(_ spot: Spot, _ retry: Retry) {
    require(state(spot).phase == .running, "\(name(spot)) is tried again without having run")
    capacity.end(spot)
    if let obstacle = obstacle(to: spot) {
      require(false, "\(name(spot)) is to be tried again, but \(obstacle)")
    }
    noteRetry(of: spot, retry)
    capacity.waiting.append(spot)
    reported[address(spot)] = .retrying(after: retry.attempt, until: now + retry.delay)
  }

  /// The first policy that applies to the failure decides; each policy counts for itself (SPEC §5).
  private func policy(of spot: Spot, for failure: StepFailure) -> (index: Int, RetryPolicy)? {
    let policies = blueprint.member(spot.id).step.control.retry
    let conditions = blueprint.made.retryConditions[spot.id] ?? [:]
    let index = policies.indices.first { index in
      let classes = policies[index].classes ?? RetryPolicy.defaultClasses
      return failure.classes.contains(where: classes.contains)
        && conditions[index]?.allows(failure.classes) != false
    }
    return index.map { ($0, policies[$0]) }
  }

  mutating func noteRetry(of spot: Spot, _ retry: Retry) {
    var state = state(spot)
    require(retry.attempt == state.attempt, "\(name(spot)) counts its attempts wrongly")
    if let (index, policy) = policy(of: spot, for: retry.failure) {
      let used = state.retries[index, default: 0]
      require(used < policy.max, "\(name(spot)) is tried more often than \(policy.max) times again")
      var longest = policy.delay / .seconds(1)
      for _ in 0..<used { longest *= policy.factor }
      longest = min(longest, policy.maxDelay / .seconds(1))
      let delay = retry.delay / .seconds(1)
      require(
        delay <= longest + 1e-6 && delay >= (policy.jitter == .none ? longest - 1e-6 : 0),
        "\(name(spot)) waits \(delay) s, and not up to \(longest) s")
      if let within = policy.within {
        require(
          now + retry.delay - state.began <= within, "\(name(spot)) is tried again too late")
      }
      state.retries[index] = used + 1
    } else {
      require(false, "\(name(spot)) is tried again after \(retry.failure.message)")
    }
    (state.phase, state.resumesAt) = (.pausing, now + retry.delay)
    states[spot] = state
  }

  /// Whether a further attempt must have been made.
  func isOwedAnother(_ spot: Spot, after failure: StepFailure) -> Bool {
    guard let (index, policy) = policy(of: spot, for: failure), policy.within == nil else {
      return false
    }
    return state(spot).retries[index, default: 0] < policy.max
  }

  // MARK: The end

  mutating func finished(_ spot: Spot, _ end: StepEnd) {
    let state = state(spot)
    let wasPausing = state.phase == .pausing
    require(state.phase == .running || wasPausing, "\(name(spot)) ends without a start")
    require(end.attempts == state.attempt, "\(name(spot)) ends with \(end.attempts) attempts")
    capacity.end(spot)
    capacity.waiting.removeAll { $0 == spot }
    if wasPausing {
      requireCutShort(spot)
    } else if isRun(spot) {
      requireOutcome(of: spot, end)
    } else if case .approve = blueprint.member(spot.id).step.action {
      requireAnswer(to: spot, end)
    }
    requireConclusion(of: spot, end)
    states[spot]?.phase = .ended
    states[spot]?.end = .step(end)
    reported[address(spot)] = .finished(end)
    counts.add(end, at: spot)
    cleaned(spot)
    if end.conclusion == .failure, let failure = end.failure {
      act(failure, of: spot, naming: address(spot))
    }
    memberEnded(spot)
  }

  /// Checks that a step ends between two attempts only if nothing new may start.
  private mutating func requireCutShort(_ spot: Spot) {
    requireSoon("\(name(spot)) waits for its next attempt, and is given up for no reason") {
      $0.isHeld(around: spot) || $0.isKilled
        || !$0.cancellations(around: spot, atTheLatest: false).isEmpty
    }
  }

  /// Checks that the step ended as its attempt did.
  private mutating func requireOutcome(of spot: Spot, _ end: StepEnd) {
    let record = record(of: spot)
    guard let status = record?.status else {
      return require(false, "\(name(spot)) ends, and no attempt of it has")
    }
    let classes: [ErrorClass]
    switch status {
    case .ended(.code(0)): classes = []
    case .ended(.code(let code)): classes = [.exit(code), .exit]
    case .ended(.signal(let signal)): classes = [.signal(signal), .signal]
    case .timedOut: classes = [.timeout]
    case .stopped:
      require(end.outcome == .cancelled, "\(name(spot)) was stopped, and ends in \(end.outcome)")
      return requireCancellation(of: spot, end)
    case .stalled, .failed, .misdelivered, .returned, .answered, .asksAgain:
      return require(false, "nothing ends like that")
    }
    require(
      (end.failure?.classes ?? []) == classes, "\(name(spot)) ended otherwise than its attempt")
    if let failure = end.failure, isOwedAnother(spot, after: failure) {
      requireSoon("\(name(spot)) is not retried, for no reason") {
        $0.isKilled || $0.isHeld(around: spot)
          || !$0.cancellations(around: spot, atTheLatest: false).isEmpty
      }
    }
  }

  /// Checks that the step ended as its approval was answered, or without an answer.
  private mutating func requireAnswer(to spot: Spot, _ end: StepEnd) {
    let answer = simulation.answers.last { answer in
      answer.step == address(spot) && answer.answeredAt == now
    }?.answer
    if end.outcome == .cancelled { return requireCancellation(of: spot, end) }
    let limit = timeLimit(of: spot).map { state(spot).startedAt + $0 == now } ?? false
    let isRight =
      switch end.failure?.classes {
      case nil: answer == .approved(by: "me")
      case [.rejected]: answer == .rejected
      case [.timeout]: limit
      default: false
      }
    require(
      isRight,
      "\(name(spot)) ends in \(end.outcome), and was answered \(answer, default: "nothing")")
  }

  private mutating func requireCancellation(of spot: Spot, _ end: StepEnd) {
    guard let reason = end.cancellation else {
      return require(false, "\(name(spot)) is cancelled without a reason")
    }
    requireSoon("\(name(spot)) is cancelled by \(reason), which did not happen") {
      $0.isTrue(reason, at: spot)
    }
  }

  private mutating func requireConclusion(of spot: Spot, _ end: StepEnd) {
    let tolerance = blueprint.member(spot.id).step.allowFailure
    let isTolerated = end.failure.map { tolerance.tolerates($0.classes) } ?? false
    require(
      end.conclusion == (isTolerated ? .success : end.outcome),
      "\(name(spot)) ended in \(end.outcome), and counts as \(end.conclusion)")
  }
}
