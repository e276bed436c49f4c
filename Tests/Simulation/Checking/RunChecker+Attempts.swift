import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Attempts of a step: each start has one end, and a further attempt follows only if `retry` asks for it.
extension RunChecker {
  func isRun(_ subject: Subject) -> Bool {
    if case .run = blueprint.member(subject.id).step.action { true } else { false }
  }

  mutating func started(_ subject: Subject, attempt: Int) {
    let before = state(subject)
    require(
      attempt == before.attempt + 1,
      "\(name(subject)) starts attempt \(attempt) after \(before.attempt)")
    require(
      before.phase == (attempt == 1 ? .queued : .pausing),
      "\(name(subject)) starts, but it is \(before.phase)")
    if attempt > 1 {
      require(now >= before.resumesAt, "\(name(subject)) does not wait before attempt \(attempt)")
    }
    require(
      isOpen(around: subject) || isCleanup(subject), "\(name(subject)) starts outside of its group")
    if let obstacle = obstacle(to: subject) {
      require(false, "\(name(subject)) starts, but \(obstacle)")
    }
    if attempt == 1, before.error ?? (errors.contains(sequence) && !isError(keyOf: subject)) {
      begin(subject, attempt: attempt)
      states[subject]?.failsAtStart = true
      reported[address(subject)] = .running(since: now, attempt: attempt)
      return require(before.queuedAt == now, "\(name(subject)) cannot start, and waits")
    }
    if isRun(subject), capacity.isTooLarge(subject) {
      begin(subject, attempt: attempt)
      states[subject]?.failsAtStart = true
      reported[address(subject)] = .running(since: now, attempt: attempt)
      return require(before.queuedAt == now, "\(name(subject)) never fits, and waits")
    }
    let hasNoAttempt = deadlocks.contains(sequence)
    if !hasNoAttempt, isError(keyOf: subject) {
      if isRun(subject) {
        requireTurn(of: subject)
        for excess in capacity.start(subject, of: blueprint, at: now) { require(false, excess) }
      }
      begin(subject, attempt: attempt)
      states[subject]?.failsAtStart = true
      reported[address(subject)] = .running(since: now, attempt: attempt)
      return
    }
    if isRun(subject), !hasNoAttempt {
      states[subject, default: State()].record = startedAttempts.count
      startedAttempts.append((address(subject), attempt))
      requireTurn(of: subject)
      for excess in capacity.start(subject, of: blueprint, at: now) { require(false, excess) }
    }
    begin(subject, attempt: attempt)
    reported[address(subject)] = .running(since: now, attempt: attempt)
    if !hasNoAttempt { requireValues(of: subject) }
  }

  /// Checks that only a started approval asks.
  mutating func asking(_ subject: Subject, _ message: String) {
    require(state(subject).phase == .running, "\(name(subject)) asks without having started")
    guard case .approve = blueprint.member(subject.id).step.action else {
      return require(false, "\(name(subject)) asks")
    }
    reported[address(subject)] = .asking(since: now, message: message)
  }

  /// Checks that only a started `wait` step waits.
  mutating func waiting(_ subject: Subject, for delay: Duration) {
    require(state(subject).phase == .running, "\(name(subject)) waits without having started")
    let length: Duration
    switch (blueprint.member(subject.id).step.action, blueprint.made.waits[subject.id]) {
    case (.wait(.duration(let written)), _): length = written
    case (.wait, let computed?): length = value(of: computed, at: subject)
    default: return require(false, "\(name(subject)) waits")
    }
    require(delay == length, "\(name(subject)) waits for \(delay), and not for \(length)")
    reported[address(subject)] = .waiting(since: now, until: now + delay)
  }

  func isCleanup(_ subject: Subject) -> Bool {
    if case .cleanup = blueprint.member(subject.id).part { true } else { false }
  }

  mutating func begin(_ subject: Subject, attempt: Int) {
    var state = state(subject)
    if attempt == 1 { state.began = now }
    (state.attempt, state.startedAt, state.phase) = (attempt, now, .running)
    states[subject] = state
    if attempt == 1 { recordStart(subject) }
  }

