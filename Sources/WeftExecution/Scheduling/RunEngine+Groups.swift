import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Groups that run once, as a part of the region around them: from their start to their end, with members as nodes in
/// between.
extension RunEngine {
  func launchGroup(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    let group = plan.groups[index]
    if group.isLoop, !instance.isElement(of: group.startNode) {
      return launchLoop(.group(index), in: instance, after: results)
    }
    if group.hasOwnRegion { return launchRegion(index, in: instance, after: results) }
    let task = GroupTask(index, of: plan, in: instance)
    let failedBefore = results.contains(where: \.hasFailed)
    switch admission(of: task, after: results) {
    case .skip(let reason): return Future(value: skip(task, reason, after: results))
    case .fail(let failure):
      return Future(value: failAtStart(task, failure, failedBefore: failedBefore))
    case .start:
      startGroup(task, failedBefore: failedBefore)
      return Future(
        value: NodeResult(conclusion: .success, causingStep: nil, failedBefore: failedBefore))
    }
  }

  /// Fails a group at its start, so that its members are skipped. Its end is reported when they are.
  private func failAtStart(
    _ task: GroupTask, _ failure: StepFailure, failedBefore: Bool
  ) -> NodeResult {
    announceFailure(of: task)
    let reason = SkipReason.dependencyFailed(task.address)
    let (verdict, response) = state.withLock { state in
      state.scopes.begin(task.scope, failedBefore: failedBefore)
      let (verdict, response) = state.scopes.failed(group: task.scope, failure)
      state.scopes.skip(task.scope, reason)
      state.groups.add(
        RunningGroup(since: time.now, failing: verdict, failedBefore: failedBefore), task.scope)
      return (verdict, response)
    }
    recordGroup(task, verdict, .success([]), lasting: .zero)
    respond(to: response)
    return NodeResult(reason, failedBefore: failedBefore)
  }

  /// Reports the start of a group that fails at it. From then on its cleanup is pending, as that of a step that fails at
  /// its start.
  private func announceFailure(of task: GroupTask) {
    scheduleOwnCleanup(of: task)
    let start = GroupStart(
      attempt: task.attempt, isRestored: resumePolicy?.isReusable(task) ?? false)
    events.publish(.groupStarted(task.address, start))
  }

  /// Schedules the cleanup of a group that starts: once under each engine, however many attempts there are.
  private func scheduleOwnCleanup(of task: GroupTask) {
    let node = plan.groups[task.index].startNode
    guard !task.instance.isRepeated(attemptOf: node), resumePolicy?.isCleaned(task) != true else {
      return
    }
    let instance = task.instance.aroundAttempts(of: node)
    scheduleCleanup(of: node, in: instance, scope: instance.scope(around: task.index, of: plan))
  }

  func launchGroupEnd(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    let task = GroupTask(index, of: plan, in: instance)
    // A group that never started has no events: its members were reported as skipped.
    let (absence, failed) = state.withLock { state in
      let absence = state.scopes.absence(of: task.scope)
      return (absence, absence.flatMap { _ in state.groups.remove(task.scope) })
    }
    if let failed, let verdict = failed.verdict {
      let outcome = GroupOutcome(verdict: verdict, failedBefore: failed.failedBefore)
      let cleaning = cleanUp(in: task.scope, after: results.list)
      return (cleaning.map { $0.map { _ in } } ?? Future(value: ())).map { [self] in
        report(task, outcome)
        return outcome.result
      }
    }
    if let reason = absence {
      recordGroup(task, Scopes.Verdict(reason.outcome), .success([]), lasting: .zero)
      let result = NodeResult(reason, failedBefore: results.contains(where: \.hasFailed))
      // Cleanups that an earlier engine left pending inside it run nevertheless.
      return cleanUp(in: task.scope, after: results.list)?.map { result } ?? Future(value: result)
    }
    return endGroup(task, members: results.list).map { [self] outcome in
      report(task, outcome)
      return outcome.result
    }
  }

