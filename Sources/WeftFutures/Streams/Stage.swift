/// The answer of a receiver to a value.
@usableFromInline
enum Demand {
  /// The next value may follow at once.
  case more
  /// The next value may follow after ``Origin/request()``.
  case wait
  /// The receiver has ended, and so have all behind it. Nothing may follow.
  case ended
}

/// A receiver of the signals of one subscription: an operator that keeps no values back, or the end of a pipeline.
///
/// A value travels by address, because a stage does not know its type: a generic class would have one set of methods for
/// all types, which look up metadata at run time. The closures are specialized where an operator is used. Signals obey
/// three rules:
///
/// - A value is sent if the receiver has asked for it, by ``Demand/more`` or ``Origin/request()``. So there is one value at
///   a time between a producer and its receiver, and the values of a subscription never overlap.
/// - A completion needs no request. It may follow a value that the receiver still holds.
/// - Nothing follows a completion, ``Demand/ended`` or a cancellation.
///
/// Sendable, although the closures have state: the drain that runs the ``Origin`` of the subscription is the only one that
/// calls them, and the origin's flags order the accesses of successive drains.
@usableFromInline
final class Stage: @unchecked Sendable {
  @usableFromInline typealias Receive = (_ value: UnsafeRawPointer) -> Demand
  @usableFromInline typealias Complete = (_ failure: UnsafeRawPointer?) -> Void

  /// Takes a value that the caller keeps alive during the call.
  @usableFromInline let receive: Receive
  /// Takes the end: a failure, or `nil` if the stream has finished.
  @usableFromInline let complete: Complete
  /// Called if a subscriber, and not a signal, ends the subscription.
  let cancelled: (() -> Void)?

  @inlinable
  convenience init(_ receive: @escaping Receive, complete: @escaping Complete) {
    self.init(receive, complete: complete, cancelled: nil)
  }

  @usableFromInline
  init(
    _ receive: @escaping Receive, complete: @escaping Complete, cancelled: (() -> Void)?
  ) {
    self.receive = receive
    self.complete = complete
    self.cancelled = cancelled
  }

  /// Creates a stage that passes the end to `next` unchanged.
  @inlinable
  convenience init(before next: Stage, _ receive: @escaping Receive) {
    self.init(receive, complete: { next.complete($0) }, cancelled: nil)
  }

  /// Passes `value` to the stage.
  @inlinable
  func send<Value>(_ value: Value) -> Demand {
    withUnsafePointer(to: value) { receive(UnsafeRawPointer($0)) }
  }

  /// Passes an end to the stage.
  @inlinable
  func end<Failure>(_ completion: Completion<Failure>) {
    switch completion {
    case .finished: complete(nil)
    case .failure(let failure):
      withUnsafePointer(to: failure) { complete(UnsafeRawPointer($0)) }
    }
  }
}

extension UnsafeRawPointer {
  /// The value that a signal carries, of the type that its sender is known to have.
  @inlinable
  func value<Value>(as type: Value.Type = Value.self) -> Value {
    assumingMemoryBound(to: type).pointee
  }
}

extension Completion {
  /// Creates the end that a signal carries.
  @inlinable
  init(_ failure: UnsafeRawPointer?) {
    if let failure { self = .failure(failure.value()) } else { self = .finished }
  }
}

/// The memory of a stage. A captured variable would be checked for overlapping accesses each time.
@usableFromInline
final class Held<Value> {
  @exclusivity(unchecked) @usableFromInline var value: Value

  @inlinable
  init(_ value: Value) { self.value = value }
}
