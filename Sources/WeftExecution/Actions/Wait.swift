import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Steps with `wait`, which hold nothing until their time is over.
extension RunEngine {
  /// Runs a step whose action is to wait.
  func wait(_ task: StepTask) -> Future<NodeResult, Never> {
    guard case .wait(let waiting) = task.step.action else {
      preconditionFailure("\(task.address) does not wait")
    }
    let (delay, moment): (Duration, Int64?)
    if let until = resumePolicy?.waitEnd(of: task) {
      let isMoment =
        switch waiting {
        case .until, .computedMoment: true
        case .duration, .computedDuration: false
        }
      (delay, moment) = (timeUntil(until.nanoseconds), isMoment ? until.nanoseconds : nil)
    } else {
      switch length(of: waiting, for: task) {
      case .success(let length): (delay, moment) = length
      case .failure(let failure):
        guard let rehearsal else { return Future(value: failAtStart(task, failure)) }
        (delay, moment) = (rehearsal.wait(of: task.address), nil)
      }
    }
    return wait(task, for: delay, until: moment)
  }

  /// Ends the step when a delay is over. Another engine that resumes the run waits for what is left of it.
  func wait(
    _ task: StepTask, for delay: Duration, until moment: Int64? = nil
  ) -> Future<NodeResult, Never> {
    reportStart(of: task)
    let due =
      moment.map { WallTime(nanoseconds: $0) } ?? configuration.wallClock().advanced(by: delay)
    events.record(.waiting(task.address, until: due))
    events.publish(recorded: .stepWaiting(task.address, for: delay), step: task.place)
    let since = time.now
    return pause(
      task.instanceNumber, in: task.scope, for: delay, until: moment, immunity: task.immunity
    )
    .map { [self] pauseEnd in
      var cancellation: CancelReason?
      if pauseEnd == .cutShort {
        cancellation = state.withLock { $0.cancelReasonOfWait(in: task.scope) }
      }
      let outcome: Outcome = pauseEnd == .over ? .success : .cancelled
      let end = StepEnd(
        outcome: outcome, conclusion: outcome, attempts: 1, exit: nil,
        cancellation: pauseEnd == .over ? nil : cancellation ?? .requested,
        duration: time.now - since)
      return concludeComputing(task, end)
    }
  }

  /// The time that the step still has to wait, zero if the moment is past; and the moment, if it waits for one.
  private func length(
    of waiting: Waiting, for task: StepTask
  ) -> Result<(Duration, until: Int64?), StepFailure> {
    switch waiting {
    case .duration(let duration): return .success((duration, nil))
    case .until(let moment):
      return .success((timeUntil(moment.nanoseconds), moment.nanoseconds))
    case .computedDuration, .computedMoment: break
    }
    guard let (text, expression) = plan.values.texts(ofStep: task.index).expression(at: .waiting)
    else { preconditionFailure("the planner let pass a wait without its expression") }
    return Result { () throws(StepFailure) in
      let scope = try StepResolver(values, in: task.instance).scope(ofStep: task.index)
      return try text.evaluated(in: plan) { (_) throws(ExpressionError) in
        guard case .computedMoment = waiting else {
          return (try expression.value(in: scope, ComputedKey.timeout.duration), nil as Int64?)
        }
        let moment = try expression.value(in: scope, Waiting.moment).nanoseconds
        return (timeUntil(moment), moment)
      }
    }
  }
}
