import Synchronization

/// A publisher that is sent to from outside. It remembers nothing: a subscriber receives what is sent after it has
/// subscribed.
///
/// Sending never waits. Each subscriber has a buffer of its own, so a slow one does not hold up the others. All subscribers
/// receive values in one order. May be used from any thread.
public final class PassthroughSubject<Output: Sendable, Failure: Error>: Sendable {
  @usableFromInline let hub: Hub<Output, Failure>

  /// Creates a subject without subscribers.
  public init() { hub = Hub(remembering: 0, resending: true) }

  /// Sends `value` to all subscribers.
  ///
  /// - Returns: Whether the subject had not ended. A value sent after the end is dropped.
  @inlinable
  @discardableResult
  public func send(_ value: Output) -> Bool { hub.send(value) }

  /// Ends all subscriptions, after the values sent before, and those that are made later.
  ///
  /// - Returns: Whether this was the first end; only that one counts.
  @discardableResult
  public func send(completion: Completion<Failure>) -> Bool { hub.send(completion) }

  /// Publishes what is sent from the subscription on.
  ///
  /// - Parameter policy: The rule for values that come while the subscriber is busy. A subject cannot be suspended, so
  ///   `bounded` stops the program.
  public func publisher(_ policy: BufferPolicy = .unbounded) -> Publisher<Output, Failure> {
    hub.publisher(policy)
  }
}

extension PassthroughSubject where Output == Void {
  /// Sends a signal without a value, as ``send(_:)``.
  @discardableResult
  public func send() -> Bool { send(()) }
}

/// A publisher of a value that changes. A subscriber receives the current value, and then each change.
///
/// After the end, a subscriber receives the end only. Otherwise as ``PassthroughSubject``.
public final class CurrentValueSubject<Output: Sendable, Failure: Error>: Sendable {
  private let hub: Hub<Output, Failure>

  /// Creates a subject with a first value.
  public init(_ value: Output) {
    hub = Hub(remembering: 1, resending: false)
    hub.send(value)
  }

  /// The current value; after the end, the last one.
  public var value: Output {
    guard let value = hub.latest else { preconditionFailure("a current value was lost") }
    return value
  }

  /// Sets the value and sends it to all subscribers.
  ///
  /// - Returns: Whether the subject had not ended. A value sent after the end is dropped.
  @discardableResult
  public func send(_ value: Output) -> Bool { hub.send(value) }

  /// Changes the value and sends it, without a different change in between. `change` is called under a lock and must not
  /// use the subject.
  ///
  /// - Returns: Whether the subject had not ended. A change after the end is dropped.
  @discardableResult
  public func update(_ change: (inout Output) -> Void) -> Bool { hub.update(change) }

  /// Ends all subscriptions, as ``PassthroughSubject/send(completion:)``.
  @discardableResult
  public func send(completion: Completion<Failure>) -> Bool { hub.send(completion) }

  /// Publishes the current value and its changes.
  ///
  /// - Parameter policy: The rule for values that come while the subscriber is busy. By default it then receives the
  ///   latest one only. A subject cannot be suspended, so `bounded` stops the program.
  public func publisher(_ policy: BufferPolicy = .bufferingLatest(1)) -> Publisher<Output, Failure>
  {
    hub.publisher(policy)
  }
}

/// A publisher that remembers the last values. A subscriber receives these, and then what is sent, even if the subject has
/// already ended. Otherwise as ``PassthroughSubject``.
public final class ReplaySubject<Output: Sendable, Failure: Error>: Sendable {
  private let hub: Hub<Output, Failure>

  /// Creates a subject that remembers up to `count` values, which must not be negative.
  public init(_ count: Int) {
    precondition(count >= 0, "\(count) values cannot be remembered")
    hub = Hub(remembering: count, resending: true)
  }

  /// Sends `value` to all subscribers and remembers it.
  ///
  /// - Returns: Whether the subject had not ended. A value sent after the end is dropped.
  @discardableResult
  public func send(_ value: Output) -> Bool { hub.send(value) }

  /// Ends all subscriptions, as ``PassthroughSubject/send(completion:)``.
  @discardableResult
  public func send(completion: Completion<Failure>) -> Bool { hub.send(completion) }

  /// Publishes the remembered values and what is sent.
  ///
  /// - Parameter policy: The rule for values that come while the subscriber is busy, and for the remembered ones. A
  ///   subject cannot be suspended, so `bounded` stops the program.
  public func publisher(_ policy: BufferPolicy = .unbounded) -> Publisher<Output, Failure> {
    hub.publisher(policy)
  }
}