  /// Decides whether a group starts.
  func admission(of task: GroupTask, after results: NodeResults) -> Admission {
    if let recorded = resumePolicy?.beginning(of: task) {
      if let failure = resumePolicy?.failureAtStart(of: task) { return .fail(failure) }
      let group = plan.groups[task.index]
      // A group that is reported as a whole is restored as a whole, whatever became of the groups around it.
      let isWhole = group.hasOwnRegion || task.instance.isElement(of: group.startNode)
      let scope = task.instance.scope(around: task.index, of: plan)
      let reason = recorded.skip ?? (isWhole ? nil : absence(around: scope))
      return reason.map(Admission.skip) ?? .start(.none)
    }
    let parent = plan.groups[task.index].parent ?? 0
    let scope = task.instance.scope(around: task.index, of: plan)
    let admission = admission(
      of: .group(task.index), at: task.address, in: task.instance, scope: scope,
      if: StartCondition(plan.values.texts(ofGroup: task.index)), after: results,
      startsAlways: plan.isFinal(parent),
      isSelected: configuration.selection.includes(anyOf: plan.steps(inGroup: task.index)),
      goesOn: resumePolicy?.goesOn(task, isJoined: isJoined(around: scope)) ?? false)
    // Steps of `finally` are never blocked, so they need no immunity. Those of a file that it runs do, and so does the
    // next attempt of a group.
    if case .start(let immunity) = admission,
      !plan.isFinal(parent) || plan.groups[task.index].hasOwnRegion
    {
      state.withLock { $0.scopes.grantImmunity(task.scope, by: immunity) }
    }
    return admission
  }

  /// Whether a join that is decided ends everything in a scope.
  func isJoined(around scope: Int) -> Bool {
    if case .joined? = state.withLock({ $0.scopes.cancellation(of: scope) }) { true } else { false }
  }

  /// The reason why a reusable group is not restored: a group around it does not start. Its members are reported by
  /// themselves.
  func absence(around scope: Int) -> SkipReason? {
    state.withLock { $0.scopes.absence(of: scope) }
  }

  func skip(_ task: GroupTask, _ reason: SkipReason, after results: NodeResults) -> NodeResult {
    schedulePendingCleanup(of: task)
    // The members' events report the skip. A group that an earlier engine started must not count as done on the next
    // resume.
    if let resumePolicy, resumePolicy.recorded.groups[task.address] != nil,
      !resumePolicy.isReusable(task)
    {
      events.record(.groupSkipped(task.address, reason))
    }
    state.withLock { $0.scopes.skip(task.scope, reason) }
    return NodeResult(reason, failedBefore: results.contains(where: \.hasFailed))
  }

  func startGroup(_ task: GroupTask, failedBefore: Bool) {
    let group = plan.groups[task.index]
    scheduleOwnCleanup(of: task)
    // The top level of a nested file is reported as the step that runs it.
    if !group.isTopLevel {
      events.publish(
        .groupStarted(
          task.address,
          GroupStart(attempt: task.attempt, isRestored: resumePolicy?.isReusable(task) ?? false)))
    }
    let limit = group.step?.timeout
    // Members of a group that succeeded are restored in an order other than that in which they failed.
    let toleratesAll = resumePolicy?.end(of: task)?.conclusion == .success
    let running = RunningGroup(
      since: time.now, limit: limit, failedBefore: failedBefore, isRestored: toleratesAll)
    state.withLock { state in
      state.scopes.begin(task.scope, failedBefore: failedBefore)
      if toleratesAll { state.scopes.tolerateAll(in: task.scope) }
      state.groups.add(running, task.scope)
    }
    if !toleratesAll { decideAsRecorded(task) }
    guard let limit, let clock = running.clock else { return }
    let timer = time.schedule(after: limit) { [self] in
      respond(
        to: state.withLock { state in
          guard state.groups.isRunning(task.scope, clock) else { return .nothing }
          return state.scopes.timeLimitPassed(of: task.scope, after: limit)
        })
    }
    if !state.withLock({ $0.groups.setTimer(timer, task.scope, clock) }) { timer.cancel() }
  }

  /// Ends a group after all its members have ended: runs its cleanups, then determines its outcome.
  func endGroup(_ task: GroupTask, members: [NodeResult]) -> Future<GroupOutcome, Never> {
    let group = plan.groups[task.index]
    if group.isTopLevel, let caller = group.parent {
      endTimeLimit(of: task.instance.scope(ofGroup: caller))
    }
    guard let cleaning = cleanUp(in: task.scope, after: members) else {
      return Future(value: judge(task, members: members))
    }
    return cleaning.map { [self] _ in judge(task, members: members) }
  }

  /// Fails a group that has started, before its members run.
  func fail(_ task: GroupTask, _ failure: StepFailure) -> GroupOutcome {
    let (verdict, response, running) = state.withLock { state in
      let running = state.groups.remove(task.scope)
      let (verdict, response) = state.scopes.failed(group: task.scope, failure)
      return (verdict, response, running)
    }
    running?.timer?.cancel()
    recordGroup(task, verdict, .success([]), lasting: .zero)
    respond(to: response)
    return GroupOutcome(verdict: verdict, failedBefore: running?.failedBefore ?? false)
  }

