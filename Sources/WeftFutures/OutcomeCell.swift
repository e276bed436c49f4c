/// A cell with room for its outcome.
///
/// `Outcome` is always `Result<Value, Failure>?`. Spelt as one parameter, because then the class itself
/// knows the type that it has to destroy and need not look it up.
@usableFromInline
final class OutcomeCell<Outcome: Sendable & ExpressibleByNilLiteral>: Cell, @unchecked Sendable {
  /// Nil until settled. For who may look at it, and when, see ``Cell``.
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
    // A value may hold another future, that one's value the next, and so on.
    guard !_isPOD(Outcome.self) else { return }
    Ready.releasing { ready in
      if let ready { ready.discard(outcome) }
      outcome = nil
    }
  }
}

extension Future {
  @usableFromInline typealias Identity = OutcomeCell<Result<Value, Failure>?>

  /// A future that nothing stands behind yet.
  @inlinable
  static func pending() -> Future { Future(Identity(nil, .pending)) }

  /// A future on which `step` is taken when this one has settled.
  @inlinable
  func derive<NewValue, NewFailure>(
    _ step: @escaping Cell.Step
  ) -> Future<NewValue, NewFailure> {
    typealias Derived = Future<NewValue, NewFailure>
    let derived = Derived.Identity(nil, .pending, on: .one(cell), step: step)
    cell.attach(derived)
    return Derived(derived)
  }

  /// The future whose identity `cell` is; only for cells that are known to be of this type.
  @inlinable
  init(known cell: Cell) { self.init(unsafeDowncast(cell, to: Identity.self)) }

  /// The future that `cell` stands on; only for steps of cells that are known to derive from this type.
  @inlinable
  init(sourceOf cell: Cell) {
    guard case .one(let source) = cell.upstream else {
      preconditionFailure("a step was taken without a source")
    }
    self.init(known: source)
  }

  /// The outcome, for those who have been run because it is there.
  @inlinable
  var settledOutcome: Result<Value, Failure> {
    guard let outcome = cell.outcome else {
      preconditionFailure("a waiter was run before its future had settled")
    }
    return outcome
  }

  @inlinable
  @discardableResult
  func settle(_ outcome: Result<Value, Failure>, _ ready: Ready, isEarly: Bool = false) -> Bool {
    cell.settle(ready, isEarly: isEarly) { cell.outcome = outcome }
  }

  /// Settles as `other` will.
  @inlinable
  func follow(_ other: Future, _ ready: Ready) {
    if let outcome = other.outcome {
      settle(outcome, ready)
      return
    }
    cell.follow(other.cell, ready) { cell, ready in
      Future(known: cell).settle(Future(sourceOf: cell).settledOutcome, ready)
    }
  }
}
