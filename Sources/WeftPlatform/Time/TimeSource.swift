/// Where the engine gets its time from; a test puts a clock in its place that it advances by hand.
package protocol TimeSource: Sendable {
  /// Since an arbitrary moment; never goes back.
  var now: Duration { get }

  /// Calls `action` once `delay` has passed, at once if that is not positive, on a thread that must not
  /// be blocked. Actions due at the same time are called in the order in which they were scheduled.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> TimerToken
}

/// Takes back one scheduled action.
package struct TimerToken: Sendable {
  private let onCancel: @Sendable () -> Void

  package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// The action will not begin any more; one that has begun is not waited for. Twice is as good as once.
  package func cancel() { onCancel() }
}
