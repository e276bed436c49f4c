/// A cell with storage for its outcome.
///
/// `Outcome` is always `Result<Value, Failure>?`. It is a single generic parameter because then the class itself knows
/// the type that it has to destroy and need not look it up.
@usableFromInline
final class OutcomeCell<Outcome: Sendable & ExpressibleByNilLiteral>: FutureCore,
  @unchecked Sendable
{
  /// `nil` until settled. ``Cell`` describes which threads may read it, and when.
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
