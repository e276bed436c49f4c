import Synchronization
public import WeftEvents

/// One subscriber's view of a run's events: an asynchronous sequence.
///
/// It ends after `runFinished`. A consumer that lags behind still gets every lifecycle event; output beyond the
/// limit collapses into one event that names the gap. Releasing the subscription ends it.
///
/// Each iterator is a subscriber of its own. The first has every event since the subscription was made. A later
/// one, such as that of a second loop over the same subscription, begins as a new subscription does: with the
/// events so far, or a snapshot of them.
public final class EventSubscription: AsyncSequence, Sendable {
  /// The bytes of output that are queued for a subscriber that lags behind.
  public static let defaultOutputLimitBytes = 4 << 20

  private let stream: EventStream
  private let outputLimitBytes: Int
  /// Whether an iterator already takes the events of this subscription.
  private let isIterated = Atomic(false)

  init(stream: EventStream, outputLimitBytes: Int) {
    self.stream = stream
    self.outputLimitBytes = outputLimitBytes
  }

  deinit { stream.unsubscribe(ObjectIdentifier(self)) }

  /// All events that have not been taken yet, without waiting; `nil` after the last one.
  package func takeAll() -> [RunEvent]? { stream.takeAll(for: ObjectIdentifier(self)) }

  /// Calls `waker` once, on any thread, when ``takeAll()`` has `count` events or the last one; possibly
  /// immediately. A later call replaces a waker that has not been called.
  package func whenReady(count: Int = 1, _ waker: @escaping @Sendable () -> Void) {
    stream.whenReady(for: ObjectIdentifier(self), count: count, waker)
  }

  public func makeAsyncIterator() -> Iterator {
    let isFirst = !isIterated.exchange(true, ordering: .relaxed)
    // Two iterators on one queue would each get some of the events, and one of them would wait for ever.
    return Iterator(
      subscription: isFirst ? self : stream.subscribe(outputLimitBytes: outputLimitBytes))
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let subscription: EventSubscription
    /// Taken and not yet returned, last first.
    private var taken: [RunEvent] = []

    init(subscription: EventSubscription) {
      self.subscription = subscription
    }

    /// The next event; `nil` after `runFinished`, or if the waiting task is cancelled.
    public mutating func next() async -> RunEvent? {
      while taken.isEmpty {
        guard !Task.isCancelled, let events = subscription.takeAll() else { return nil }
        taken = Array(events.reversed())
        if events.isEmpty { await subscription.ready() }
      }
      return taken.popLast()
    }
  }

  /// Returns when there is something to take, or when the task is cancelled.
  private func ready() async {
    let identity = ObjectIdentifier(self)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        stream.whenReady(for: identity, count: 1) { continuation.resume() }
        // A cancellation before the waker was stored found none to call.
        if Task.isCancelled { stream.interrupt(identity) }
      }
    } onCancel: {
      stream.interrupt(identity)
    }
  }
}
