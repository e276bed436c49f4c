import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Groups that are run apart, as a plan region of their own: retried groups and nested files. Each attempt gets a
/// frame of its own.
extension RunEngine {
  func launchRepeated(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    let task = GroupTask(index, of: plan, in: instance)
    if let reason = whyNotStarted(task, after: results) {
      return Future(value: leaveOut(task, reason, after: results))
    }
    let retry = plan.groups[index].step?.control.retry ?? []
    let ledger = RetryLedger(policies: retry, startedAt: time.now)
    return attempt(1, of: task, ledger, failedBefore: results.contains(where: \.hasFailed))
  }

  /// Skips, as a whole, a group that is run apart.
  func leaveOut(
    _ task: GroupTask, _ reason: SkipReason, after results: NodeResults
  ) -> NodeResult {
    schedulePendingCleanup(of: task)
    let scope = task.instance.scope(around: task.index, of: plan)
    schedulePendingCleanup(inside: task, reason, scope: scope)
    let own = NodeValues(outcome: reason.outcome, conclusion: reason.outcome, isGroup: true)
    values.record(own, ofNode: plan.groups[task.index].startNode, in: task.instance)
    durations?.skipped(PlanRegion(group: task.index, of: plan).steps, in: task.instance, reason)
    events.publish(.stepSkipped(task.address, reason))
    return NodeResult(reason, failedBefore: results.contains(where: \.hasFailed))
  }

  private func attempt(
    _ number: Int, of whole: GroupTask, _ ledger: RetryLedger, failedBefore: Bool
  ) -> Future<NodeResult, Never> {
    let instance = openAttempt(number, of: whole)
    let task = GroupTask(whole.index, of: plan, in: instance, attempt: number)
    return run(task, failedBefore: failedBefore).flatMap { [self] outcome in
      var ledger = ledger
      switch decision(&ledger, on: outcome, of: task) {
      case .giveUp: return Future(value: finish(task, outcome, of: whole))
      case .retry(let delay, _):
        return repeatAttempt(task, outcome, of: whole, ledger, after: delay)
      }
    }
  }

  private func repeatAttempt(
    _ task: GroupTask, _ outcome: GroupOutcome, of whole: GroupTask, _ ledger: RetryLedger,
    after delay: Duration
  ) -> Future<NodeResult, Never> {
    guard let failure = outcome.verdict.failure else {
      preconditionFailure("only failures are tried again")
    }
    let retry = Retry(
      attempt: task.attempt, of: ledger.attemptLimit, failure: failure, exit: nil,
      duration: outcome.duration, delay: delay)
    durations?.repeated(task.instance.region.steps, in: whole.instance)
    events.publish(.groupRetrying(task.address, retry))
    let outer = whole.instance.scope(around: whole.index, of: plan)
    // Negative, so that the key differs from the number of every step.
    let immunity = state.withLock { $0.scopes.scopes[whole.scope].immunity }
    return pause(-1 - whole.scope, in: outer, for: delay, immunity: immunity).flatMap {
      [self] pauseEnd in
      guard pauseEnd == .over else {
        return Future(value: finish(task, cutShort(outcome, in: outer), of: whole))
      }
      state.withLock { state in
        state.scopes.close(task.instance.scope, groups: task.instance.region.groups)
      }
      return attempt(task.attempt + 1, of: whole, ledger, failedBefore: outcome.failedBefore)
    }
  }

  /// The outcome after a retry was cut short: that of the last attempt, unless the scope was cancelled.
  private func cutShort(_ outcome: GroupOutcome, in scope: Int) -> GroupOutcome {
    let cancellation = state.withLock { state in
      state.scopes.noteIfCancelled()
      return state.scopes.cancellation(of: scope)
    }
    guard let reason = cancellation else { return outcome }
    var outcome = outcome
    outcome.verdict = Scopes.Verdict(
      outcome: .cancelled, conclusion: .cancelled, blame: reason.culprit)
    return outcome
  }

  private func openAttempt(_ number: Int, of whole: GroupTask) -> Instance {
    let region = PlanRegion(group: whole.index, of: plan)
    let outer = whole.instance.scope(around: whole.index, of: plan)
    let scope = state.withLock { state in
      let scope = state.scopes.open(
        in: outer, boundary: .holding, groups: region.groups, of: plan,
        addresses: whole.instance.address(of:))
      state.scopes.grantImmunity(scope, by: state.scopes.scopes[whole.scope].immunity)
      return scope
    }
    return Instance(
      .attempt(number), of: region, in: whole.instance,
      firstInstance: whole.instance.instanceNumber(ofStep: region.steps.lowerBound),
      firstScope: scope + 1,
      scope: scope)
  }

  /// Runs the members of a group that has a plan region of its own.
  func run(_ task: GroupTask, failedBefore: Bool) -> Future<GroupOutcome, Never> {
    guard let body = plan.bodies.ofGroups[task.index] else {
      preconditionFailure("group \(task.address) has no body of its own")
    }
    startGroup(task, failedBefore: failedBefore)
    if let failure = giveInputs(to: task) { return Future(value: fail(task, failure)) }
    // Failures above the step that runs a file do not count inside the file.
    let isFile = plan.file(runByGroup: task.index) != nil
    let entry = [
      NodeResult(conclusion: .success, blame: nil, failedBefore: failedBefore && !isFile)
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
    let own = values.result(ofNode: plan.groups[task.index].startNode, in: task.instance)
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
    handOn(task, outcome, to: whole)
    let response = state.withLock { state in
      let hasFailed = outcome.verdict.conclusion == .failure
      state.scopes.close(task.instance.scope, groups: task.instance.region.groups)
      guard hasFailed, let failure = outcome.verdict.failure else {
        return Scopes.Response.nothing
      }
      // The failure that is reported for the group, and no other failure inside it.
      let fault = Scopes.Fault(address: outcome.verdict.cause ?? task.address, failure: failure)
      return state.scopes.failed(fault, in: whole.instance.scope(around: whole.index, of: plan))
    }
    respond(to: response)
    return outcome.result
  }

  /// Makes the values of the last attempt the values that expressions read of the group.
  private func handOn(_ task: GroupTask, _ outcome: GroupOutcome, to whole: GroupTask) {
    let node = plan.groups[task.index].startNode
    guard var own = task.instance.result(ofNode: node) else { return }
    own.attempts = resumePolicy?.end(of: task)?.attempts ?? task.attempt
    own.outcome = outcome.verdict.outcome
    own.conclusion = outcome.verdict.conclusion
    values.record(own, ofNode: node, in: whole.instance)
  }
}
