import Synchronization
package import WeftPlatform

/// A clock that stands still until a test moves it.
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

  /// From now on what is cancelled is called all the same, as an action is that has begun when it is cancelled.
  package func ignoreCancellations() { state.withLock { $0.isDeaf = true } }

  /// Moves the clock, and calls what has become due on the way, each at its own time, on this thread.
  package func advance(by duration: Duration) {
    let end = now + duration
    while let action = nextAction(until: end) { action() }
    state.withLock { $0.now = end }
  }

  /// When the next action is due; `nil`: none is.
  package var nextDue: Duration? { state.withLock { $0.queue.nextDue() } }

  /// Moves the clock to when the next action is due, and calls that one alone.
  package func callNext() {
    guard let due = nextDue else { return }
    nextAction(until: due)?()
  }

  /// Moves the clock, and leaves for later what becomes due by that.
  package func move(to moment: Duration) {
    state.withLock { $0.now = max($0.now, moment) }
  }

  /// How many actions are still to be called.
  package var scheduledCount: Int { state.withLock { $0.queue.count } }

  private func nextAction(until end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let due = state.queue.nextDue(), due <= end else { return nil }
      state.now = max(state.now, due)
      return state.queue.takeDue(at: due)
    }
  }
}
