import Synchronization
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step or group that waits for a time and holds nothing meanwhile.
struct Pause: Sendable {
  enum End: Sendable {
    case over
    /// The run, or a scope around the step, lets nothing new start.
    case cutShort
  }

  let scope: Int
  /// The immunity that keeps the pause from being cut short.
  let immunity: Immunity
  fileprivate var timer: TimerToken?
  private let promise = Promise<End, Never>(ifDropped: .success(.cutShort))

  init(in scope: Int, immunity: Immunity) {
    self.scope = scope
    self.immunity = immunity
  }

  var future: Future<End, Never> { promise.future }

  func end(_ end: End) {
    timer?.cancel()
    promise.succeed(end)
  }
}

/// The pauses of a run, by the instance number of the step, or by a number that no step has.
struct Pauses: Sendable {
  private var pauses: [Int: Pause] = [:]

  mutating func add(_ pause: Pause, _ key: Int) { pauses[key] = pause }

  /// - Returns: Whether the pause is still there.
  mutating func setTimer(_ timer: TimerToken, _ key: Int) -> Bool {
    guard pauses[key] != nil else { return false }
    pauses[key]?.timer = timer
    return true
  }

  mutating func remove(_ key: Int) -> Pause? { pauses.removeValue(forKey: key) }

  /// Removes the pauses that satisfy the predicate, in the order of their keys.
  mutating func remove(where isMeant: (Pause) -> Bool) -> [Pause] {
    let removed = pauses.filter { isMeant($0.value) }
    for key in removed.keys { pauses[key] = nil }
    return removed.sorted { $0.key < $1.key }.map(\.value)
  }

  var isEmpty: Bool { pauses.isEmpty }
  var keys: some Sequence<Int> { pauses.keys }
}

/// Waits for a time, or for an event outside the run, without holding a slot or pool.
extension RunEngine {
  /// Waits until a delay is over, or the scope lets nothing new start.
  ///
  /// - Parameters:
  ///   - key: The number of the waiting step; for a group, a number that no step has.
  ///   - delay: `nil` to wait until ``endPause(_:)``.
  ///   - moment: The moment at which the delay ends, in nanoseconds since 1970, if the step waits for a moment of the
  ///     wall clock.
  func pause(
    _ key: Int, in scope: Int, for delay: Duration?, until moment: Int64? = nil,
    immunity: Immunity = .none
  ) -> Future<Pause.End, Never> {
    // A change that closes the scope happens either before this, and is seen here, or after it, and finds the pause.
    let pause = state.withLock { state -> Pause? in
      if state.killsAtOnce || state.scopes.obstacle(in: scope, immune: immunity) != nil {
        return nil
      }
      let pause = Pause(in: scope, immunity: immunity)
      state.pauses.add(pause, key)
      return pause
    }
    guard let pause else { return Future(value: .cutShort) }
    if let delay { schedulePauseEnd(key, after: delay, until: moment) }
    return pause.future
  }

  /// The interval at which a step that waits for a moment looks at the wall clock, which may be set, and which
  /// continues while the machine is suspended.
  private static let wallClockInterval: Duration = .seconds(60)

  private func schedulePauseEnd(_ key: Int, after delay: Duration, until moment: Int64?) {
    let region = moment == nil ? delay : min(delay, RunEngine.wallClockInterval)
    let timer = time.schedule(after: region) { [self] in
      if let moment, case let left = timeUntil(moment), left > .zero {
        return schedulePauseEnd(key, after: left, until: moment)
      }
      endPause(key)
    }
    if !state.withLock({ $0.pauses.setTimer(timer, key) }) { timer.cancel() }
  }

  /// Ends a pause, because its time is over or the event that the step waited for has happened.
  func endPause(_ key: Int) {
    state.withLock { $0.pauses.remove(key) }?.end(.over)
  }

  /// The time until a moment; zero if it is past.
  ///
  /// - Parameter moment: Nanoseconds since 1970; any value.
  func timeUntil(_ moment: Int64) -> Duration {
    max(.zero, WallTime(nanoseconds: moment).since(configuration.wallClock()))
  }
}

extension RunEngine.State {
  /// The reason why a waiting step is ended. For a step that only waits, a failure that lets nothing new start is
  /// enough.
  func cancelReasonOfWait(in scope: Int) -> CancelReason? {
    if let reason = cancelReason(in: scope) { return reason }
    guard case .heldBack(let address)? = scopes.obstacle(in: scope, after: []) else { return nil }
    return .failure(of: address)
  }

  /// The reason why a running step is being stopped. When the run is killed, no immunity counts.
  func cancelReason(in scope: Int) -> CancelReason? {
    scopes.cancelReason(in: scope) ?? (killsAtOnce ? immediateCancelReason : nil)
  }
}

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
    if let task = state.waitingElsewhere[instanceNumber] { return task.scope }
    return plan.steps.indices.contains(instanceNumber) ? plan.steps[instanceNumber].group : nil
  }
}
