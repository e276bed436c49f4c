import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// What becomes of each node of the plan: a step is queued, started, and judged, or skipped; a group
/// starts and ends.
extension LiveRun {
  /// Does what a node is there for, now that everything it waits for has settled.
  func launch(
    _ node: PlanNode, after results: [NodeResult]
  ) -> Future<NodeResult, Never> {
    switch node {
    case .step(let index): launchStep(Int(index), after: results)
    case .groupStart(let index): Future(value: startGroup(Int(index), after: results))
    case .groupEnd(let index): Future(value: endGroup(Int(index), members: results))
    }
  }

  private func launchStep(
    _ index: Int, after results: [NodeResult]
  ) -> Future<NodeResult, Never> {
    let step = plan.steps[index]
    if let reason = state.withLock({ $0.scopes.obstacle(inGroup: step.group, after: results) }) {
      return Future(value: skip(index, reason))
    }
    events.publish(.stepQueued(step.address), step: index)
    guard let command = step.command else { return Future(value: compute(index)) }
    return slots.acquire(index).flatMap { [self] answer in
      switch answer {
      case .granted: startAttempt(of: index, running: command)
      case .refused: Future(value: skip(index, whyRefused(step)))
      }
    }
  }

  /// A step is refused its turn only after the scope around it has been closed.
  private func whyRefused(_ step: PlannedStep) -> SkipReason {
    state.withLock { $0.scopes.obstacle(inGroup: step.group, after: []) } ?? .cancelled(.requested)
  }

  private func startAttempt(
    of index: Int, running command: Command
  ) -> Future<NodeResult, Never> {
    let step = plan.steps[index]
    let (resolved, outputFile, failure) = prepare(index, running: command, attempt: 1)
    let attempt = Attempt(
      step: step, resolved: resolved, outputFile: outputFile, index: index, number: 1,
      stop: StopSwitch(),
      output: StepOutputSink(
        step: index, address: step.address, limit: resolved.command.logLimit, logs: logs,
        events: events, capture: values.capture(ofStep: index, running: resolved.command),
        secrets: secrets),
      logs: logs, warnings: warnings, slots: slots)
    // A cancellation comes either before this, and is seen here, or after it, and finds the attempt.
    let obstacle = state.withLock { state -> SkipReason? in
      if let obstacle = state.scopes.obstacle(inGroup: step.group, after: []) { return obstacle }
      state.running[index] = RunningAttempt(stop: attempt.stop, since: time.now)
      return nil
    }
    if let obstacle {
      outputFile.map(Descriptor.remove)
      slots.release(index)
      return Future(value: skip(index, obstacle))
    }
    events.publish(.stepStarted(step.address, attempt: attempt.number), step: index)
    if let failure { return Future(value: finish(attempt, AttemptEnd(.failed(failure)))) }
    return executor.execute(attempt).map { [self] end in finish(attempt, end) }
  }

  private func finish(_ attempt: Attempt, _ attemptEnd: AttemptEnd) -> NodeResult {
    attempt.output.finish()
    let step = attempt.step
    let (attemptEnd, own) = collectOutputs(of: attempt, attemptEnd)
    let (end, response) = state.withLock { state in
      let since = state.running.removeValue(forKey: attempt.index)!.since
      let end = StepEnd(
        of: attempt, attemptEnd, cancelledFor: state.scopes.reasonToStop(inGroup: step.group),
        duration: time.now - since, logBytes: logs.size(of: attempt.index),
        outputs: own?.outputs.map(HandedOn.init) ?? [])
      state.counts.add(end)
      state.unkillable += end.unkillable
      guard end.conclusion == .failure, let failure = end.failure else {
        return (end, Scopes.Response.nothing)
      }
      return (end, state.scopes.stepFailed(step, failure))
    }
    record(own, end, of: step)
    events.publish(.stepFinished(step.address, end), step: attempt.index)
    respond(to: response)
    slots.release(attempt.index)
    return NodeResult(of: step, end)
  }

  private func skip(_ index: Int, _ reason: SkipReason) -> NodeResult {
    state.withLock { $0.counts.add(reason) }
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome),
      ofNode: plan.steps[index].node)
    events.publish(.stepSkipped(plan.steps[index].address, reason), step: index)
    return NodeResult(reason)
  }

  private func startGroup(_ index: Int, after results: [NodeResult]) -> NodeResult {
    let group = plan.groups[index]
    guard let address = group.address else { preconditionFailure("the top level is not a node") }
    let obstacle = state.withLock {
      $0.scopes.obstacle(inGroup: group.parent ?? 0, after: results)
    }
    if let obstacle { return NodeResult(obstacle) }
    events.publish(.groupStarted(address))
    let timer = group.step?.timeout.map { limit in
      time.schedule(after: limit) { [self] in
        respond(to: state.withLock { $0.scopes.timeLimitPassed(ofGroup: index, after: limit) })
      }
    }
    state.withLock { $0.groups[index] = RunningGroup(since: time.now, timer: timer) }
    return .success
  }

  private func endGroup(_ index: Int, members: [NodeResult]) -> NodeResult {
    guard let address = plan.groups[index].address else {
      preconditionFailure("the top level is not a node")
    }
    var (verdict, response, running) = state.withLock { state in
      let running = state.groups.removeValue(forKey: index)
      let (verdict, response) = state.scopes.end(ofGroup: index, members: members)
      return (verdict, response, running)
    }
    let duration = running.map { time.now - $0.since } ?? .zero
    let outputs = outputs(ofGroup: index, verdict, lasting: duration)
    if case .failure(let failure) = outputs {
      (verdict, response) = state.withLock { $0.scopes.failed(group: index, failure) }
    }
    recordGroup(index, verdict, outputs, lasting: duration)
    // A group that never started is told of by its steps, which were skipped.
    if let running {
      running.timer?.cancel()
      events.publish(
        .groupFinished(
          address,
          GroupEnd(
            outcome: verdict.outcome, conclusion: verdict.conclusion, failure: verdict.failure,
            cause: verdict.cause, duration: duration,
            outputs: (try? outputs.get().map(HandedOn.init)) ?? [])))
    }
    respond(to: response)
    return NodeResult(conclusion: verdict.conclusion, blame: verdict.blame)
  }
}
