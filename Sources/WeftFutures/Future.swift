/// A value that arrives later, or the reason why it did not: the read side of a ``Promise``.
///
/// ## A short tour
///
/// Who produces a value makes a ``Promise`` and hands out its ``Promise/future``. Who wants it derives
/// from that (`map`, `flatMap`, `recover` …), joins several (`zip`, `settleAll`, `race`,
/// `firstSuccess`), asks to be told (``whenSettled(_:)``), or awaits ``value`` in a task.
///
/// ```swift
/// let promise = Promise<Int, any Error>()
/// let text = promise.future.map { "\($0) files" }
/// text.whenSettled { print($0) }
/// promise.succeed(3)                      // prints success("3 files") before it returns
/// ```
///
/// **Settled exactly once.** The first outcome counts, from whichever thread; later ones are ignored.
/// A promise that is dropped without an outcome settles with one of its own (see ``Promise``), so
/// nobody waits for ever.
///
/// **Eager.** Derived work runs when its source settles, whether or not anybody keeps the derived
/// future. Only `deferred` waits for somebody who looks.
///
/// **Where callbacks run.** On the thread that settles, or on the thread that derives when the source
/// is settled already. Settling, deriving and cancelling *inside* a callback only queue what
/// follows; it runs on the same thread after the callback has returned, oldest first. So a chain of
/// any length needs a constant amount of stack, and a callback always runs to its end before the next
/// begins. Outside of callbacks all that follows has run when the call returns. A callback
/// should not block: it holds up whatever else its thread has queued.
///
/// **Cancellation is a request and travels upstream.** See ``cancel()``.
///
/// Inside, a future is one object (`Cell`), whose `FutureState` decides and which is itself the entry in
/// the list of the future that it waits for. `Ready` is the list that a thread drains. What is
/// `@inlinable` is so for speed: other modules get copies for the types that they use.
public struct Future<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let cell: OutcomeCell<Result<Value, Failure>?>

  @inlinable
  init(_ cell: OutcomeCell<Result<Value, Failure>?>) { self.cell = cell }

  /// A future that is settled from the beginning.
  @inlinable
  public init(result: Result<Value, Failure>) { self.init(Identity(result, .settled)) }

  /// A future that has succeeded from the beginning.
  @inlinable
  public init(value: Value) { self.init(result: .success(value)) }

  /// A future that has failed from the beginning.
  @inlinable
  public init(failure: Failure) { self.init(result: .failure(failure)) }

  /// The outcome if it is there; nil while the future is pending.
  ///
  /// Only looks: a deferred future is not started by it.
  @inlinable
  public var outcome: Result<Value, Failure>? { isSettled ? cell.outcome : nil }

  /// Whether the outcome is there.
  @inlinable
  public var isSettled: Bool { cell.isSettled }

  /// Calls `callback` once with the outcome, after those that were registered or derived before.
  ///
  /// The callback counts as an interest that is never withdrawn: while it waits, cancelled
  /// derivations of the same future no longer cancel it.
  @inlinable
  public func whenSettled(_ callback: @escaping @Sendable (Result<Value, Failure>) -> Void) {
    cell.attach(Observer { callback(settledOutcome) })
  }

  /// Asks that nobody work for this outcome any more. It settles nothing itself.
  ///
  /// The request goes to what the future stands on, at once and from whichever thread:
  ///
  /// | future | what its cancellation does |
  /// |---|---|
  /// | of a ``Promise`` | runs the handlers of ``Promise/onCancel(_:)``, each exactly once |
  /// | derived (`map`, `recover` …) | withdraws its interest in its source |
  /// | `flatMap`, `flatMapError` | the same for the outer future, or once that has settled, the inner |
  /// | `zip`, `settleAll`, `race`, `firstSuccess` | withdraws its interest in every input |
  /// | `deferred`, not started | will withdraw from its work, should somebody start it after all |
  /// | made from an `async` closure | cancels the task |
  /// | settled | nothing |
  ///
  /// A source is cancelled when the last one interested in it has withdrawn, so one cancelled branch
  /// leaves a shared source running. Called on the shared source itself, it cancels for
  /// all. Only the first request counts. Releasing a future is not a request.
  ///
  /// A cancelled future still settles as its source does, since only the producer knows when
  /// the work has really ended: a program is cancelled when it has been reaped, not when it was asked
  /// to stop. Transformations are still called, and a future that `flatMap` gets from one after the
  /// request is cancelled immediately.
  @inlinable
  public func cancel() { cell.cancel() }
}

/// Calls back, and does nothing else. Sendable as every ``Waiter`` is: what it adds is a constant.
@usableFromInline
final class Observer: Waiter, @unchecked Sendable {
  private let callback: @Sendable () -> Void

  @usableFromInline
  init(_ callback: @escaping @Sendable () -> Void) { self.callback = callback }

  override func run(_ ready: Ready) { callback() }
}
