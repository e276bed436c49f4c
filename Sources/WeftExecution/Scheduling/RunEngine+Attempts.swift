import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// The end of an attempt, and with it the end of the step, unless it is tried again.
extension RunEngine {
  func finish(
    _ attempt: Attempt, _ ended: AttemptEnd
  ) -> MaybeReady<NodeResult, Never> {
    if attempt.output.isBuffered { learnSecrets(of: attempt, ended) }
    attempt.output.finish()
    logs.endAttempt(of: attempt.instanceNumber)
    if case .pollsAgain(let pause) = ended.status { return pollAgain(attempt, after: pause) }
    guard producesValues(attempt) else { return finish(attempt, ended, leaving: nil) }
    var end = ended
    let own = collectOutputs(of: attempt, &end)
    return finish(attempt, end, leaving: .holding(own))
  }

  private func finish(
    _ attempt: Attempt, _ attemptEnd: AttemptEnd, leaving own: Boxed<NodeValues>?
  ) -> MaybeReady<NodeResult, Never> {
    let task = attempt.task
    let (since, reason) = state.withLock { state in
      (
        state.running.remove(task.instanceNumber)!.since,
        state.cancelReason(in: task.scope)
      )
    }
    var end = StepEnd.judging(
      attempt, attemptEnd, cancelledFor: reason, duration: time.now - since,
      logBytes: logs.size(of: task.instanceNumber),
      outputs: own?.value.outputs.map(ReportedOutput.init) ?? [])
    if end.failure != nil, !plan.bodies.services.isEmpty,
      let service = failedServices(neededBy: task.step.node, in: task.instance).first
    {
      end.failure?.message += "; service \(service.address), which it needs, had ended"
    }
    if reason == nil || task.immunity == .fromCancellation, let failure = end.failure,
      task.mayBeTriedAgain, obstacle(to: task) == nil
    {
      var task = task
      switch retry(of: &task, after: failure, own?.value, attempt.resolved, attemptEnd.request) {
      case .retry(let delay, _):
        return tryAgain(task, after: end, delay, resuming: attemptEnd.request?.partial)
      case .giveUp(let refusal): end.notRetried = refusal?.message
      }
    }
    // A step that is reported as ended leaves no partial download behind.
    if attemptEnd.isOfRequest { attemptEnd.request?.partial?.discard() }
    guard let kept = storeResult(of: attempt, end, own?.value) else {
      return concludeAttempt(
        of: task, end, own,
        making: attemptEnd.isOfRequest ? savedFiles(attemptEnd.request) : [])
    }
    return .of(kept, with: (self, task, end, own)) { context, files in
      context.0.concludeAttempt(of: context.1, context.2, context.3, making: files)
    }
  }

  /// Ends the step. Its end is not visible before its record is durable. Meanwhile another step may use the slot,
  /// unless this end may decide which steps start.
  private func concludeAttempt(
    of task: StepTask, _ end: StepEnd, _ own: Boxed<NodeValues>?, making files: [RecordedOutputFile]
  ) -> MaybeReady<NodeResult, Never> {
    if end.conclusion == .success { values.failures?.forget(task.address) }
    let keepsSlot =
      end.conclusion != .success || !plan.bodies.raceMembers.isEmpty
      || plan.bodies.services.keepPools
    let safe = events.record(
      .stepFinished(task.address, end), keeping: kept(own?.value, making: files),
      isUrgent: { keepsSlot || !slots.hasWaitingSteps })
    guard let safe else {
      let result = conclude(task, end, leaving: own, isRecorded: true)
      slots.release(task.instanceNumber)
      return .now(result)
    }
    if !keepsSlot { slots.release(task.instanceNumber) }
    return .later(
      safe.map { [self] in
        let result = conclude(task, end, leaving: own, isRecorded: true)
        if keepsSlot { slots.release(task.instanceNumber) }
        return result
      })
  }

  /// The way in which a step reached its end.
  enum EndKind {
    case ran
    /// Restored from the journal: it ended under an earlier engine.
    case restored
    /// Restored from the cache instead of running.
    case cached

    fileprivate func event(_ address: StepAddress, _ end: StepEnd) -> RunEvent.Kind {
      switch self {
      case .ran: .stepFinished(address, end)
      case .restored: .stepRestored(address, end)
      case .cached: .stepCached(address, end)
      }
    }

    fileprivate func state(_ end: StepEnd) -> StepState {
      switch self {
      case .ran: .finished(end)
      case .restored: .restored(end)
      case .cached: .cached(end)
      }
    }
  }

  /// Reports the end of the step, and lets its failure take effect.
  func conclude(
    _ task: StepTask, _ end: StepEnd, _ own: NodeValues, as kind: EndKind = .ran,
    making files: [RecordedOutputFile] = []
  ) -> NodeResult {
    conclude(task, end, leaving: .holding(own), as: kind, making: files)
  }