  private func judge(_ task: GroupTask, members: [NodeResult]) -> GroupOutcome {
    let recorded = resumePolicy?.end(of: task)
    var (verdict, response, running) = state.withLock { state in
      let running = state.groups.remove(task.scope)
      // Members are restored in an order other than that in which they ended, so a different failure might come
      // first.
      let (verdict, response) =
        recorded.flatMap(Scopes.Verdict.init).map { ($0, Scopes.Response.nothing) }
        ?? state.scopes.end(ofGroup: task.scope, members: members, success: running?.success)
      return (verdict, response, running)
    }
    running?.timer?.cancel()
    let duration = recorded?.duration ?? running.map { time.now - $0.since } ?? .zero
    // Members that an earlier engine ended may be restored in a different order.
    let winner = recorded?.winner.flatMap { member(at: $0, of: task) } ?? running?.winner
    let attempts = recorded?.attempts ?? task.attempt
    let isRecomputed = resumePolicy?.isRecomputed(group: task.index, in: task.instance) ?? false
    // The files that they read may have other contents by now.
    var outputs =
      recorded.flatMap { isRecomputed ? nil : .success($0.outputs.map(OutputValue.init)) }
      ?? outputs(of: task, verdict, winner: winner, lasting: duration, attempts: attempts)
    let isUnknown = rehearsal != nil && (try? outputs.get()) == nil
    if isUnknown { outputs = .success([]) }
    if case .failure(let failure) = outputs {
      (verdict, response) = state.withLock { $0.scopes.failed(group: task.scope, failure) }
    }
    recordGroup(
      task, verdict, outputs, winner: winner, lasting: duration, attempts: attempts,
      isUnknown: isUnknown)
    respond(to: response)
    return GroupOutcome(
      verdict: verdict, outputs: (try? outputs.get()) ?? [], duration: duration,
      failedBefore: running?.failedBefore ?? false)
  }

  /// The node of a member of a group at an address; `nil` if there is none.
  private func member(at address: StepAddress, of task: GroupTask) -> Plan.NodeIndex? {
    plan.groups[task.index].members.lazy.map(Int.init).first {
      task.instance.address(of: plan.address(of: $0)) == address
    }
  }

  func report(_ task: GroupTask, _ outcome: GroupOutcome) {
    guard !plan.groups[task.index].isTopLevel else { return }
    let verdict = outcome.verdict
    events.publish(
      .groupFinished(
        task.address,
        GroupEnd(
          outcome: verdict.outcome, conclusion: verdict.conclusion, failure: verdict.failure,
          cause: verdict.cause, attempts: resumePolicy?.end(of: task)?.attempts ?? task.attempt,
          winner: verdict.winner,
          notRetried: resumePolicy?.end(of: task)?.notRetried ?? outcome.notRetried,
          duration: outcome.duration, outputs: outcome.outputs.map(ReportedOutput.init))))
  }

  // MARK: Races and joins

  /// Decides a race or join by the members that have succeeded under an earlier engine, so that no other starts.
  private func decideAsRecorded(_ task: GroupTask) {
    guard let resumePolicy, plan.groups[task.index].endsEarly else { return }
    for node in resumePolicy.successes(inGroup: task) {
      memberEnded(node, ofGroup: task.index, in: task.instance, .success)
    }
  }

  /// Counts a success of a member of a race or join, which may decide the group before all members have ended.
  func memberEnded(
    _ node: Plan.NodeIndex, ofGroup index: Int, in instance: Instance, _ result: NodeResult
  ) {
    guard result.conclusion == .success,
      case .group(let group)? = plan.groups[index].step?.action
    else { return }
    let task = GroupTask(index, of: plan, in: instance)
    let member = instance.address(of: plan.address(of: node))
    respond(
      to: state.withLock { state in
        guard let count = state.groups.memberSucceeded(node, task.scope) else { return .nothing }
        let cancels: Bool
        let reason: CancelReason
        switch (group.order, group.join) {
        case (.race, _):
          cancels = state.groups.decide(task.scope, GroupSuccess(winner: member), node)
          reason = .raceWon(task.address, by: member)
        case (_, .atLeast(let wanted)) where count >= wanted:
          cancels = state.groups.decide(task.scope, GroupSuccess(), nil)
          reason = .joined(task.address)
        default: return .nothing
        }
        return cancels ? state.scopes.cancel(task.scope, reason) : .nothing
      })
  }
}

