import WeftExecution
import WeftPlatform

/// Takes a run's events for one thread, in whatever number they have come.
///
/// Single events are taken at once. While they come in quick succession they are taken together, a
/// hundred times a second: a thread that woke for each would take a processor from the steps.
struct EventPump {
  private let subscription: EventSubscription
  private let wakeup: Wakeup
  private var lastBatch: Duration?
  private var isHurried = false

  /// Batches that follow each other faster are taken together.
  private static let pause = Duration.milliseconds(10)
  /// So many events are taken even before the pause is over.
  private static let manyEvents = 1_000

  /// - Parameter wakeup: Where the thread waits; whoever wakes it makes it look whether to go on.
  init(_ subscription: EventSubscription, wakeup: Wakeup = Wakeup()) {
    self.subscription = subscription
    self.wakeup = wakeup
  }

  /// Waits for events, at most until `time` by ``MonotonicClock``, and not while `isWanted` elsewhere.
  ///
  /// - Returns: None when the time has come, or the thread is wanted; `nil` after the last event was taken.
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
