import Synchronization

/// Something that is run once the future it waits for has settled.
///
/// Sendable, though it has variables: `next` belongs to whoever holds the one list that the waiter is
/// on (a future's, under that future's lock, or then a thread's ``Ready``). `source` is described in
/// ``AnyCell``; a waiter that is no cell writes it before it is enqueued, and never again.
class Waiter: @unchecked Sendable {
  final var next: Waiter?
  final var source: AnyCell?

  init(source: AnyCell?) { self.source = source }

  /// Called by the drain, outside every lock, after `source` has settled.
  func run(_ ready: Ready) { preconditionFailure("\(type(of: self)) cannot be run") }
}

/// What a cell stands on, and therefore passes a cancellation on to.
enum Upstream: Sendable {
  case nothing
  case one(AnyCell)
  case all([AnyCell])
  case handlers([@Sendable () -> Void])
}

/// The part of a future that does not depend on the type of its outcome.
///
/// A cell is itself the entry on the list of the future that it derives from, so a link of a chain is
/// a single object. The references form a cycle while it waits (the source lists the cell, the cell
/// knows its source) that settling breaks; every cell does settle, since a dropped promise does.
///
/// Sendable, though it has variables outside the mutex. Those (`source`, `Cell.outcome`, and the
/// variables of subclasses that `upstream` reads) are written only while `state` is locked, by the one
/// who settles the cell or by the drain that runs it. They are read under the lock; or without it by
/// that same drain, and by anybody who has learned that the cell is settled, after which nothing
/// is written. Other variables of a subclass are used by the drain that runs the cell alone: a waiter
/// is on one list at a time, so no two drains run it at once.
class AnyCell: Waiter, @unchecked Sendable {
  final let state: Mutex<FutureState>

  init(_ phase: FutureState.Phase, source: AnyCell? = nil) {
    state = Mutex(FutureState(phase))
    super.init(source: source)
  }

  /// Asked while the lock is held.
  var upstream: Upstream { source.map(Upstream.one) ?? .nothing }

  /// Called while the lock is held, when the cell settles.
  func forgetUpstream() { source = nil }

  /// Counts `waiter` in and has it run once the outcome is there.
  final func attach(_ waiter: Waiter, _ ready: Ready) {
    let arrivals = state.withLock { ($0.addInterest(), $0.enqueue(waiter)) }
    if case .starts = arrivals.0 { ready.append(self) }
    if case .isReady = arrivals.1 { ready.append(waiter) }
  }

  /// The first half of ``attach(_:_:)``, for those who may withdraw before they have come to the second.
  final func addInterest(_ ready: Ready) {
    if case .starts = state.withLock({ $0.addInterest() }) { ready.append(self) }
  }

  /// The second half of ``attach(_:_:)``.
  final func enqueue(_ waiter: Waiter, _ ready: Ready) {
    if case .isReady = state.withLock({ $0.enqueue(waiter) }) { ready.append(waiter) }
  }

  /// Somebody asks that nobody work for this outcome any more.
  final func cancel(_ ready: Ready) { passOn(ready) { $0.cancel() } }

  /// One of those who wanted the outcome wants it no more.
  final func withdraw(_ ready: Ready) { passOn(ready) { $0.withdraw() } }

  private func passOn(_ ready: Ready, if isCancellation: (inout FutureState) -> Bool) {
    switch state.withLock({ isCancellation(&$0) ? upstream : .nothing }) {
    case .nothing: break
    case .one(let cell): ready.withdraw(from: cell)
    case .all(let cells): for cell in cells.reversed() { ready.withdraw(from: cell) }
    case .handlers(let handlers): for handler in handlers { handler() }
    }
  }
}

/// The identity behind a ``Future``: its state, its outcome, and in subclasses how that comes about.
class Cell<Value: Sendable, Failure: Error>: AnyCell, @unchecked Sendable {
  /// Nil until settled. For who may look at it, and when, see ``AnyCell``.
  final private(set) var outcome: Result<Value, Failure>?

  init(settled outcome: Result<Value, Failure>) {
    self.outcome = outcome
    super.init(.settled)
  }

  override init(_ phase: FutureState.Phase, source: AnyCell? = nil) {
    super.init(phase, source: source)
  }

  /// The outcome, for those who do not know whether it is there.
  final var outcomeIfSettled: Result<Value, Failure>? { state.withLock { _ in outcome } }

  /// Records the first outcome and makes those ready who waited for it; later ones change nothing.
  ///
  /// - Returns: Nil if it had settled before; or else what the cell stood on and has now let go,
  ///   which is `.nothing` if the cell had already passed a cancellation on to it.
  @discardableResult
  final func settle(_ outcome: Result<Value, Failure>, _ ready: Ready) -> Upstream? {
    let settled = state.withLock { state -> (waiting: WaitingList, upstream: Upstream, Bool)? in
      guard let waiting = state.settle() else { return nil }
      self.outcome = outcome
      let upstream = upstream
      forgetUpstream()
      return (waiting, upstream, state.isCancelled)
    }
    guard let (waiting, upstream, wasCancelled) = settled else { return nil }
    ready.append(waiting)
    return wasCancelled ? .nothing : upstream
  }

  /// Settles as `other` will, and is then run again.
  final func follow(_ other: Cell, _ ready: Ready) {
    other.addInterest(ready)
    let (previous, wasCancelled) = state.withLock { state in
      let previous = source
      source = other
      return (previous, state.isCancelled)
    }
    other.enqueue(self, ready)
    if wasCancelled { ready.withdraw(from: other) }
    withExtendedLifetime(previous) {}
  }
}
