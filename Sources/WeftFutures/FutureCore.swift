import Synchronization

/// The source of a cell's outcome, to which the cell passes a cancellation on.
@usableFromInline
enum Upstream: Sendable {
  case nothing
  case one(FutureCore)
  case all([FutureCore])
  case handlers([@Sendable () -> Void])
}

/// The identity of a ``Future``: everything but the outcome, whose type it does not know.
///
/// A cell is itself the entry in the waiter list of its source, so a link of a chain is a single object. While it
/// waits, the references form a cycle (the source lists the cell, the cell knows its source). Settling breaks the
/// cycle, and every cell does settle, because a dropped promise does.
///
/// A cell has a `step` closure instead of a subclass for each kind of derivation. The compiler specializes a generic
/// closure for the types it is used with; a generic class gets one set of methods for all types, which look up metadata
/// at run time (measured on one chain: 750 ns per link, against 140 with closures).
///
/// `@unchecked Sendable`: it has these variables besides the mutex, and no two threads use one at the same time:
/// - `upstream` and `OutcomeCell.outcome` are written while `state` is locked, by the drain that runs the cell or by
///   the code that settles it. They are read under the lock, or without it by that drain. The outcome may also be read
///   without the lock once the cell is known to be settled; it never changes after that.
/// - `step` is written before the cell is shared, and afterwards only by the drain that runs it. A waiter is on one
///   list at a time, so no two drains run it at once.
@usableFromInline
class FutureCore: Continuation, @unchecked Sendable {
  /// The work to do when the source has settled. It gets the cell, and settles it or makes it follow another cell.
  @usableFromInline typealias Step = @Sendable (FutureCore, RunQueue) -> Void

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
    // A step that never ran may hold another deferred future, that one the next, and so on.
    guard step != nil else { return }
    RunQueue.draining { ready in
      if let step = step.take() { ready.discard(step) }
    }
  }

  @usableFromInline final var isSettled: Bool { state.withLock { $0.phase == .settled } }

  final var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Runs the step and releases it at the same time: it may hold earlier futures, and a chain held together by its
  /// steps would be released recursively.
  override final func run(_ ready: RunQueue) {
    guard let step = step.take() else { preconditionFailure("a future was run twice") }
    step(self, ready)
  }
}

extension FutureCore {
  /// Registers the interest of `waiter`, and runs it once the outcome is available.
  @usableFromInline
  final func attach(_ waiter: Continuation) {
    switch state.withLock({ $0.attach(waiter) }) {
    case .waits: break
    case .starts: RunQueue.draining { $0.append(self) }
    case .isReady: RunQueue.draining { $0.append(waiter) }
    }
  }

  /// Sets the upstream of a cell that has been attached to several inputs.
  ///
  /// This cannot happen earlier: a different thread may already have settled the cell early, and it must not withdraw
  /// from inputs that the cell is not attached to yet. In that case this method withdraws.
  final func stand(on inputs: Upstream, _ ready: RunQueue) {
    let isSettled = state.withLock { state in
      if state.phase == .pending { upstream = inputs }
      return state.phase == .settled
    }
    if isSettled { ready.withdraw(from: inputs) }
  }

  /// The first half of ``attach(_:)``, for a waiter that may withdraw before the second half.
  final func addInterest(_ ready: RunQueue) {
    if case .starts = state.withLock({ $0.addInterest() }) { ready.append(self) }
  }

  /// The second half of ``attach(_:)``.
  final func enqueue(_ waiter: Continuation, _ ready: RunQueue) {
    if case .isReady = state.withLock({ $0.enqueue(waiter) }) { ready.append(waiter) }
  }

