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
  ///   - moment: The moment of the wall clock, in nanoseconds since 1970, that the delay leads to, if that is what is
  ///     waited for.
  func pause(
    _ key: Int, in scope: Int, for delay: Duration?, until moment: Int64? = nil,
    shelter: Shelter = .none
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
    schedulePauseEnd(key, after: delay, until: moment)
    return promise.future
  }

  /// How often a step that waits for a moment looks at the wall clock, which may be set, and goes on while the machine
  /// is suspended.
  private static let wallClockInterval: Duration = .seconds(60)

  private func schedulePauseEnd(_ key: Int, after delay: Duration, until moment: Int64?) {
    let part = moment == nil ? delay : min(delay, LiveRun.wallClockInterval)
    let timer = time.schedule(after: part) { [self] in
      if let moment, case let left = timeUntil(moment), left > .zero {
        return schedulePauseEnd(key, after: left, until: moment)
      }
      let pause = state.withLock { $0.pauses.removeValue(forKey: key) }
      pause?.promise.succeed(.over)
    }
    let isOver = state.withLock { state in
      guard state.pauses[key] != nil else { return true }
      state.pauses[key]?.timer = timer
      return false
    }
    if isOver { timer.cancel() }
  }

  /// What was waited for has come before the time was over.
  func endPause(_ key: Int) {
    guard let pause = state.withLock({ $0.pauses.removeValue(forKey: key) }) else { return }
    pause.timer?.cancel()
    pause.promise.succeed(.over)
  }

  /// A step that does nothing but wait.
  func wait(_ task: StepTask, for waiting: Waiting) -> Future<NodeResult, Never> {
    let (delay, moment): (Duration, Int64?)
    if let until = standing?.waitEnd(of: task) {
      let isMoment =
        switch waiting {
        case .until, .computedMoment: true
        case .duration, .computedDuration: false
        }
      (delay, moment) = (timeUntil(until.nanoseconds), isMoment ? until.nanoseconds : nil)
    } else {
      switch length(of: waiting, for: task) {
      case .success(let length): (delay, moment) = length
      case .failure(let failure): return Future(value: failAtStart(task, failure))
      }
    }
    tellStart(of: task)
    let due = moment.map { WallTime(nanoseconds: $0) } ?? wallClock().advanced(by: delay)
    events.note(.waiting(task.address, until: due))
    events.publish(recorded: .stepWaiting(task.address, for: delay), step: task.place)
    let since = time.now
    return pause(task.instance, in: task.scope, for: delay, until: moment, shelter: task.shelter)
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

  /// How long it is until the step has waited enough, nothing if that is past, and the moment that it waits for, if
  /// that is what it waits for.
  private func length(
    of waiting: Waiting, for task: StepTask
  ) -> Result<(Duration, until: Int64?), StepFailure> {
    switch waiting {
    case .duration(let duration): return .success((duration, nil))
    case .until(let moment):
      return .success((timeUntil(moment.nanoseconds), moment.nanoseconds))
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
          guard case .computedMoment = waiting else {
            return (try ComputedKey.timeout.duration(value), nil)
          }
          let moment = try Waiting.moment(value).nanoseconds
          return (timeUntil(moment), moment)
        } catch {
          throw ExpressionFault(error, expression.range)
        }
      } catch {
        throw StepFailure(error, in: text, of: plan)
      }
    }
  }

  /// - Parameter moment: Nanoseconds since 1970; any.
  func timeUntil(_ moment: Int64) -> Duration {
    max(.zero, WallTime(nanoseconds: moment).since(wallClock()))
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
