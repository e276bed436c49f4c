/// A value that arrives later, or the reason why it did not: the read side of a ``Promise``.
///
/// ## A short tour
///
/// A producer makes a ``Promise`` and hands out its ``Promise/future``. A consumer derives futures from that (`map`,
/// `flatMap`, `recover` …), joins several (`zip`, `settleAll`, `race`, `firstSuccess`), registers a callback
/// (``whenSettled(_:)``), or awaits ``value`` in a task.
///
/// ```swift
/// let promise = Promise<Int, any Error>()
/// let text = promise.future.map { "\($0) files" }
/// text.whenSettled { print($0) }
/// promise.succeed(3)                      // prints success("3 files") before it returns
/// ```
///
/// **Settled exactly once.** The first outcome counts, from any thread; later ones are ignored. A promise that is
/// dropped without an outcome settles with a default (see ``Promise``), so its consumers never wait forever.
///
/// **Eager.** Derived work runs when its source settles, even if the derived future is not kept. Only `deferred` waits
/// for a first interest.
///
/// **Where callbacks run.** On the thread that settles, or on the thread that derives if the source is already settled.
/// Settling, deriving and cancelling *inside* a callback only queue the resulting work; it runs on the same thread
/// after the callback has returned, oldest first. So a chain of any length needs a constant amount of stack, and a
/// callback always finishes before the next begins. Outside of callbacks, all resulting work has run when the call
/// returns. A callback should not block: it delays everything else queued on its thread.
///
/// **Cancellation is a request and travels upstream.** See ``cancel()``.
///
/// Inside, a future is one object (`FutureCore`). Its `FutureState` decides, and the object itself is the entry in the waiter
/// list of its source. `RunQueue` is the list that a thread drains. `@inlinable` is there for speed: other modules get
/// copies specialized for their types.
public struct Future<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let cell: OutcomeCell<Result<Value, Failure>?>

  @inlinable
  init(_ cell: OutcomeCell<Result<Value, Failure>?>) { self.cell = cell }

  /// Creates a future that is already settled.
  @inlinable
  public init(result: Result<Value, Failure>) { self.init(Identity(result, .settled)) }

  /// Creates a future that has already succeeded.
  @inlinable
  public init(value: Value) { self.init(result: .success(value)) }

  /// Creates a future that has already failed.
  @inlinable
  public init(failure: Failure) { self.init(result: .failure(failure)) }

  /// The outcome; `nil` while the future is pending.
  ///
  /// Does not start a deferred future.
  @inlinable
  public var outcome: Result<Value, Failure>? { isSettled ? cell.outcome : nil }

  /// Whether the outcome is available.
  @inlinable
  public var isSettled: Bool { cell.isSettled }

  /// Calls `callback` once with the outcome, after callbacks and derivations that were registered before.
  ///
  /// The callback counts as an interest that is never withdrawn: while it waits, cancelled derivations of the same
  /// future no longer cancel it.
  @inlinable
  public func whenSettled(_ callback: @escaping @Sendable (Result<Value, Failure>) -> Void) {
    cell.attach(Observer { callback(settledOutcome) })
  }

  /// Requests that work for this outcome stop. It settles nothing itself.
  ///
  /// The request goes to the future's source, immediately and from any thread:
  ///
  /// | future | effect of its cancellation |
  /// |---|---|
  /// | from a ``Promise`` | runs the handlers of ``Promise/onCancel(_:)``, each exactly once |
  /// | derived (`map`, `recover` …) | withdraws its interest in its source |
  /// | `flatMap`, `flatMapError` | withdraws from the outer future or, once that has settled, from the inner |
  /// | `zip`, `settleAll`, `race`, `firstSuccess` | withdraws its interest in every input |
  /// | `deferred`, not started | withdraws from its work if that is started later |
  /// | made from an `async` closure | cancels the task |
  /// | settled | nothing |
  ///
  /// A source is cancelled when its last interest has been withdrawn, so one cancelled branch leaves a shared source
  /// running. Called on the shared source itself, it cancels for all. Only the first request counts. Releasing a future
  /// is not a request.
  ///
  /// A cancelled future still settles as its source does, because only the producer knows when the work has really
  /// ended: a program is cancelled when it has been reaped, not when it was asked to stop. Transformations are still
  /// called, and a future that `flatMap` gets from one after the request is cancelled immediately.
  @inlinable
  public func cancel() { cell.cancel() }
}

/// A waiter that only calls back.
///
/// `@unchecked Sendable`: its own member is a constant of a Sendable type; the proof of ``Continuation`` covers the
/// variable that it inherits.
@usableFromInline
final class Observer: Continuation, @unchecked Sendable {
  private let callback: @Sendable () -> Void

  @usableFromInline
  init(_ callback: @escaping @Sendable () -> Void) { self.callback = callback }

  override func run(_ ready: RunQueue) { callback() }
}

extension Future {
  /// A future whose `work` starts, once, when the future is first derived from, observed or awaited.
  ///
  /// It then settles as the future that `work` returns. Reading ``outcome`` starts nothing, and neither does
  /// ``cancel()``. If the future is never started, `work` is released without a call.
  ///
  /// `work` is called on the thread of the first interest, before that call returns unless it is made from a callback
  /// (see ``Future``).
  @inlinable
  public static func deferred(
    _ work: @escaping @Sendable () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    // The first interest runs the cell although it has no source yet.
    Future(
      Identity(nil, .unstarted) { cell, ready in Future(known: cell).follow(work(), ready) })
  }
}
