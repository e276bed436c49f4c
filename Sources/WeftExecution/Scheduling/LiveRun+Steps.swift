import Synchronization
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// What becomes of a step: it is skipped, or queued, started, tried again, and judged.
extension LiveRun {
  func launchStep(
    _ index: Int, in frame: Frame, after results: NodeResults
  ) -> Eventual<NodeResult, Never> {
    if plan.steps[index].hasControl, !frame.isElement(of: plan.steps[index].node),
      plan.steps[index].control.fanOut != nil
    {
      return .later(launchFanOut(.step(index), in: frame, after: results))
    }
    return launch(StepTask(index, of: plan, in: frame, after: results), after: results)
  }

  /// Starts a step, or skips it.
  func launch(
    _ task: StepTask, after results: NodeResults, startsAlways: Bool = false
  ) -> Eventual<NodeResult, Never> {
    if let standing, let past = standing.end(of: task) {
      return .now(restore(task, past))
    }
    switch admission(of: task, after: results, startsAlways: startsAlways) {
    case .skip(let reason): return .now(skip(task, reason))
    case .fail(let failure):
      events.publish(.stepQueued(task.address), step: task.place)
      return .now(failAtStart(task, failure))
    case .start(let shelter):
      var task = task
      task.shelter = shelter
      if task.frame.isInElement { task.note(place: events.place(of: task.address)) }
      if !events.change(task.place, task.address, to: { state, _ in state = .queued }) {
        events.publish(.stepQueued(task.address), step: task.place)
      }
      if let failure = standing?.doubt(about: task) {
        return .now(failAtStart(task, failure))
      }
      if task.step.makesAttempts {
        if let ledger = ledger(for: task) { task.keep(ledger) }
        if let cache, task.step.isCached { return lookUp(task, in: cache) }
        return queue(task)
      }
      switch task.step.action {
      case .compute: return .now(compute(task))
      case .wait(let waiting): return .later(wait(task, for: waiting))
      case .approve(let approval): return .later(approve(task, approval))
      case .run, .use, .http, .workflow, .group:
        preconditionFailure("the planner let pass \(task.address), which has no such action")
      }
    }
  }

  // MARK: May it start?

  private func admission(
    of task: StepTask, after results: NodeResults, startsAlways: Bool
  ) -> Admission {
    let texts = plan.values.texts(ofStep: task.index)
    let isFinal = startsAlways || isFinal(task.step.group)
    // Of most steps there is nothing to ask.
    if texts.isEmpty, !isFinal, selection.includes(step: task.index),
      !results.contains(where: \.holdsBack), state.withLock({ $0.scopes.isQuiet })
    {
      return .start(.none)
    }
    return admission(
      StartCondition(texts), of: task.address, in: task.frame, scope: task.scope, after: results,
      inGroup: task.step.group, startsAlways: isFinal,
      isSelected: selection.includes(step: task.index),
      isDecided: task.frame.isElement(of: task.step.node)
        && !plan.asksForEachElement(step: task.index)
    ) { () throws(StepFailure) in
      try StepResolver(values, in: task.frame).variables(ofStep: task.index)
    }
  }

  /// - Parameters:
  ///   - isDecided: Whether the condition has been true once for all elements, and is not asked again.
  ///   - variables: What `env` is where the condition stands.
  func admission(
    _ condition: StartCondition?, of address: StepAddress, in frame: Frame, scope: Int,
    after results: NodeResults, inGroup group: Int, startsAlways: Bool = false,
    isSelected: Bool = true, isDecided: Bool = false,
    variables: () throws(StepFailure) -> [String: ScopedText?]
  ) -> Admission {
    guard isSelected else { return .skip(.notSelected) }
    let (rule, isCancelled, isEnding) = state.withLock { state in
      if !startsAlways { state.scopes.noteIfCancelled() }
      return (
        AdmissionRule(
          obstacle: state.scopes.obstacle(in: scope, after: results),
          closure: state.scopes.obstacle(in: scope, after: []),
          absence: state.scopes.absence(of: scope), condition: condition,
          startsAlways: startsAlways),
        state.scopes.isBeingCancelled(startsAlways ? 0 : scope),
        state.scopes.cancellation(of: startsAlways ? 0 : scope) != nil
      )
    }
    return rule.decide(address: address) { condition in
      if isDecided { return .success(true) }
      return Result { () throws(StepFailure) in
        var conditionScope = StepScope(values: values, frame: frame, group: group)
        if condition.readsVariables { conditionScope.variables = try variables() }
        let hasFailed = results.contains(where: \.hasFailed)
        conditionScope.statuses = Status(
          success: !isEnding
            && (startsAlways ? !hasFailed : !results.contains(where: \.holdsBack)),
          failure: !isCancelled && hasFailed, cancelled: isCancelled)
        do throws(ExpressionFault) {
          return try condition.expression.evaluate(in: conditionScope).value.isTruthy
        } catch {
          throw StepFailure(error, in: condition.text, of: plan)
        }
      }
    }
  }

