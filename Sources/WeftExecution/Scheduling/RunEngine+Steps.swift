import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step from the moment when its dependencies have settled: it is skipped, or queued and started.
extension RunEngine {
  func launchStep(
    _ index: Int, in instance: Instance, after results: NodeResults
  ) -> MaybeReady<NodeResult, Never> {
    if plan.steps[index].isLoop, !instance.isElement(of: plan.steps[index].node) {
      return .later(launchLoop(.step(index), in: instance, after: results))
    }
    return launch(StepTask(index, of: plan, in: instance, after: results), after: results)
  }

  /// Starts a step, restores it from the journal, or skips it.
  func launch(
    _ task: StepTask, after results: NodeResults, startsAlways: Bool = false
  ) -> MaybeReady<NodeResult, Never> {
    if let resumePolicy, let recorded = resumePolicy.end(of: task) {
      // A step in doubt that a decided race or join leaves as it is: its failure is recorded again, so that it is in
      // the views of this part, too.
      if let failure = recorded.doubtFailure {
        events.publish(.stepQueued(task.address), step: task.place)
        return .now(failAtStart(task, failure))
      }
      return .now(restore(task, recorded))
    }
    switch admission(of: task, after: results, startsAlways: startsAlways) {
    case .skip(let reason):
      guard let failure = doubtFailure(about: task, skippedBecause: reason) else {
        return .now(skip(task, reason))
      }
      events.publish(.stepQueued(task.address), step: task.place)
      return .now(
        failAtStart(task, failure, isAccepted: resumePolicy?.isAccepted(task) ?? false))
    case .fail(let failure):
      events.publish(.stepQueued(task.address), step: task.place)
      // A step in doubt stays so, although its condition cannot be computed now.
      guard let doubt = resumePolicy?.doubtFailure(about: task) else {
        return .now(failAtStart(task, failure))
      }
      return .now(
        failAtStart(task, doubt, isAccepted: resumePolicy?.isAccepted(task) ?? false))
    case .start(let immunity):
      var task = task
      task.immunity = immunity
      if task.instance.isInElement { task.record(place: events.place(of: task.address)) }
      if !events.change(task.place, task.address, to: { state, _ in state = .queued }) {
        events.publish(
          .stepQueued(
            task.address, waitingFor: announcedNeeds(of: task), because: waitReason(of: task)),
          step: task.place)
      }
      if let failure = resumePolicy?.doubtFailure(about: task) {
        return .now(
          failAtStart(task, failure, isAccepted: resumePolicy?.isAccepted(task) ?? false))
      }
      return perform(task)
    }
  }

  /// The reason why a step that does not start fails instead of being skipped; `nil` if it is skipped.
  private func doubtFailure(
    about task: StepTask, skippedBecause reason: SkipReason
  ) -> StepFailure? {
    // A join does not abandon a step in doubt as a race does.
    if case .cancelled(.joined) = reason { return resumePolicy?.doubtFailure(about: task) }
    // If it were recorded as skipped, a later engine would start a step again that has succeeded.
    return reason.blocksDependents ? resumePolicy?.lossFailure(of: task) : nil
  }

  // MARK: Admission

  private func admission(
    of task: StepTask, after results: NodeResults, startsAlways: Bool
  ) -> Admission {
    let texts = plan.values.texts(ofStep: task.index)
    let isFinal = startsAlways || plan.isFinal(task.step.group)
    // Most steps have no condition, and nothing blocks them.
    if texts.isEmpty, !isFinal, configuration.selection.includes(step: task.index),
      !results.contains(where: \.blocksDependents), state.withLock({ $0.scopes.isQuiet })
    {
      return .start(.none)
    }
    return admission(
      of: .step(task.index), at: task.address, in: task.instance, scope: task.scope,
      if: StartCondition(texts), after: results, startsAlways: isFinal, isCleanup: task.isCleanup,
      isSelected: configuration.selection.includes(step: task.index))
  }

