import Synchronization
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Executes the effects of a decision that ``Scopes`` made about many steps at once, outside the lock.
extension RunEngine {
  func respond(to response: Scopes.Response) {
    switch response {
    case .nothing: break
    case .blockScope(let scope): refuseWaiting(in: scope)
    case .cancel(let scope): stop(in: scope)
    case .cancelRun(let reason):
      events.publishUnlessFinished(.runCancelling(reason))
      stop(in: 0)
    }
  }

  /// The waiting, pausing and running steps that a decision concerns. They are collected before the decision takes
  /// effect: refusing a step may close its scope at once, and another scope may then get its number.
  private struct Affected {
    var waiting: [Int] = []
    var pauses: [Pause] = []
    var running: [(stop: StopSwitch, level: StopLevel)] = []
  }

  private func stop(in scope: Int) {
    let affected = affected(in: scope, stopping: true)
    refuseWaiting(affected)
    for (stop, level) in affected.running { stop.request(level) }
  }

  private func refuseWaiting(in scope: Int) { refuseWaiting(affected(in: scope, stopping: false)) }

  private func affected(in scope: Int, stopping: Bool) -> Affected {
    let waiting = slots.waiting()
    return state.withLock { state in
      var affected = Affected()
      affected.waiting = waiting.filter { instanceNumber in
        self.scope(ofInstance: instanceNumber, state).map {
          state.scopes.scope(scope, isAround: $0)
        }
          ?? false
      }
      let (scopes, killsAtOnce) = (state.scopes, state.killsAtOnce)
      affected.pauses = state.pauses.remove { pause in
        scopes.scope(scope, isAround: pause.scope)
          && (killsAtOnce || scope != 0 && scopes.isCancelling(scope)
            || scopes.obstacle(in: pause.scope, immune: pause.immunity) != nil)
      }
      guard stopping else { return affected }
      let level: StopLevel = state.killsAtOnce ? .now : .graceful
      let inside = state.running.values.filter { attempt in
        state.scopes.scope(scope, isAround: attempt.scope)
      }
      // Attempts with immunity continue, unless it is their own group that is cancelled.
      let stopped = inside.filter { attempt in
        (scope != 0 || attempt.immunity < .fromCancellation)
          && state.scopes.cancelReason(in: attempt.scope) != nil
      }
      if stopped.count < inside.count { state.scopes.recordCancellationEffect() }
      affected.running = stopped.map { ($0.stop, level) }
      return affected
    }
  }

  /// Refuses the steps that wait for a slot, and cuts short those that wait for a time.
  private func refuseWaiting(_ affected: Affected) {
    slots.refuse(affected.waiting)
    for pause in affected.pauses { pause.end(.cutShort) }
  }

  /// The scope of a waiting instance. `nil` for an element's step that was answered since it was found waiting: it
  /// looks at its scope itself before it starts.
  private func scope(ofInstance instanceNumber: Int, _ state: borrowing State) -> Int? {
    if let scope = state.scopesOfWaiting[instanceNumber] { return scope }
    return plan.steps.indices.contains(instanceNumber) ? plan.steps[instanceNumber].group : nil
  }
}
