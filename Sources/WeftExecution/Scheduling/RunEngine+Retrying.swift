import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Retries of a step.
extension RunEngine {
  /// `nil` for a step that is not retried.
  func ledger(for task: StepTask) -> RetryLedger? {
    task.step.retry.isEmpty ? nil : RetryLedger(policies: task.step.retry, startedAt: time.now)
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
    guard let text = texts.first(where: { $0.site == .retryCondition(policy) }),
      let expression = text.template.onlyExpression
    else { return true }
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
      preconditionFailure("only failures are tried again")
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
      case .cutShort: return .now(run.giveUp(task, run.whyCutShort(task)))
      }
    }
  }

  /// Ends a step that is not retried after all: as its last attempt ended, unless it was cancelled.
  func giveUp(_ task: StepTask, _ reason: SkipReason) -> NodeResult {
    guard let last = task.lastEnd else { return skip(task, reason) }
    task.partial?.discard()
    var end = last
    if case .cancelled(let cancellation) = reason { end = last.cancelled(for: cancellation) }
    let own = NodeValues(
      outcome: end.outcome, conclusion: end.conclusion, attempts: end.attempts, exit: end.exit)
    return conclude(task, end, own)
  }

  func whyCutShort(_ task: StepTask) -> SkipReason {
    state.withLock { state in
      state.scopes.obstacle(in: task.scope, after: [])
        ?? .cancelled(state.reasonToEndAtOnce)
    }
  }
}
