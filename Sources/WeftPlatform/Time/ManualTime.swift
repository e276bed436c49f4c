import Synchronization

/// A clock that only its owner advances: a test, or the prediction of a run.
package final class ManualTime: TimeSource {
  private struct State {
    var now = Duration.zero
    var isDeaf = false
    var queue = TimerQueue<@Sendable () -> Void>()
  }

  private let state = Mutex(State())

  package init() {}

  package var now: Duration { state.withLock { $0.now } }

  package func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> TimerToken {
    let id = state.withLock { $0.queue.add(action, due: $0.now + delay) }
    return TimerToken { [self] in
      state.withLock { state in
        if !state.isDeaf { _ = state.queue.cancel(id) }
      }
    }
  }

  /// Ignores further cancellations, to simulate actions that have begun when they are cancelled.
  package func ignoreCancellations() { state.withLock { $0.isDeaf = true } }

  /// Advances the clock, and calls all actions that become due, each at its own time, on this thread.
  package func advance(by duration: Duration) {
    let end = now + duration
    while let action = nextAction(until: end) { action() }
    state.withLock { $0.now = end }
  }

  /// The time at which the next action is due; `nil` if there is none.
  package var nextDue: Duration? { state.withLock { $0.queue.nextDue() } }

  /// Advances the clock to the next action, and calls only that.
  package func callNext() {
    guard let due = nextDue else { return }
    nextAction(until: due)?()
  }

  /// Advances the clock without calling the actions that become due.
  package func move(to moment: Duration) {
    state.withLock { $0.now = max($0.now, moment) }
  }

  /// The number of actions that have not been called.
  package var scheduledCount: Int { state.withLock { $0.queue.count } }

  private func nextAction(until end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let due = state.queue.nextDue(), due <= end else { return nil }
      state.now = max(state.now, due)
      return state.queue.takeDue(at: due)
    }
  }
}
