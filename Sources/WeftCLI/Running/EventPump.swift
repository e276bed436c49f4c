import WeftEvents
import WeftExecution
import WeftPlatform

/// Delivers a run's events to one thread, in batches of any size.
///
/// Single events are delivered at once. Events in quick succession are combined, a hundred times per second: a thread
/// that woke for each would take a processor from the steps.
struct EventPump {
  private let subscription: EventSubscription
  private let wakeup: Wakeup
  private var lastBatch: Duration?
  private var isHurried = false

  /// The delay for combining batches in quick succession.
  private static let pause = Duration.milliseconds(10)
  /// The number of events that ends the delay early.
  private static let manyEvents = 1_000

  /// - Parameter wakeup: The point where the thread waits; waking it makes it check `isWanted`.
  init(_ subscription: EventSubscription, wakeup: Wakeup = Wakeup()) {
    self.subscription = subscription
    self.wakeup = wakeup
  }

  /// Waits for events, at most until `time` of ``MonotonicClock``, or until `isWanted`.
  ///
  /// - Returns: Empty if the time has come, or the thread is wanted elsewhere; `nil` after the last event.
  mutating func next(
    until time: Duration? = nil, isWanted: () -> Bool = { false }
  ) -> [RunEvent]? {
    if isHurried {
      wait(for: EventPump.manyEvents, until: MonotonicClock.now + EventPump.pause)
    }
    while true {
      guard let events = subscription.takeAll() else { return nil }
      if !events.isEmpty { return noted(events) }
      if let time, time <= MonotonicClock.now { return [] }
      if isWanted() { return [] }
      wait(for: 1, until: time)
    }
  }

  private func wait(for count: Int, until time: Duration?) {
    let wakeup = wakeup
    subscription.whenReady(count: count) { wakeup.wake() }
    wakeup.wait(atMost: time.map { $0 - MonotonicClock.now })
  }

  private mutating func noted(_ events: [RunEvent]) -> [RunEvent] {
    let now = MonotonicClock.now
    isHurried = lastBatch.map { now - $0 < EventPump.pause * 2 } ?? false
    lastBatch = now
    return events
  }
}