  /// Runs `step` once `other` has settled.
  @usableFromInline
  final func follow(_ other: FutureCore, _ ready: RunQueue, _ step: @escaping Step) {
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

  /// Settles the cell: calls `store` under the lock and makes its waiters ready. Only the first call has an effect.
  ///
  /// - Parameter isEarly: Whether upstream cells may still be pending, and are no longer wanted.
  /// - Returns: Whether this was the first call.
  @usableFromInline
  @discardableResult
  final func settle(_ ready: RunQueue, isEarly: Bool = false, storing store: () -> Void) -> Bool {
    let settled = state.withLock { state -> (waiting: WaiterQueue, upstream: Upstream, Bool)? in
      guard let waiting = state.settle() else { return nil }
      store()
      let released = upstream
      upstream = .nothing
      return (waiting, released, state.isCancelled)
    }
    guard let (waiting, released, wasCancelled) = settled else { return false }
    ready.append(movingFrom: waiting)
    // A handler may hold a promise, whose own handler is then released here, and so on.
    if case .handlers(let handlers) = released { ready.discard(handlers) }
    if isEarly && !wasCancelled { ready.withdraw(from: released) }
    return true
  }

  /// Settles the cell from outside a drain.
  @usableFromInline
  final func settle(storing store: () -> Void) -> Bool {
    RunQueue.draining { settle($0, storing: store) }
  }

  /// Requests that work for this outcome stop.
  @usableFromInline
  final func cancel() { RunQueue.draining { passOn($0) { $0.cancel() } } }

  /// Withdraws one interest in the outcome.
  final func withdraw(_ ready: RunQueue) { passOn(ready) { $0.withdraw() } }

  /// Decides immediately; the upstream is notified in the drain.
  private final func passOn(_ ready: RunQueue, if isCancellation: (inout FutureState) -> Bool) {
    ready.withdraw(from: state.withLock { isCancellation(&$0) ? upstream : .nothing })
  }

  /// Runs `handler` when the cell is cancelled, or now if it already was. Only for cells without a source.
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
  /// Withdraws one interest from each upstream cell, or runs the handlers. Called by the drain.
  func withdraw(_ ready: RunQueue) {
    switch self {
    case .nothing: break
    case .one(let cell): cell.withdraw(ready)
    case .all(let cells): for cell in cells.reversed() { cell.withdraw(ready) }
    case .handlers(let handlers): for handler in handlers { handler() }
    }
  }
}

/// A cell with storage for its outcome.
///
/// `@unchecked Sendable`: `outcome` is written once, under the lock of `state`. It is read under that lock, by the drain
/// that runs the cell, or once the cell is known to be settled; ``FutureCore`` proves this for what it inherits, too.
///
/// `Outcome` is always `Result<Value, Failure>?`. It is a single generic parameter because then the class itself knows
/// the type that it has to destroy and need not look it up.
@usableFromInline
final class OutcomeCell<Outcome: Sendable & ExpressibleByNilLiteral>: FutureCore,
  @unchecked Sendable
{
  /// `nil` until settled. ``FutureCore`` describes which threads may read it, and when.
  @exclusivity(unchecked) @usableFromInline var outcome: Outcome

  @inlinable
  init(
    _ outcome: Outcome, _ phase: FutureState.Phase, on upstream: Upstream = .nothing,
    step: Step? = nil
  ) {
    self.outcome = outcome
    super.init(phase, on: upstream, step: step)
  }

  deinit {
    // A value may hold a future, that one's value the next, and so on.
    guard !_isPOD(Outcome.self) else { return }
    RunQueue.releasing { ready in
      if let ready { ready.discard(outcome) }
      outcome = nil
    }
  }
}

extension Future {
  @usableFromInline typealias Identity = OutcomeCell<Result<Value, Failure>?>

  /// A pending future without a source.
  @inlinable
  static func pending() -> Future { Future(Identity(nil, .pending)) }

  /// A future that runs `step` when this one has settled.
  @inlinable
  func derive<NewValue, NewFailure>(
    _ step: @escaping FutureCore.Step
  ) -> Future<NewValue, NewFailure> {
    typealias Derived = Future<NewValue, NewFailure>
    let derived = Derived.Identity(nil, .pending, on: .one(cell), step: step)
    cell.attach(derived)
    return Derived(derived)
  }