  // MARK: Retries

  mutating func retrying(_ subject: Subject, _ retry: Retry) {
    require(state(subject).phase == .running, "\(name(subject)) is tried again without having run")
    capacity.end(subject)
    states[subject]?.isUp = false
    if let obstacle = obstacle(to: subject) {
      require(false, "\(name(subject)) is to be tried again, but \(obstacle)")
    }
    recordRetry(of: subject, retry)
    capacity.waiting.append(subject)
    reported[address(subject)] = .retrying(after: retry.attempt, until: now + retry.delay)
  }

  /// The first policy that applies to the failure decides; each policy counts for itself (SPEC §5).
  private func policy(of subject: Subject, for failure: StepFailure) -> (index: Int, RetryPolicy)? {
    let policies = policies(of: subject)
    let conditions = blueprint.made.retryConditions[subject.id] ?? [:]
    let index = policies.indices.first { index in
      let classes = policies[index].classes ?? RetryPolicy.defaultClasses
      return failure.classes.contains(where: classes.contains)
        && conditions[index]?.allows(failure.classes) != false
    }
    return index.map { ($0, policies[$0]) }
  }

  mutating func recordRetry(of subject: Subject, _ retry: Retry) {
    var state = state(subject)
    require(retry.attempt == state.attempt, "\(name(subject)) counts its attempts wrongly")
    if let (index, policy) = policy(of: subject, for: retry.failure) {
      let used = state.retries[index, default: 0]
      require(
        used < policy.max, "\(name(subject)) is tried more often than \(policy.max) times again")
      var longest = policy.delay / .seconds(1)
      for _ in 0..<used { longest *= policy.factor }
      longest = min(longest, policy.maxDelay / .seconds(1))
      let delay = retry.delay / .seconds(1)
      require(
        delay <= longest + 1e-6 && delay >= (policy.jitter == .none ? longest - 1e-6 : 0),
        "\(name(subject)) waits \(delay) s, and not up to \(longest) s")
      if let within = policy.within {
        require(
          now + retry.delay - state.began <= within, "\(name(subject)) is tried again too late")
      }
      state.retries[index] = used + 1
    } else {
      require(false, "\(name(subject)) is tried again after \(retry.failure.message)")
    }
    (state.phase, state.resumesAt) = (.pausing, now + retry.delay)
    states[subject] = state
  }

  /// Whether a further attempt must have been made.
  func isMissingCleanup(_ subject: Subject, after failure: StepFailure) -> Bool {
    guard let (index, policy) = policy(of: subject, for: failure), policy.within == nil else {
      return false
    }
    return state(subject).retries[index, default: 0] < policy.max
  }

  // MARK: The end

  mutating func finished(_ subject: Subject, _ end: StepEnd) {
    let state = state(subject)
    let wasPausing = state.phase == .pausing
    require(state.phase == .running || wasPausing, "\(name(subject)) ends without a start")
    require(end.attempts == state.attempt, "\(name(subject)) ends with \(end.attempts) attempts")
    capacity.end(subject)
    capacity.waiting.removeAll { $0 == subject }
    if end.failure?.classes == [.limit], !state.failsAtStart {
      requireDeadlock(of: subject, end)
    } else if state.failsAtStart {
      requireError(of: subject, end)
      if blueprint.member(subject.id).isService {
        closing.remove(subject, in: groupAround(subject))
      }
    } else if blueprint.member(subject.id).isService {
      requireServiceOutcome(of: subject, end, wasPausing: wasPausing)
    } else if wasPausing {
      requireCutShort(subject)
    } else if isRun(subject) {
      requireOutcome(of: subject, end)
    } else if case .approve = blueprint.member(subject.id).step.action {
      requireAnswer(to: subject, end)
    } else if end.outcome != .cancelled {
      let classes: [ErrorClass] = isError(outputOf: subject) ? [.output] : []
      require(
        (end.failure?.classes ?? []) == classes,
        "\(name(subject)) has waited, and ends in \(end.outcome)")
    }
    requireConclusion(of: subject, end)
    states[subject]?.phase = .ended
    states[subject]?.end = .step(end)
    states[subject]?.isUp = false
    reported[address(subject)] = .finished(end)
    counts.add(end, at: subject)
    cleaned(subject)
    if end.conclusion == .failure, let failure = end.failure {
      act(failure, of: subject, naming: address(subject))
    }
    memberEnded(subject)
  }

