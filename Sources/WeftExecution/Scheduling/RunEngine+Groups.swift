import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// One execution of a group in one frame, from its start to its end.
struct GroupTask: Sendable {
  let instance: Instance
  /// Index in the plan.
  let index: Int
  let address: StepAddress
  let scope: Int
  var attempt = 1

  init(_ index: Int, of plan: Plan, in instance: Instance, attempt: Int = 1) {
    guard let address = plan.groups[index].address else {
      preconditionFailure("the top level is not a node")
    }
    self.instance = instance
    self.index = index
    self.address = instance.address(of: address)
    self.attempt = attempt
    scope = instance.scope(ofGroup: index)
  }
}

/// The end of a group, before it is reported.
struct GroupOutcome: Sendable {
  var verdict: Scopes.Verdict
  var outputs: [OutputValue] = []
  var duration = Duration.zero
  /// Whether a direct or indirect dependency of the group had failed.
  var failedBefore: Bool

  var result: NodeResult {
    NodeResult(
      conclusion: verdict.conclusion, blame: verdict.blame, failedBefore: failedBefore)
  }
}

/// Groups that run once, as a part of the region around them: from their start to their end, with members as nodes in
/// between.
extension RunEngine {
  func launchGroup(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    let group = plan.groups[index]
    if let step = group.step, step.hasControl, step.control.fanOut != nil,
      !instance.isElement(of: group.startNode)
    {
      return launchFanOut(.group(index), in: instance, after: results)
    }
    if group.isRunApart { return launchRepeated(index, in: instance, after: results) }
    let task = GroupTask(index, of: plan, in: instance)
    if let reason = whyNotStarted(task, after: results) {
      return Future(value: skip(task, reason, after: results))
    }
    let failedBefore = results.contains(where: \.hasFailed)
    startGroup(task, failedBefore: failedBefore)
    return Future(
      value: NodeResult(conclusion: .success, blame: nil, failedBefore: failedBefore))
  }

  func launchGroupEnd(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    let task = GroupTask(index, of: plan, in: instance)
    // A group that never started has no events: its members were reported as skipped.
    let absence = state.withLock { $0.scopes.absence(of: task.scope) }
    if let reason = absence {
      recordGroup(
        task, Scopes.Verdict(outcome: reason.outcome, conclusion: reason.outcome), .success([]),
        lasting: .zero)
      let result = NodeResult(reason, failedBefore: results.contains(where: \.hasFailed))
      // Cleanups that an earlier engine left pending inside it run nevertheless.
      return cleanUp(in: task.scope, after: results.list)?.map { result } ?? Future(value: result)
    }
    return endGroup(task, members: results.list).map { [self] outcome in
      report(task, outcome)
      return outcome.result
    }
  }

  /// The reason why a group does not start; `nil` if it does. A condition that cannot be evaluated fails the group.
  func whyNotStarted(_ task: GroupTask, after results: NodeResults) -> SkipReason? {
    if let past = resumePolicy?.beginning(of: task) {
      let group = plan.groups[task.index]
      // A group that is reported as a whole is restored as a whole, whatever became of the groups around it.
      let isWhole = group.isRunApart || task.instance.isElement(of: group.startNode)
      let scope = task.instance.scope(around: task.index, of: plan)
      return past.skip ?? (isWhole ? nil : absence(around: scope))
    }
    let parent = plan.groups[task.index].parent ?? 0
    let admission = admission(
      StartCondition(plan.values.texts(ofGroup: task.index)), of: task.address, in: task.instance,
      scope: task.instance.scope(around: task.index, of: plan), after: results, inGroup: task.index,
      startsAlways: isFinal(parent),
      isSelected: selection.includes(anyOf: plan.steps(inGroup: task.index)),
      isDecided: task.instance.isElement(of: plan.groups[task.index].startNode)
        && !plan.asksForEachElement(group: task.index)
    ) { [:] }
    switch admission {
    case .start(let immunity):
      // `finally` is never blocked, so it needs no immunity.
      if !isFinal(parent) { state.withLock { $0.scopes.grantImmunity(task.scope, by: immunity) } }
      return nil
    case .skip(let reason): return reason
    case .fail(let failure):
      // The group has no attempt that could fail; the failed condition blocks its members.
      let response = state.withLock { state in
        state.scopes.failed(
          Scopes.Fault(address: task.address, failure: failure),
          in: task.instance.scope(around: task.index, of: plan))
      }
      respond(to: response)
      return .dependencyFailed(task.address)
    }
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
    if let resumePolicy, resumePolicy.past.groups[task.address] != nil,
      !resumePolicy.isReusable(task)
    {
      events.note(.groupSkipped(task.address, reason))
    }
    state.withLock { $0.scopes.skip(task.scope, reason) }
    return NodeResult(reason, failedBefore: results.contains(where: \.hasFailed))
  }