  /// Creates the future whose identity is `cell`; only for cells that are known to be of this type.
  @inlinable
  init(known cell: FutureCore) { self.init(unsafeDowncast(cell, to: Identity.self)) }

  /// Creates the future that is the source of `cell`; only in steps of cells that are known to derive from this type.
  @inlinable
  init(sourceOf cell: FutureCore) {
    guard case .one(let source) = cell.upstream else {
      preconditionFailure("a step was taken without a source")
    }
    self.init(known: source)
  }

  /// The outcome, for waiters that run because it is available.
  @inlinable
  var settledOutcome: Result<Value, Failure> {
    guard let outcome = cell.outcome else {
      preconditionFailure("a waiter was run before its future had settled")
    }
    return outcome
  }

  @inlinable
  @discardableResult
  func settle(_ outcome: Result<Value, Failure>, _ ready: RunQueue, isEarly: Bool = false) -> Bool {
    cell.settle(ready, isEarly: isEarly) { cell.outcome = outcome }
  }

  /// Settles as `other` will.
  @inlinable
  func follow(_ other: Future, _ ready: RunQueue) {
    if let outcome = other.outcome {
      settle(outcome, ready)
      return
    }
    cell.follow(other.cell, ready) { cell, ready in
      Future(known: cell).settle(Future(sourceOf: cell).settledOutcome, ready)
    }
  }
}

/// The state of a future apart from its outcome: its phase, its waiters and the number of interests.
///
/// Every method only decides. The caller holds the lock during the call, and acts on the result after it has released
/// the lock.
@usableFromInline
struct FutureState: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    /// There has been no interest yet; the first one starts the work.
    case unstarted
    case pending
    case settled
  }

  /// The action that a new interest requires.
  enum Arrival: Sendable {
    /// None: the outcome is pending.
    case waits
    /// Start the work: this is the first interest in a deferred future.
    case starts
    /// Run the new waiter: the outcome is available.
    case isReady
  }

  private(set) var phase: Phase
  private(set) var isCancelled = false
  /// The number of interests in the outcome. Only a withdrawal that brings it to zero cancels; its initial zero does
  /// not.
  private var interested: Int32 = 0
  private var waiting = WaiterQueue()

  init(_ phase: Phase) { self.phase = phase }

  /// Adds one interest in the outcome.
  mutating func addInterest() -> Arrival {
    guard phase != .settled else { return .isReady }
    interested += 1
    guard phase == .unstarted else { return .waits }
    phase = .pending
    return .starts
  }

  /// Keeps `waiter` until the outcome is available; if the future is settled, the caller runs it instead.
  mutating func enqueue(_ waiter: Continuation) -> Arrival {
    guard phase != .settled else { return .isReady }
    waiting.append(waiter)
    return .waits
  }

  /// Adds an interest and keeps its waiter, as ``addInterest()`` and ``enqueue(_:)``.
  mutating func attach(_ waiter: Continuation) -> Arrival {
    let arrival = addInterest()
    if arrival != .isReady { waiting.append(waiter) }
    return arrival
  }

  /// Settles the state, once. Later calls return `nil`.
  ///
  /// - Returns: The waiters.
  mutating func settle() -> WaiterQueue? {
    guard phase != .settled else { return nil }
    phase = .settled
    defer { waiting = WaiterQueue() }
    return waiting
  }

  /// Whether this request is the first, and there is still something to cancel.
  mutating func cancel() -> Bool {
    guard phase != .settled, !isCancelled else { return false }
    isCancelled = true
    return true
  }

  /// Removes one interest in the outcome.
  ///
  /// - Returns: Whether that makes it a cancellation.
  mutating func withdraw() -> Bool {
    guard phase != .settled else { return false }
    interested -= 1
    precondition(interested >= 0, "an interest was withdrawn twice: \(interested)")
    return interested == 0 && cancel()
  }
}