  /// Decides whether a step, group or loop starts.
  ///
  /// Not inlined: the optimizer of Swift 6.3.1 fails on the closure in it if it is.
  ///
  /// - Parameter goesOn: Whether it is a group or loop that an earlier engine started, and that has not ended.
  @inline(never)
  func admission(
    of member: PlanMember, at address: StepAddress, in instance: Instance, scope: Int,
    if condition: StartCondition?, after results: NodeResults, startsAlways: Bool,
    isCleanup: Bool = false, isSelected: Bool, goesOn: Bool = false
  ) -> Admission {
    guard isSelected else { return .skip(.notSelected) }
    let group = plan.innermostGroup(of: member)
    let hasFailed = results.contains(where: \.hasFailed)
    let (rule, isCancelled, isEnding) = state.withLock { state in
      if !startsAlways { state.scopes.recordCancellationEffect() }
      let isClosedEarly =
        startsAlways
        // The only result is that of the group around it, to the member that it cleans up after.
        && (isCleanup && results.contains { $0.conclusion == .cancelled }
          || state.scopes.isClosedEarly(scope, hasFailed: hasFailed))
      return (
        AdmissionRule(
          obstacle: goesOn
            ? state.scopes.obstacle(toGoOnIn: scope, after: results)
            : state.scopes.obstacle(in: scope, after: results),
          closure: goesOn ? nil : state.scopes.obstacle(in: scope, after: []),
          absence: state.scopes.absence(of: scope), condition: condition,
          startsAlways: startsAlways),
        startsAlways ? isClosedEarly : !goesOn && state.scopes.isBeingCancelled(scope),
        startsAlways ? isClosedEarly : !goesOn && state.scopes.cancellation(of: scope) != nil
      )
    }
    return rule.decide(address: address) { condition, assumesSuccess in
      // The condition was true once for all elements, and is not evaluated again.
      if instance.isElement(of: plan.node(of: member)), !plan.isEvaluatedPerElement(member) {
        return .success(true)
      }
      let value = Result { () throws(StepFailure) in
        var conditionScope = StepScope(values: values, instance: instance, group: group)
        if condition.expression.readsVariables, case .step(let index) = member {
          conditionScope.variables = try StepResolver(values, in: instance).variables(ofStep: index)
        }
        conditionScope.statuses = Status(
          success: assumesSuccess
            || !isEnding
              && (startsAlways ? !hasFailed : !results.contains(where: \.blocksDependents)),
          failure: !isCancelled && hasFailed, cancelled: isCancelled)
        return try condition.text.value(in: conditionScope).value.isTruthy
      }
      if case .failure = value, let rehearsal { return .success(rehearsal.admits(address)) }
      return value
    }
  }

  func skip(_ task: StepTask, _ reason: SkipReason) -> NodeResult {
    schedulePendingCleanup(of: task)
    values.record(.skipped(reason), ofNode: task.step.node, in: task.instance)
    durations?.skipped(task, reason)
    events.publish(.stepSkipped(task.address, reason), step: task.place)
    return NodeResult(reason, failedBefore: task.failedBefore)
  }

  // MARK: Attempts

  func queue(_ task: StepTask) -> MaybeReady<NodeResult, Never> {
    if task.step.hasResources || plan.mayUseRunners {
      do throws(StepFailure) { _ = try requestResources(for: task) } catch {
        return .now(failAtStart(task, error))
      }
    }
    if !task.isAtPlannedPosition {
      state.withLock { $0.waitingElsewhere[task.instanceNumber] = task }
    }
    task.instance.stepQueued()
    defer { watchForDeadlock(of: task) }
    return .of(slots.acquire(task.instanceNumber), with: (self, task)) { context, answer in
      context.0.answered(context.1, answer)
    }
  }

  private func answered(_ task: StepTask, _ answer: Slots.Response) -> MaybeReady<NodeResult, Never>
  {
    task.instance.stepAnswered()
    if !task.isAtPlannedPosition {
      state.withLock { _ = $0.waitingElsewhere.removeValue(forKey: task.instanceNumber) }
    }
    switch answer {
    case .granted:
      _ = takeDeadlock(of: task)
      return startAttempt(task)
    case .refused: return handleRefusal(task)
    }
  }

  /// Handles a refused request for a slot. The scope around the step was closed; a step that may start nevertheless
  /// waits again.
  private func handleRefusal(_ task: StepTask) -> MaybeReady<NodeResult, Never> {
    if isUnneeded(task) { return .now(concludeUnneeded(task)) }
    if let failure = takeDeadlock(of: task) { return .now(failAtStart(task, failure)) }
    guard let reason = obstacle(to: task) else { return queue(task) }
    return .now(leave(task, reason))
  }

  /// Ends a step that may not proceed: it is skipped if no attempt has started.
  func leave(_ task: StepTask, _ reason: SkipReason) -> NodeResult {
    if task.polling != nil { return endPolling(task) }
    return task.attempt == 1 ? skip(task, reason) : giveUp(task, reason)
  }

  /// The reason why an admitted step may not proceed after all; `nil` if it may.
  func obstacle(to task: StepTask) -> SkipReason? {
    state.withLock { $0.scopes.obstacle(in: task.scope, immune: task.immunity) }
  }