  func startGroup(_ task: GroupTask, failedBefore: Bool) {
    let group = plan.groups[task.index]
    // Once, however many attempts there are.
    if task.attempt == 1, resumePolicy?.isCleaned(task) != true {
      let instance = task.instance.aroundAttempts(of: group.startNode)
      scheduleCleanup(
        of: group.startNode, in: instance, scope: instance.scope(around: task.index, of: plan))
    }
    // The top level of a nested file is reported as the step that runs it.
    if !group.isTopLevel {
      events.publish(
        .groupStarted(
          task.address,
          GroupStart(attempt: task.attempt, isRestored: resumePolicy?.isReusable(task) ?? false)))
    }
    // A scope's number is reused by later groups, which a timer of this one must not reach.
    let limit = group.step?.timeout
    let clock = limit.map { _ in GroupClock() }
    // Members of a group that succeeded are restored in an order other than that in which they failed.
    let toleratesAll = resumePolicy?.end(of: task)?.conclusion == .success
    state.withLock { state in
      if toleratesAll { state.scopes.scopes[task.scope].tolerance = .all }
      state.groups[task.scope] = RunningGroup(
        since: time.now, clock: clock, failedBefore: failedBefore)
    }
    guard let limit, let clock else { return }
    let timer = time.schedule(after: limit) { [self] in
      respond(
        to: state.withLock { state in
          guard state.groups[task.scope]?.clock === clock else { return .nothing }
          return state.scopes.timeLimitPassed(of: task.scope, after: limit)
        })
    }
    let isOver = state.withLock { state in
      guard state.groups[task.scope]?.clock === clock else { return true }
      state.groups[task.scope]?.timer = timer
      return false
    }
    if isOver { timer.cancel() }
  }

  /// Ends a group after all its members have ended: runs its cleanups, then determines its outcome.
  func endGroup(_ task: GroupTask, members: [NodeResult]) -> Future<GroupOutcome, Never> {
    guard let cleaning = cleanUp(in: task.scope, after: members) else {
      return Future(value: judge(task, members: members))
    }
    return cleaning.map { [self] _ in judge(task, members: members) }
  }

  /// Fails a group that has started, before its members run.
  func fail(_ task: GroupTask, _ failure: StepFailure) -> GroupOutcome {
    let (verdict, response, running) = state.withLock { state in
      let running = state.groups.removeValue(forKey: task.scope)
      let (verdict, response) = state.scopes.failed(group: task.scope, failure)
      return (verdict, response, running)
    }
    running?.timer?.cancel()
    recordGroup(task, verdict, .success([]), lasting: .zero)
    respond(to: response)
    return GroupOutcome(verdict: verdict, failedBefore: running?.failedBefore ?? false)
  }

  private func judge(_ task: GroupTask, members: [NodeResult]) -> GroupOutcome {
    let past = resumePolicy?.end(of: task)
    var (verdict, response, running) = state.withLock { state in
      let running = state.groups.removeValue(forKey: task.scope)
      // Members are restored in an order other than that in which they ended, so a different failure might come
      // first.
      let (verdict, response) =
        past.flatMap(Scopes.Verdict.init).map { ($0, Scopes.Response.nothing) }
        ?? state.scopes.end(ofGroup: task.scope, members: members, success: running?.success)
      return (verdict, response, running)
    }
    running?.timer?.cancel()
    let duration = past?.duration ?? running.map { time.now - $0.since } ?? .zero
    let outputs = outputs(of: task, verdict, winner: running?.winner, lasting: duration)
    if case .failure(let failure) = outputs {
      (verdict, response) = state.withLock { $0.scopes.failed(group: task.scope, failure) }
    }
    recordGroup(task, verdict, outputs, winner: running?.winner, lasting: duration)
    respond(to: response)
    return GroupOutcome(
      verdict: verdict, outputs: (try? outputs.get()) ?? [], duration: duration,
      failedBefore: running?.failedBefore ?? false)
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
          duration: outcome.duration, outputs: outcome.outputs.map(HandedOn.init))))
  }

  // MARK: Races and joins

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
        state.groups[task.scope]?.successes += 1
        guard let running = state.groups[task.scope], running.success == nil else {
          return .nothing
        }
        switch (group.order, group.join) {
        case (.race, _):
          state.groups[task.scope]?.success = GroupSuccess(winner: member)
          state.groups[task.scope]?.winner = node
          return state.scopes.cancel(task.scope, .raceWon(task.address, by: member))
        case (_, .atLeast(let count)) where running.successes >= count:
          state.groups[task.scope]?.success = GroupSuccess()
          return state.scopes.cancel(task.scope, .joined(task.address))
        default: return .nothing
        }
      })
  }
}
