import Synchronization
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Waiting for a time without holding anything.
extension LiveRun {
  /// - Parameters:
  ///   - key: The number of the step that waits; of a group, one that no step has.
  ///   - delay: `nil`: until ``endPause(_:)``, whose caller has what it waited for.
  func pause(
    _ key: Int, in scope: Int, for delay: Duration?, shelter: Shelter = .none
  ) -> Future<Pause.End, Never> {
    // What closes the scope comes either before this, and is seen here, or after it, and finds the pause.
    let promise = state.withLock { state -> Promise<Pause.End, Never>? in
      if state.killsAtOnce || state.scopes.obstacle(in: scope, sheltered: shelter) != nil {
        return nil
      }
      let promise = Promise<Pause.End, Never>(ifDropped: .success(.cutShort))
      state.pauses[key] = Pause(scope: scope, shelter: shelter, promise: promise)
      return promise
    }
    guard let promise else { return Future(value: .cutShort) }
    guard let delay else { return promise.future }
    let timer = time.schedule(after: delay) { [self] in
      let pause = state.withLock { $0.pauses.removeValue(forKey: key) }
      pause?.promise.succeed(.over)
    }
    let isOver = state.withLock { state in
      guard state.pauses[key] != nil else { return true }
      state.pauses[key]?.timer = timer
      return false
    }
    if isOver { timer.cancel() }
    return promise.future
  }

  /// What was waited for has come before the time was over.
  func endPause(_ key: Int) {
    guard let pause = state.withLock({ $0.pauses.removeValue(forKey: key) }) else { return }
    pause.timer?.cancel()
    pause.promise.succeed(.over)
  }

  /// A step that does nothing but wait.
  func wait(_ task: StepTask, for waiting: Waiting) -> Future<NodeResult, Never> {
    let delay: Duration
    if let until = standing?.waitEnd(of: task) {
      delay = timeUntil(until.nanoseconds)
    } else {
      switch length(of: waiting, for: task) {
      case .success(let length): delay = length
      case .failure(let failure): return Future(value: failAtStart(task, failure))
      }
    }
    tellStart(of: task)
    events.note(.waiting(task.address, until: wallClock().advanced(by: delay)))
    events.publish(recorded: .stepWaiting(task.address, for: delay), step: task.place)
    let since = time.now
    return pause(task.instance, in: task.scope, for: delay, shelter: task.shelter)
      .map { [self] pauseEnd in
        var cancellation: CancelReason?
        if pauseEnd == .cutShort {
          cancellation = state.withLock { $0.reasonToEndWaiting(in: task.scope) }
        }
        let outcome: Outcome = pauseEnd == .over ? .success : .cancelled
        let end = StepEnd(
          outcome: outcome, conclusion: outcome, attempts: 1, exit: nil,
          cancellation: pauseEnd == .over ? nil : cancellation ?? .requested,
          duration: time.now - since)
        return concludeComputing(
          task, end, NodeValues(outcome: outcome, conclusion: outcome, attempts: 1))
      }
  }

  /// How long it is until the step has waited enough; nothing if the moment is past.
  private func length(
    of waiting: Waiting, for task: StepTask
  ) -> Result<Duration, StepFailure> {
    switch waiting {
    case .duration(let duration): return .success(duration)
    case .until(let moment): return .success(timeUntil(moment))
    case .computedDuration, .computedMoment: break
    }
    guard let text = plan.values.texts(ofStep: task.index).first(where: { $0.site == .waiting }),
      let expression = text.template.onlyExpression
    else { preconditionFailure("the planner let pass a wait without its expression") }
    return Result { () throws(StepFailure) in
      var scope = StepScope(values: values, frame: task.frame, group: task.step.group)
      scope.variables = try StepResolver(values, in: task.frame).variables(ofStep: task.index)
      do throws(ExpressionFault) {
        let value = try expression.evaluate(in: scope).value
        do throws(ExpressionProblem) {
          if case .computedMoment = waiting { return timeUntil(try Waiting.moment(value)) }
          return try ComputedKey.timeout.duration(value)
        } catch {
          throw ExpressionFault(error, expression.range)
        }
      } catch {
        throw StepFailure(error, in: text, of: plan)
      }
    }
  }

  private func timeUntil(_ moment: WallMoment) -> Duration { timeUntil(moment.nanoseconds) }

  /// - Parameter moment: Nanoseconds since 1970.
  func timeUntil(_ moment: Int64) -> Duration {
    max(.zero, .nanoseconds(moment - wallClock().nanoseconds))
  }
}

extension LiveRun.State {
  /// Why something that only waits is ended: a failure that lets nothing new start is enough.
  func reasonToEndWaiting(in scope: Int) -> CancelReason? {
    if let reason = reasonToStop(in: scope) { return reason }
    guard case .heldBack(let address)? = scopes.obstacle(in: scope, after: []) else { return nil }
    return .failure(of: address)
  }

  /// Why something that runs is being stopped; in a run that is ended at once, whatever shelters it.
  func reasonToStop(in scope: Int) -> CancelReason? {
    scopes.reasonToStop(in: scope) ?? (killsAtOnce ? reasonToEndAtOnce : nil)
  }
}