  private func startAttempt(_ task: StepTask) -> MaybeReady<NodeResult, Never> {
    var task = task
    task.begin(at: time.now)
    let attempt = makeAttempt(task)
    if isUnneeded(task) {
      drop(attempt)
      return .now(concludeUnneeded(task))
    }
    // A cancellation happens either before this, and is seen here, or after it, and finds the attempt.
    let obstacle = state.withLock { state -> SkipReason? in
      if let obstacle = state.scopes.obstacle(in: task.scope, immune: task.immunity) {
        return obstacle
      }
      if state.killsAtOnce { return .cancelled(state.immediateCancelReason) }
      state.running.set(
        RunningAttempt(
          address: task.address, stop: attempt.stop, since: task.polling?.since ?? time.now,
          scope: task.scope,
          immunity: max(task.immunity, state.scopes.grantImmunity(in: task.scope))),
        for: task.instanceNumber)
      return nil
    }
    if let obstacle {
      drop(attempt)
      return .now(leave(task, obstacle))
    }
    if task.polling == nil {
      logOwners.begin(task)
      guard announceStart(of: task) else { return .now(notRecorded(attempt)) }
    }
    if let failure = attempt.obstacle {
      return finish(attempt, AttemptEnd(.failed(failure)))
    }
    if !plan.bodies.services.isEmpty, let service = attempt.resolved.command?.service {
      return serve(attempt, service)
    }
    let ending = executor.execute(attempt)
    if case .success(let end)? = ending.outcome { return finish(attempt, end) }
    if plan.mayUseRunners, plan.runner(of: task.step) != nil { slots.leave(task.instanceNumber) }
    return .of(ending, with: (self, attempt)) { context, end in
      context.0.finish(context.1, end)
    }
  }

  /// Reports the start of an attempt. From now on the step's cleanup is pending; a step that only waited for a slot
  /// has no effects to clean up.
  func reportStart(of task: StepTask) {
    scheduleOwnCleanup(after: task)
    durations?.started(task, at: time.now)
    events.publish(.stepStarted(task.address, attempt: task.attempt), step: task.place)
  }

  /// Reports the start of an attempt that must not begin unless its start is recorded.
  ///
  /// - Returns: Whether it may begin.
  private func announceStart(of task: StepTask) -> Bool {
    configuration.trace?.begin(task.address, instance: task.instanceNumber)
    guard
      events.change(
        task.place, task.address,
        to: { state, now in state = .running(since: now, attempt: task.attempt) })
        || events.announce(
          .stepStarted(
            task.address, attempt: task.attempt, job: executor.jobKind(of: task.step)),
          step: task.place,
          waits: task.step.mustNotBeRepeated)
    else { return false }
    let now = time.now
    // The record may have taken long, and its readers add the duration to its time.
    if events.isRecorded {
      state.withLock { $0.running.update(task.instanceNumber) { $0.since = now } }
    }
    durations?.started(task, at: now)
    scheduleOwnCleanup(after: task)
    return true
  }

  /// Reports that the job of an attempt has left the queue of its cluster. The duration of the attempt counts from then.
  ///
  /// - Parameter time: The time since its program began.
  func reportBegin(of task: StepTask, since time: Duration) {
    let begin = self.time.now - time
    let isRunning = state.withLock { state in
      var isRunning = false
      state.running.update(task.instanceNumber) { attempt in
        isRunning = attempt.address == task.address
        if isRunning { attempt.since = begin }
      }
      return isRunning
    }
    guard isRunning else { return }
    durations?.started(task, at: begin)
    events.publish(.stepBegun(task.address, attempt: task.attempt), step: task.place)
  }

  private func scheduleOwnCleanup(after task: StepTask) {
    guard task.attempt == 1 else { return }
    scheduleCleanup(of: task.step.node, in: task.instance, scope: task.scope)
    scheduleEnd(of: task)
  }

  /// Drops an attempt whose start could not be recorded.
  private func notRecorded(_ attempt: Attempt) -> NodeResult {
    state.withLock { state in
      state.running.remove(attempt.instanceNumber)
      state.scopes.recordCancellationEffect()
    }
    drop(attempt)
    return leave(attempt.task, .cancelled(.recordLost))
  }

  /// Gives back what an attempt has got that does not begin.
  private func drop(_ attempt: Attempt) {
    attempt.outputFile.map(Descriptor.remove)
    slots.release(attempt.instanceNumber, unused: true)
  }
}