  /// - Parameter own: `nil` if no expression reads it, as for most steps; boxed because it is large.
  func conclude(
    _ task: StepTask, _ end: StepEnd, leaving own: Boxed<NodeValues>?, as kind: EndKind = .ran,
    making files: [RecordedOutputFile] = [], isRecorded: Bool = false
  ) -> NodeResult {
    let response = state.withLock { state in
      if !end.unkillable.isEmpty { state.unkillable += end.unkillable }
      guard end.conclusion == .failure, let failure = end.failure else {
        return Scopes.Response.nothing
      }
      return state.scopes.failed(
        Scopes.Failure(address: task.address, failure: failure), in: task.scope)
    }
    if let own { record(own.value, end, of: task) }
    durations?.ended(task, end, as: kind)
    if !events.change(task.place, task.address, to: { state, _ in state = kind.state(end) }) {
      let event = kind.event(task.address, end)
      if isRecorded {
        events.publish(recorded: event, step: task.place)
      } else {
        events.publish(event, step: task.place, keeping: kept(own?.value, making: files))
      }
    }
    if !plan.bodies.services.isEmpty, task.step.isService { serviceEnded(task, end) }
    respond(to: response)
    return .of(task.address, end, failedBefore: task.failedBefore)
  }

  /// Restores a reusable step that ended under an earlier engine. Its cleanup is scheduled if it is still pending.
  func restore(_ task: StepTask, _ recorded: RecordedStep) -> NodeResult {
    if let reason = recorded.excluded { return skip(task, reason) }
    switch recorded.state {
    case .finished(let end, let kept):
      schedulePendingCleanup(of: task)
      if plan.logs.isRead(ofStep: task.index) {
        logs.adopt(
          end, of: task.instanceNumber, task.address,
          limit: end.outputTruncated ? task.step.command?.logLimit : nil)
      }
      let isRead = !plan.values.reads(ofNode: task.step.node).isEmpty
      let own = isRead ? kept.nodeValues(of: end, spool: values.spool) : nil
      return conclude(task, end, leaving: own.map(Boxed.holding), as: .restored)
    case .skipped(let reason): return skip(task, reason)
    case .queued, .started, .retrying:
      preconditionFailure("\(task.address) is reusable and has not ended")
    }
  }

  /// Fails the step before an attempt could be made.
  ///
  /// - Parameter isAccepted: Whether the failure was accepted when the run was resumed.
  func failAtStart(
    _ task: StepTask, _ failure: StepFailure, isAccepted: Bool = false
  ) -> NodeResult {
    // What the machine lacks, it also lacks in a run.
    if !failure.classes.contains(.limit), let end = rehearse(task) { return end }
    reportStart(of: task)
    let tolerance =
      (try? StepResolver(values, in: task.instance).tolerance(ofStep: task.index))
      ?? task.step.allowFailure
    let isTolerated = isAccepted || tolerance.tolerates(failure.classes)
    let run = resumePolicy?.recorded.opening?.run
    let end = StepEnd(
      outcome: .failure, conclusion: isTolerated ? .success : .failure,
      attempts: task.attempt, exit: nil,
      failure: isTolerated ? failure.tolerated(at: task.address, in: run) : failure,
      duration: .zero)
    return conclude(task, end, NodeValues(end))
  }
}

/// Retries of a step.
extension RunEngine {
  /// `nil` for a step that is not retried.
  func ledger(for task: StepTask) -> RetryLedger? {
    let policies = task.step.isService ? task.step.command?.service?.restartPolicies : nil
    let all = policies ?? task.step.retry
    return all.isEmpty ? nil : RetryLedger(policies: all, startedAt: time.now)
  }

  /// Decides what follows a failure: another attempt after a delay, or none, with the reason.
  func retry(
    of task: inout StepTask, after failure: StepFailure, _ own: NodeValues?,
    _ resolved: ResolvedStep, _ request: RequestTrace?
  ) -> RetryLedger.Decision {
    guard var ledger = task.ledger else { return .giveUp(nil) }
    if task.attempt == 1 {
      ledger = RetryLedger(policies: resolved.retry, startedAt: task.began ?? time.now)
    }
    let (instance, index) = (task.instance, task.index)
    var own = own
    // The conclusion of the step is unknown before it ends, but this attempt has failed.
    own?.outcome = .failure
    own?.conclusion = .failure
    let failed = own
    let decision = decide(&ledger, after: failure, request) { [self] policy in
      allows(policy, failed, plan.values.texts(ofStep: index), of: task.address) {
        StepScope(values: values, instance: instance, group: plan.steps[index].group)
      }
    }
    task.keep(ledger)
    if task.step.isService, case .giveUp(.notListed) = decision { return .giveUp(.notRestarted) }
    return decision
  }