  /// Checks that a step ends between two attempts only if nothing new may start.
  mutating func requireCutShort(_ subject: Subject) {
    requireSoon("\(name(subject)) waits for its next attempt, and is given up for no reason") {
      $0.isBlockedByFailure(subject, atTheLatest: false) || $0.isKilled
        || !$0.cancellations(around: subject, atTheLatest: false).isEmpty
    }
  }

  /// Checks that the step ended as its attempt did.
  private mutating func requireOutcome(of subject: Subject, _ end: StepEnd) {
    let record = record(of: subject)
    guard let status = record?.status else {
      return require(false, "\(name(subject)) ends, and no attempt of it has")
    }
    let classes: [ErrorClass]
    switch status {
    case .ended(.code(0)): classes = isError(outputOf: subject) ? [.output] : []
    case .ended(.code(let code)): classes = [.exit(code), .exit]
    case .ended(.signal(let signal)): classes = [.signal(signal), .signal]
    case .timedOut: classes = [.timeout]
    case .stopped:
      require(end.outcome == .cancelled, "\(name(subject)) was stopped, and ends in \(end.outcome)")
      return requireCancellation(of: subject, end)
    case .stalled, .failed, .misdelivered, .returned, .answered, .pollsAgain, .rehearsed:
      return require(false, "nothing ends like that")
    }
    require(
      (end.failure?.classes ?? []) == classes, "\(name(subject)) ended otherwise than its attempt")
    if let failure = end.failure, isMissingCleanup(subject, after: failure) {
      requireSoon("\(name(subject)) is not retried, for no reason") {
        $0.isKilled || $0.isHeld(around: subject)
          || !$0.cancellations(around: subject, atTheLatest: false).isEmpty
      }
    }
  }

  /// Checks that the step ended as its approval was answered, or without an answer.
  private mutating func requireAnswer(to subject: Subject, _ end: StepEnd) {
    let answer = simulation.answers.last { answer in
      answer.step == address(subject) && answer.answeredAt == now
    }?.answer
    if end.outcome == .cancelled { return requireCancellation(of: subject, end) }
    let deadline = timeLimit(of: subject).map { state(subject).startedAt + $0 }
    let limit = deadline == now
    require(deadline.map { now <= $0 } ?? true, "\(name(subject)) waits longer than it may")
    let isRight =
      switch end.failure?.classes {
      case nil: answer == .approved(by: "me") && !isError(outputOf: subject)
      case [.output]: answer == .approved(by: "me") && isError(outputOf: subject)
      case [.rejected]: answer == .rejected
      case [.timeout]: limit
      default: false
      }
    require(
      isRight,
      "\(name(subject)) ends in \(end.outcome), and was answered \(answer, default: "nothing")")
  }

  mutating func requireCancellation(of subject: Subject, _ end: StepEnd) {
    guard let reason = end.cancellation else {
      return require(false, "\(name(subject)) is cancelled without a reason")
    }
    requireSoon("\(name(subject)) is cancelled by \(reason), which did not happen") {
      $0.isTrue(reason, at: subject)
    }
  }

  mutating func requireConclusion(of subject: Subject, _ end: StepEnd) {
    let tolerance = tolerance(of: subject)
    let isTolerated = end.failure.map { tolerance.tolerates($0.classes) } ?? false
    require(
      end.conclusion == (isTolerated ? .success : end.outcome),
      "\(name(subject)) ended in \(end.outcome), and counts as \(end.conclusion)")
  }
}