  func skip(_ task: StepTask, _ reason: SkipReason) -> NodeResult {
    noteOwedCleanup(of: task)
    state.withLock { $0.scopes.count(in: task.scope) { $0.add(reason) } }
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome),
      ofNode: task.step.node, in: task.frame)
    durations?.skipped(task, reason)
    events.publish(.stepSkipped(task.address, reason), step: task.place)
    return NodeResult(reason, failedBefore: task.failedBefore)
  }

  // MARK: Attempts

  func queue(_ task: StepTask) -> Eventual<NodeResult, Never> {
    if !task.isWhereThePlanHasIt {
      state.withLock { $0.scopesOfWaiting[task.instance] = task.scope }
    }
    task.frame.stepQueued()
    return .of(slots.acquire(task.instance), with: (self, task)) { context, answer in
      context.0.answered(context.1, answer)
    }
  }

  private func answered(_ task: StepTask, _ answer: Slots.Answer) -> Eventual<NodeResult, Never> {
    task.frame.stepAnswered()
    if !task.isWhereThePlanHasIt {
      state.withLock { _ = $0.scopesOfWaiting.removeValue(forKey: task.instance) }
    }
    switch answer {
    case .granted: return startAttempt(task)
    case .refused: return turnedAway(task)
    }
  }

  /// A step is refused its turn when the scope around it has been closed; one that starts all the same
  /// waits again.
  private func turnedAway(_ task: StepTask) -> Eventual<NodeResult, Never> {
    guard let reason = obstacle(to: task) else { return queue(task) }
    return .now(leave(task, reason))
  }

  /// The step does not go on: it is skipped if it has not begun.
  func leave(_ task: StepTask, _ reason: SkipReason) -> NodeResult {
    if task.polling != nil { return endPolling(task) }
    return task.attempt == 1 ? skip(task, reason) : giveUp(task, reason)
  }

  /// Why a step that was admitted may not go on after all.
  func obstacle(to task: StepTask) -> SkipReason? {
    state.withLock { $0.scopes.obstacle(in: task.scope, sheltered: task.shelter) }
  }

  private func startAttempt(_ task: StepTask) -> Eventual<NodeResult, Never> {
    var task = task
    task.begin(at: time.now)
    let attempt = makeAttempt(task)
    // A cancellation comes either before this, and is seen here, or after it, and finds the attempt.
    let obstacle = state.withLock { state -> SkipReason? in
      if let obstacle = state.scopes.obstacle(in: task.scope, sheltered: task.shelter) {
        return obstacle
      }
      state.running.set(
        RunningAttempt(
          stop: attempt.stop, since: task.polling?.since ?? time.now, scope: task.scope,
          shelter: max(task.shelter, state.scopes.shelter(in: task.scope))), for: task.instance)
      if state.killsAtOnce { attempt.stop.request(.now) }
      return nil
    }
    if let obstacle {
      attempt.outputFile.map(Descriptor.remove)
      slots.release(task.instance, unused: true)
      return .now(leave(task, obstacle))
    }
    if task.polling == nil {
      noteLog(of: task)
      guard announceStart(of: task) else { return .now(notRecorded(attempt)) }
    }
    if let failure = attempt.obstacle {
      return finish(attempt, AttemptEnd(.failed(failure)))
    }
    let ending = executor.execute(attempt)
    if case .success(let end)? = ending.outcome { return finish(attempt, end) }
    return .of(ending, with: (self, attempt)) { context, end in
      context.0.finish(context.1, end)
    }
  }

  /// An attempt begins. What cleans up after the step is owed from now on: one that only waited for its turn
  /// has left nothing behind.
  func tellStart(of task: StepTask) {
    oweCleanup(after: task)
    durations?.started(task, at: time.now)
    events.publish(.stepStarted(task.address, attempt: task.attempt), step: task.place)
  }

  /// The same of what must not begin if that cannot be recorded.
  private func announceStart(of task: StepTask) -> Bool {
    guard
      events.change(
        task.place, task.address,
        to: { state, now in state = .running(since: now, attempt: task.attempt) })
        || events.announce(
          .stepStarted(task.address, attempt: task.attempt), step: task.place,
          waits: task.step.mustNotBeMadeAgain)
    else { return false }
    durations?.started(task, at: time.now)
    oweCleanup(after: task)
    return true
  }

  private func oweCleanup(after task: StepTask) {
    guard task.attempt == 1 else { return }
    noteCleanup(of: task.step.node, in: task.frame, scope: task.scope)
  }

  /// An attempt that has been made ready is not begun.
  private func notRecorded(_ attempt: Attempt) -> NodeResult {
    let task = attempt.task
    state.withLock { state in
      state.running.remove(task.instance)
      state.scopes.noteIfCancelled()
    }
    attempt.outputFile.map(Descriptor.remove)
    slots.release(task.instance, unused: true)
    let reason = SkipReason.cancelled(.recordLost)
    return task.attempt == 1 ? skip(task, reason) : giveUp(task, reason)
  }

  private func finish(
    _ attempt: Attempt, _ ended: AttemptEnd
  ) -> Eventual<NodeResult, Never> {
    attempt.output.finish()
    logs.endAttempt(of: attempt.instance)
    if case .asksAgain(let pause) = ended.status { return askAgain(attempt, after: pause) }
    guard leavesSomething(attempt) else { return finish(attempt, ended, leaving: nil) }
    var end = ended
    let own = collectOutputs(of: attempt, &end)
    return finish(attempt, end, leaving: .holding(own))
  }

  private func finish(
    _ attempt: Attempt, _ attemptEnd: AttemptEnd, leaving own: Boxed<NodeValues>?
  ) -> Eventual<NodeResult, Never> {
    let task = attempt.task
    let (since, reason) = state.withLock { state in
      (
        state.running.remove(task.instance)!.since,
        state.reasonToStop(in: task.scope)
      )
    }
    var end = StepEnd.judging(
      attempt, attemptEnd, cancelledFor: reason, duration: time.now - since,
      logBytes: logs.size(of: task.instance), outputs: own?.value.outputs.map(HandedOn.init) ?? [])
    if reason == nil || task.shelter == .fromCancellation, let failure = end.failure,
      task.mayBeTriedAgain, obstacle(to: task) == nil
    {
      var task = task
      switch retry(of: &task, after: failure, own?.value, attempt.resolved, attemptEnd.request) {
      case .retry(let delay, _):
        return tryAgain(task, after: end, delay, resuming: attemptEnd.request?.partial)
      case .giveUp(let refusal): end.notRetried = refusal?.message
      }
    }
    // What is told as ended has left nothing behind.
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

  /// Nobody hears of the end before its record is safe. As long as that takes another may have the slot, unless
  /// the end is one that says who may start.
  private func concludeAttempt(
    of task: StepTask, _ end: StepEnd, _ own: Boxed<NodeValues>?, making files: [KeptFile]
  ) -> Eventual<NodeResult, Never> {
    let keepsSlot = end.conclusion != .success || !plan.bodies.racers.isEmpty
    let safe = events.record(
      .stepFinished(task.address, end), keeping: kept(own?.value, making: files),
      isUrgent: { keepsSlot || !slots.areWanted })
    guard let safe else {
      let result = conclude(task, end, leaving: own, isRecorded: true)
      slots.release(task.instance)
      return .now(result)
    }
    if !keepsSlot { slots.release(task.instance) }
    return .later(
      safe.map { [self] in
        let result = conclude(task, end, leaving: own, isRecorded: true)
        if keepsSlot { slots.release(task.instance) }
        return result
      })
  }

  /// How it came that a step has ended.
  enum EndKind {
    case ran
    /// In an earlier part of the run.
    case restored
    /// It was not run, since it had made the same before.
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

  /// The step has ended: tells it, and lets its failure act.
  func conclude(
    _ task: StepTask, _ end: StepEnd, _ own: NodeValues, as kind: EndKind = .ran,
    making files: [KeptFile] = []
  ) -> NodeResult {
    conclude(task, end, leaving: .holding(own), as: kind, making: files)
  }

  /// - Parameter own: `nil` where nobody reads it, as of most steps; in a box, since it is large.
  private func conclude(
    _ task: StepTask, _ end: StepEnd, leaving own: Boxed<NodeValues>?, as kind: EndKind = .ran,
    making files: [KeptFile] = [], isRecorded: Bool = false
  ) -> NodeResult {
    let response = state.withLock { state in
      state.scopes.count(in: task.scope) { $0.add(end) }
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

  /// The step has ended in an earlier part of the run, and that stands. What it had to be cleaned up after, and
  /// was not, still is.
  func restore(_ task: StepTask, _ past: RecordedStep) -> NodeResult {
    noteOwedCleanup(of: task)
    if let reason = past.leftOut { return skip(task, reason) }
    switch past.state {
    case .finished(let end, let kept):
      state.withLock { $0.scopes.count(in: task.scope) { $0.restored += 1 } }
      let isRead = !plan.values.reads(ofNode: task.step.node).isEmpty
      let own = isRead ? kept.nodeValues(of: end, spool: values.spool) : nil
      return conclude(task, end, leaving: own.map(Boxed.holding), as: .restored)
    case .skipped(let reason): return skip(task, reason)
    case .queued, .started, .retrying:
      preconditionFailure("\(task.address) stands and has not ended")
    }
  }

  /// The step fails before an attempt could be made.
  func failAtStart(_ task: StepTask, _ failure: StepFailure) -> NodeResult {
    tellStart(of: task)
    let tolerance =
      (try? StepResolver(values, in: task.frame).tolerance(ofStep: task.index))
      ?? task.step.allowFailure
    let end = StepEnd(
      outcome: .failure,
      conclusion: tolerance.tolerates(failure.classes) ? .success : .failure,
      attempts: task.attempt, exit: nil, failure: failure, duration: .zero)
    let own = NodeValues(outcome: .failure, conclusion: end.conclusion, attempts: task.attempt)
    return conclude(task, end, own)
  }
}