/// Groups that are run apart, as a plan region of their own: retried groups and nested files. Each attempt gets a
/// instance of its own.
extension RunEngine {
  func launchRegion(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    let task = GroupTask(index, of: plan, in: instance)
    let failedBefore = results.contains(where: \.hasFailed)
    switch admission(of: task, after: results) {
    case .skip(let reason): return Future(value: skipAll(task, reason, after: results))
    case .fail(let failure):
      let first = GroupTask(index, of: plan, in: openAttempt(1, of: task), attempt: 1)
      return Future(
        value: finish(first, failWhole(first, failure, failedBefore: failedBefore), of: task))
    case .start:
      let retry = plan.groups[index].step?.control.retry ?? []
      let before = resumePolicy?.attemptsBefore(task) ?? 0
      let ledger = RetryLedger(policies: retry, startedAt: time.now, after: before)
      return attempt(1, of: task, ledger, after: before, failedBefore: failedBefore)
    }
  }

  /// Fails, as a whole, a group that is run apart or is an element: its members are not reported.
  func failWhole(
    _ task: GroupTask, _ failure: StepFailure, failedBefore: Bool
  ) -> GroupOutcome {
    let reason = SkipReason.dependencyFailed(task.address)
    announceFailure(of: task)
    schedulePendingCleanup(
      inside: task, reason, scope: task.instance.scope(around: task.index, of: plan))
    durations?.skipped(PlanRegion(group: task.index, of: plan).steps, in: task.instance, reason)
    state.withLock {
      $0.groups.add(
        RunningGroup(since: time.now, limit: nil, failedBefore: failedBefore, isRestored: false),
        task.scope)
    }
    return fail(task, failure)
  }

  /// Skips, as a whole, a group that is run apart.
  func skipAll(
    _ task: GroupTask, _ reason: SkipReason, after results: NodeResults
  ) -> NodeResult {
    schedulePendingCleanup(of: task)
    let scope = task.instance.scope(around: task.index, of: plan)
    schedulePendingCleanup(inside: task, reason, scope: scope)
    values.record(
      .skipped(reason, .group), ofNode: plan.groups[task.index].startNode, in: task.instance)
    durations?.skipped(PlanRegion(group: task.index, of: plan).steps, in: task.instance, reason)
    events.publish(.stepSkipped(task.address, reason))
    return NodeResult(reason, failedBefore: results.contains(where: \.hasFailed))
  }

  /// - Parameters:
  ///   - number: Counted by this engine.
  ///   - before: The number of attempts that an earlier engine made before.
  private func attempt(
    _ number: Int, of whole: GroupTask, _ ledger: RetryLedger, after before: Int,
    failedBefore: Bool
  ) -> Future<NodeResult, Never> {
    let instance = openAttempt(number, of: whole)
    let task = GroupTask(whole.index, of: plan, in: instance, attempt: before + number)
    return run(task, failedBefore: failedBefore).flatMap { [self] outcome in
      var ledger = ledger
      switch decision(&ledger, on: outcome, of: task) {
      case .giveUp(let refusal):
        var outcome = outcome
        outcome.notRetried = refusal?.message
        return Future(value: finish(task, outcome, of: whole))
      case .retry(let delay, _):
        return repeatAttempt(task, outcome, of: whole, ledger, after: delay) { [self, ledger] in
          attempt(
            number + 1, of: whole, ledger, after: before, failedBefore: outcome.failedBefore)
        }
      }
    }
  }

  private func repeatAttempt(
    _ task: GroupTask, _ outcome: GroupOutcome, of whole: GroupTask, _ ledger: RetryLedger,
    after delay: Duration, by next: @escaping @Sendable () -> Future<NodeResult, Never>
  ) -> Future<NodeResult, Never> {
    guard let failure = outcome.verdict.failure else {
      preconditionFailure("only failures are retried")
    }
    let retry = Retry(
      attempt: task.attempt, of: ledger.attemptLimit, failure: failure, exit: nil,
      duration: outcome.duration, delay: delay)
    durations?.repeated(task.instance.region.steps, in: whole.instance)
    events.publish(.groupRetrying(task.address, retry))
    let outer = whole.instance.scope(around: whole.index, of: plan)
    // Negative, so that the key differs from the number of every step.
    let immunity = state.withLock { $0.scopes.immunity(of: whole.scope) }
    return pause(-1 - whole.scope, in: outer, for: delay, immunity: immunity).flatMap {
      [self] pauseEnd in
      guard pauseEnd == .over else {
        return Future(value: finish(task, cutShort(outcome, in: outer), of: whole))
      }
      state.withLock { state in
        state.scopes.close(task.instance.scope, groups: task.instance.region.groups)
      }
      return next()
    }
  }

