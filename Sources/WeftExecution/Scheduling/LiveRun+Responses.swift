import Synchronization
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Doing what has been decided about many steps at once, outside the lock.
extension LiveRun {
  func respond(to response: Scopes.Response) {
    switch response {
    case .nothing: break
    case .holdBack(let scope): turnAway(in: scope)
    case .cancel(let scope): stop(in: scope)
    case .cancelRun(let reason):
      events.publishUnlessFinished(.runCancelling(reason))
      stop(in: 0)
    }
  }

  private func stop(in scope: Int) {
    turnAway(in: scope)
    let running = state.withLock { state in
      let level: StopLevel = state.killsAtOnce ? .now : .graceful
      let inside = state.running.values.filter { attempt in
        state.scopes.scope(scope, isAround: attempt.scope)
      }
      // What is to run even then goes on, unless it is its own group that is ended.
      let stopped = inside.filter { scope != 0 || $0.shelter < .fromCancellation }
      if stopped.count < inside.count { state.scopes.noteIfCancelled() }
      return stopped.map { ($0.stop, level) }
    }
    for (stop, level) in running { stop.request(level) }
  }

  /// Those that wait for a slot or for a time have no turn any more.
  private func turnAway(in scope: Int) {
    let waiting = slots.waiting()
    let refused = state.withLock { state in
      waiting.filter { state.scopes.scope(scope, isAround: self.scope(ofInstance: $0, state)) }
    }
    slots.refuse(refused)
    let pauses = state.withLock { state in
      let ended = state.pauses.filter { _, pause in
        state.scopes.scope(scope, isAround: pause.scope)
          && (state.killsAtOnce || scope != 0 && state.scopes.isCancelling(scope)
            || state.scopes.obstacle(in: pause.scope, sheltered: pause.shelter) != nil)
      }
      for instance in ended.keys { state.pauses[instance] = nil }
      return ended.sorted { $0.key < $1.key }.map(\.value)
    }
    for pause in pauses {
      pause.timer?.cancel()
      pause.promise.succeed(.cutShort)
    }
  }

  private func scope(ofInstance instance: Int, _ state: borrowing State) -> Int {
    state.scopesOfWaiting[instance] ?? plan.steps[instance].group
  }
}
