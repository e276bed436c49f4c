import WeftExecution
import WeftPlatform

/// Takes a run's events for one thread, in whatever number they have come.
struct EventPump {
  private let subscription: EventSubscription
  private let wakeup = Wakeup()

  init(_ subscription: EventSubscription) {
    self.subscription = subscription
  }

  /// Waits for events, at most until `time` by ``MonotonicClock``.
  ///
  /// - Returns: None when the time has come; `nil` after the last event was taken.
  func next(until time: Duration? = nil) -> [RunEvent]? {
    while true {
      guard let events = subscription.takeAll() else { return nil }
      if !events.isEmpty { return events }
      let left = time.map { $0 - MonotonicClock.now }
      if let left, left <= .zero { return [] }
      let wakeup = wakeup
      subscription.whenReady { wakeup.wake() }
      wakeup.wait(atMost: left)
    }
  }
}
