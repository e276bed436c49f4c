import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// The end of an attempt, and with it the end of the step, unless it is tried again.
extension RunEngine {
  func finish(
    _ attempt: Attempt, _ ended: AttemptEnd
  ) -> MaybeReady<NodeResult, Never> {
    if attempt.output.holdsBack { learnSecrets(of: attempt, ended) }
    attempt.output.finish()
    logs.endAttempt(of: attempt.instanceNumber)
    if case .asksAgain(let pause) = ended.status { return askAgain(attempt, after: pause) }
    guard leavesSomething(attempt) else { return finish(attempt, ended, leaving: nil) }
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
        state.reasonToStop(in: task.scope)
      )
    }
    var end = StepEnd.judging(
      attempt, attemptEnd, cancelledFor: reason, duration: time.now - since,
      logBytes: logs.size(of: task.instanceNumber),
      outputs: own?.value.outputs.map(HandedOn.init) ?? [])
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
    guard let kept = keepResult(of: attempt, end, own?.value) else {
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
    let keepsSlot = end.conclusion != .success || !plan.bodies.racers.isEmpty
    let safe = events.record(
      .stepFinished(task.address, end), keeping: kept(own?.value, making: files),
      isUrgent: { keepsSlot || !slots.areWanted })
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
  private func conclude(
    _ task: StepTask, _ end: StepEnd, leaving own: Boxed<NodeValues>?, as kind: EndKind = .ran,
    making files: [RecordedOutputFile] = [], isRecorded: Bool = false
  ) -> NodeResult {
    let response = state.withLock { state in
      if !end.unkillable.isEmpty { state.unkillable += end.unkillable }
      guard end.conclusion == .failure, let failure = end.failure else {
        return Scopes.Response.nothing
      }
      return state.scopes.failed(
        Scopes.Fault(address: task.address, failure: failure), in: task.scope)
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
    respond(to: response)
    return .of(task.address, end, failedBefore: task.failedBefore)
  }

  /// Restores a reusable step that ended under an earlier engine. Its cleanup is scheduled if it is still pending.
  func restore(_ task: StepTask, _ past: RecordedStep) -> NodeResult {
    if let reason = past.leftOut { return skip(task, reason) }
    switch past.state {
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
      preconditionFailure("\(task.address) stands and has not ended")
    }
  }

  /// Fails the step before an attempt could be made.
  ///
  /// - Parameter isAccepted: Whether the failure was accepted when the run was resumed.
  func failAtStart(
    _ task: StepTask, _ failure: StepFailure, isAccepted: Bool = false
  ) -> NodeResult {
    tellStart(of: task)
    let tolerance =
      (try? StepResolver(values, in: task.instance).tolerance(ofStep: task.index))
      ?? task.step.allowFailure
    let end = StepEnd(
      outcome: .failure,
      conclusion: isAccepted || tolerance.tolerates(failure.classes) ? .success : .failure,
      attempts: task.attempt, exit: nil, failure: failure, duration: .zero)
    let own = NodeValues(outcome: .failure, conclusion: end.conclusion, attempts: task.attempt)
    return conclude(task, end, own)
  }
}
