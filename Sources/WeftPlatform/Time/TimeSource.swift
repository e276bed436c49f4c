/// The source of the engine's time; tests replace it with a clock that they advance by hand.
package protocol TimeSource: Sendable {
  /// The time since an arbitrary moment; never goes back.
  var now: Duration { get }

  /// Calls `action` once `delay` has passed, immediately if that is not positive, on a thread that must not be blocked.
  /// Actions due at the same time are called in the order in which they were scheduled.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> TimerToken
}

/// Cancels one scheduled action.
package struct TimerToken: Sendable {
  private let onCancel: @Sendable () -> Void

  package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Keeps the action from starting; does not wait for one that has started. A second call has no effect.
  package func cancel() { onCancel() }
}