  func decide(
    _ ledger: inout RetryLedger, after failure: StepFailure, _ request: RequestTrace? = nil,
    allows: (Int) -> Bool
  ) -> RetryLedger.Decision {
    var random = state.withLock { $0.random.split() }
    let decision = ledger.decide(
      after: failure, at: time.now, retryAfter: request?.retryAfter,
      inDoubt: request?.methodInDoubt, allows: { _, policy in allows(policy) }, using: &random)
    guard case .retry = decision, RetryBudget.covers(failure) else { return decision }
    return state.withLock { state in
      state.retryBudget.take() ? decision : .giveUp(.budgetSpent(state.retryBudget.limit))
    }
  }

  /// Whether a retry policy's `when` evaluates to true for the attempt's own result; `false` if it cannot be
  /// evaluated.
  func allows(
    _ policy: Int, _ own: NodeValues?, _ texts: ArraySlice<PlannedText>, of address: StepAddress,
    in scope: () -> StepScope
  ) -> Bool {
    guard let (_, expression) = texts.expression(at: .retryCondition(policy)) else { return true }
    var scope = scope()
    scope.own = own.map { ($0, address) }
    return (try? expression.evaluate(in: scope).value.isTruthy) ?? false
  }

  /// Schedules the next attempt after a failure. The step holds nothing during the delay.
  func tryAgain(
    _ task: StepTask, after end: StepEnd, _ delay: Duration,
    resuming partial: PartialDownload? = nil
  ) -> MaybeReady<NodeResult, Never> {
    guard let failure = end.failure, let ledger = task.ledger else {
      preconditionFailure("only failures are retried")
    }
    state.withLock { $0.unkillable += end.unkillable }
    durations?.paused(task)
    events.publish(
      .stepRetrying(
        task.address,
        Retry(
          attempt: task.attempt, of: ledger.attemptLimit,
          failure: failure, exit: end.exit, duration: end.duration, delay: delay,
          usage: end.usage)), step: task.place)
    slots.release(task.instanceNumber)
    var next = task
    next.attempt += 1
    next.keep(ledger, lastEnd: end, partial: partial)
    let pause = pause(next.instanceNumber, in: task.scope, for: delay, immunity: task.immunity)
    return .of(pause, with: (self, next)) { context, end in
      let (run, task) = context
      switch end {
      case .over: return run.queue(task)
      case .cutShort:
        if run.isUnneeded(task) { return .now(run.concludeUnneeded(task)) }
        return .now(run.giveUp(task, run.interruptionReason(task)))
      }
    }
  }

  /// Ends a step that is not retried after all: as its last attempt ended, unless it was cancelled.
  func giveUp(_ task: StepTask, _ reason: SkipReason) -> NodeResult {
    guard let last = task.lastEnd else { return skip(task, reason) }
    task.partial?.discard()
    var end = last
    if case .cancelled(let cancellation) = reason { end = last.cancelled(for: cancellation) }
    return conclude(task, end, NodeValues(end))
  }

  func interruptionReason(_ task: StepTask) -> SkipReason {
    state.withLock { state in
      state.scopes.obstacle(in: task.scope, after: [])
        ?? .cancelled(state.immediateCancelReason)
    }
  }
}

/// A request that is sent repeatedly, within one attempt, until its response satisfies a condition. Between two
/// requests the step holds neither slot nor pool.
extension RunEngine {
  func pollAgain(_ attempt: Attempt, after delay: Duration) -> MaybeReady<NodeResult, Never> {
    var task = attempt.task
    let since = state.withLock { state in
      state.running.remove(task.instanceNumber)?.since ?? time.now
    }
    task.pollsAgain(since: since)
    slots.release(task.instanceNumber)
    let pause = pause(task.instanceNumber, in: task.scope, for: delay, immunity: task.immunity)
    return .of(pause, with: (self, task)) { context, end in
      switch end {
      case .over: context.0.queue(context.1)
      case .cutShort: .now(context.0.endPolling(context.1))
      }
    }
  }

  /// Ends the step as cancelled, between two requests.
  func endPolling(_ task: StepTask) -> NodeResult {
    let reason = state.withLock { $0.cancelReasonOfWait(in: task.scope) }
    let end = StepEnd(
      outcome: .cancelled, conclusion: .cancelled, attempts: task.attempt, exit: nil,
      cancellation: reason ?? .requested,
      duration: time.now - (task.polling?.since ?? time.now),
      logBytes: UInt64(logs.size(of: task.instanceNumber)))
    var own = NodeValues(end)
    own.shape = .answer
    return conclude(task, end, own)
  }
}