  /// The outcome after a retry was cut short: that of the last attempt, unless the scope was cancelled.
  private func cutShort(_ outcome: GroupOutcome, in scope: Int) -> GroupOutcome {
    let cancellation = state.withLock { state in
      state.scopes.recordCancellationEffect()
      return state.scopes.cancellation(of: scope)
    }
    guard let reason = cancellation else { return outcome }
    var outcome = outcome
    outcome.verdict = Scopes.Verdict(.cancelled, by: reason.causingStep)
    return outcome
  }

  private func openAttempt(_ number: Int, of whole: GroupTask) -> Instance {
    let region = PlanRegion(group: whole.index, of: plan)
    let outer = whole.instance.scope(around: whole.index, of: plan)
    let scope = state.withLock { state in
      let scope = state.scopes.open(
        in: outer, boundary: .holding, groups: region.groups, of: plan,
        addresses: whole.instance.address(of:))
      state.scopes.grantImmunity(scope, by: state.scopes.immunity(of: whole.scope))
      return scope
    }
    return Instance(attempt: number, of: region, in: whole.instance, scope: scope)
  }

  /// Runs the members of a group that has a plan region of its own.
  func run(_ task: GroupTask, failedBefore: Bool) -> Future<GroupOutcome, Never> {
    guard let body = plan.bodies.ofGroups[task.index] else {
      preconditionFailure("group \(task.address) has no body of its own")
    }
    startGroup(task, failedBefore: failedBefore)
    if let failure = giveInputs(to: task), rehearsal == nil {
      return Future(value: fail(task, failure))
    }
    // Failures above the step that runs a file do not count inside the file.
    let isFile = plan.file(runByGroup: task.index) != nil
    let entry = [
      NodeResult(conclusion: .success, causingStep: nil, failedBefore: failedBefore && !isFile)
    ]
    let gate = Promise<[NodeResult], Never>(ifDropped: .success(entry))
    let futures = compile(body, of: task.index, in: task.instance, start: gate.future)
    let first = task.instance.region.nodes.lowerBound
    let ends = plan.groups[task.index].members.map {
      futures[plan.closingNode(of: Int($0)) - first]
    }
    let outcome = Future.zip(ends).flatMap { [self] members in
      close(task).flatMap { [self] in endGroup(task, members: members) }
    }
    gate.succeed(entry)
    return outcome
  }

  private func decision(
    _ ledger: inout RetryLedger, on outcome: GroupOutcome, of task: GroupTask
  ) -> RetryLedger.Decision {
    guard outcome.verdict.outcome == .failure, let failure = outcome.verdict.failure,
      resumePolicy?.isReusable(task) != true,
      state.withLock({ $0.scopes.isOpen(around: task.instance.scope) })
    else { return .giveUp(nil) }
    let own = task.instance.result(ofNode: plan.groups[task.index].startNode)
    return decide(&ledger, after: failure) { [self] policy in
      allows(policy, own, plan.values.texts(ofGroup: task.index), of: task.address) {
        StepScope(values: values, instance: task.instance, group: plan.groups[task.index].parent)
      }
    }
  }

  /// Ends the group after its last attempt: reports it, and makes the attempt's values those of the group.
  private func finish(
    _ task: GroupTask, _ outcome: GroupOutcome, of whole: GroupTask
  ) -> NodeResult {
    report(task, outcome)
    adoptResult(task, outcome, to: whole)
    let response = state.withLock { state in
      let hasFailed = outcome.verdict.conclusion == .failure
      state.scopes.close(task.instance.scope, groups: task.instance.region.groups)
      guard hasFailed, let failure = outcome.verdict.failure else {
        return Scopes.Response.nothing
      }
      // The failure that is reported for the group, and no other failure inside it.
      let fault = Scopes.Failure(address: outcome.verdict.cause ?? task.address, failure: failure)
      return state.scopes.failed(fault, in: whole.instance.scope(around: whole.index, of: plan))
    }
    respond(to: response)
    return outcome.result
  }

  /// Makes the values of the last attempt the values that expressions read of the group.
  private func adoptResult(_ task: GroupTask, _ outcome: GroupOutcome, to whole: GroupTask) {
    let node = plan.groups[task.index].startNode
    guard var own = task.instance.result(ofNode: node) else { return }
    own.attempts = resumePolicy?.end(of: task)?.attempts ?? task.attempt
    own.outcome = outcome.verdict.outcome
    own.conclusion = outcome.verdict.conclusion
    values.record(own, ofNode: node, in: whole.instance)
  }
}
