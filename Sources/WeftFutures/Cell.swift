import Synchronization

/// What a cell stands on, and therefore passes a cancellation on to.
@usableFromInline
enum Upstream: Sendable {
  case nothing
  case one(Cell)
  case all([Cell])
  case handlers([@Sendable () -> Void])
}

/// The identity behind a ``Future``: all but the outcome, whose type it does not know.
///
/// A cell is itself the entry on the list of the future that it derives from, so a link of a chain is
/// a single object. The references form a cycle while it waits (the source lists the cell, the cell
/// knows its source) that settling breaks; every cell does settle, since a dropped promise does.
///
/// There is no subclass for each kind of derivation, but a `step`. The compiler makes a fast copy of a
/// generic closure for the types it is used with; a generic class gets one set of methods for
/// all types, which look up metadata as they go (measured on one chain: 750 ns a link, this way 140).
///
/// Sendable, though it has variables beside the mutex:
/// - `upstream` and `OutcomeCell.outcome` are written while `state` is locked, by the drain that runs
///   the cell or the one who settles it. They are read under the lock, or without it by that drain; the
///   outcome also by anybody who has learned that the cell is settled, after which it never changes.
/// - `step` is written before others know of the cell, and then by the drain that runs it. A waiter is on
///   one list at a time, so no two drains run it at once.
@usableFromInline
class Cell: Waiter, @unchecked Sendable {
  /// What is done when the source has settled: given the cell itself, to settle it or to have it follow.
  @usableFromInline typealias Step = @Sendable (Cell, Ready) -> Void

  final let state: Mutex<FutureState>
  @exclusivity(unchecked) @usableFromInline final private(set) var upstream: Upstream
  @exclusivity(unchecked) private final var step: Step?

  @usableFromInline
  init(_ phase: FutureState.Phase, on upstream: Upstream = .nothing, step: Step? = nil) {
    state = Mutex(FutureState(phase))
    self.upstream = upstream
    self.step = step
  }

  deinit {
    // A step that was never taken may hold another deferred future, that one the next, and so on.
    guard step != nil else { return }
    Ready.draining { ready in
      if let step = step.take() { ready.discard(step) }
    }
  }

  @usableFromInline final var isSettled: Bool { state.withLock { $0.phase == .settled } }

  final var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// The step is let go as it is taken: it may hold earlier futures, and a chain that was held together
  /// by its steps would be released recursively.
  override final func run(_ ready: Ready) {
    guard let step = step.take() else { preconditionFailure("a future was run twice") }
    step(self, ready)
  }
}

extension Cell {
  /// Counts `waiter` in and has it run once the outcome is there.
  @usableFromInline
  final func attach(_ waiter: Waiter) {
    switch state.withLock({ $0.attach(waiter) }) {
    case .waits: break
    case .starts: Ready.draining { $0.append(self) }
    case .isReady: Ready.draining { $0.append(waiter) }
    }
  }

  /// Tells a cell that has been attached to several what they are.
  ///
  /// Not before: another thread may already have settled it early, and it cannot withdraw from cells that
  /// it has not been attached to. Then this does.
  final func stand(on inputs: Upstream, _ ready: Ready) {
    let isSettled = state.withLock { state in
      if state.phase == .pending { upstream = inputs }
      return state.phase == .settled
    }
    if isSettled { ready.withdraw(from: inputs) }
  }

  /// The first half of ``attach(_:)``, for those who may withdraw before they have come to the second.
  final func addInterest(_ ready: Ready) {
    if case .starts = state.withLock({ $0.addInterest() }) { ready.append(self) }
  }

  /// The second half of ``attach(_:)``.
  final func enqueue(_ waiter: Waiter, _ ready: Ready) {
    if case .isReady = state.withLock({ $0.enqueue(waiter) }) { ready.append(waiter) }
  }

  /// Takes `step`, once `other` has settled.
  @usableFromInline
  final func follow(_ other: Cell, _ ready: Ready, _ step: @escaping Step) {
    self.step = step
    other.addInterest(ready)
    let (previous, wasCancelled) = state.withLock { state in
      let previous = upstream
      upstream = .one(other)
      return (previous, state.isCancelled)
    }
    other.enqueue(self, ready)
    if wasCancelled { ready.withdraw(from: .one(other)) }
    withExtendedLifetime(previous) {}
  }

  /// Ends the waiting: calls `store` under the lock and makes those ready who waited. Only the first call
  /// does anything.
  ///
  /// - Parameter isEarly: Whether what the cell stands on may still be pending, and is not wanted now.
  /// - Returns: Whether it was the first.
  @usableFromInline
  @discardableResult
  final func settle(_ ready: Ready, isEarly: Bool = false, storing store: () -> Void) -> Bool {
    let settled = state.withLock { state -> (waiting: WaiterQueue, upstream: Upstream, Bool)? in
      guard let waiting = state.settle() else { return nil }
      store()
      let released = upstream
      upstream = .nothing
      return (waiting, released, state.isCancelled)
    }
    guard let (waiting, released, wasCancelled) = settled else { return false }
    ready.append(movingFrom: waiting)
    // A handler may hold another promise, whose own handler is then released here, and so on.
    if case .handlers(let handlers) = released { ready.discard(handlers) }
    if isEarly && !wasCancelled { ready.withdraw(from: released) }
    return true
  }

  /// The same for those who are not part of a drain.
  @usableFromInline
  final func settle(storing store: () -> Void) -> Bool {
    Ready.draining { settle($0, storing: store) }
  }

  /// Somebody asks that nobody work for this outcome any more.
  @usableFromInline
  final func cancel() { Ready.draining { passOn($0) { $0.cancel() } } }

  /// One of those who wanted the outcome wants it no more.
  final func withdraw(_ ready: Ready) { passOn(ready) { $0.withdraw() } }

  /// Decides now, whom it concerns hears of it in the drain.
  private final func passOn(_ ready: Ready, if isCancellation: (inout FutureState) -> Bool) {
    ready.withdraw(from: state.withLock { isCancellation(&$0) ? upstream : .nothing })
  }

  /// Has `handler` run when the cell is cancelled, or now if it was. Only for cells without a source.
  @usableFromInline
  final func onCancel(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      guard state.phase != .settled, !state.isCancelled else { return state.phase != .settled }
      var handlers: [@Sendable () -> Void] = []
      if case .handlers(let earlier) = upstream { handlers = earlier }
      upstream = .nothing
      handlers.append(handler)
      upstream = .handlers(handlers)
      return false
    }
    if isLate { handler() }
  }
}

extension Upstream {
  /// For the drain.
  func withdraw(_ ready: Ready) {
    switch self {
    case .nothing: break
    case .one(let cell): cell.withdraw(ready)
    case .all(let cells): for cell in cells.reversed() { cell.withdraw(ready) }
    case .handlers(let handlers): for handler in handlers { handler() }
    }
  }
}
