extension Future {
  /// A future of the value that `transform` returns; failures pass through.
  @inlinable
  public func map<NewValue>(
    _ transform: @escaping @Sendable (Value) -> NewValue
  ) -> Future<NewValue, Failure> {
    mapResult { $0.map(transform) }
  }

  /// A future of the failure that `transform` returns; values pass through.
  @inlinable
  public func mapError<NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> Future<Value, NewFailure> {
    mapResult { $0.mapError(transform) }
  }

  /// A future of the outcome that `transform` returns for a value or a failure.
  @inlinable
  public func mapResult<NewValue, NewFailure>(
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Result<NewValue, NewFailure>
  ) -> Future<NewValue, NewFailure> {
    derive { cell, ready in
      let outcome = Future(sourceOf: cell).settledOutcome
      Future<NewValue, NewFailure>(known: cell).settle(transform(outcome), ready)
    }
  }

  /// A future that cannot fail, because `replacement` returns a value for every failure.
  @inlinable
  public func recover(
    _ replacement: @escaping @Sendable (Failure) -> Value
  ) -> Future<Value, Never> {
    mapResult { outcome in
      switch outcome {
      case .success(let value): .success(value)
      case .failure(let failure): .success(replacement(failure))
      }
    }
  }

  /// A future that settles as the future that `transform` returns for the value; failures pass through.
  @inlinable
  public func flatMap<NewValue>(
    _ transform: @escaping @Sendable (Value) -> Future<NewValue, Failure>
  ) -> Future<NewValue, Failure> {
    derive { cell, ready in
      let derived = Future<NewValue, Failure>(known: cell)
      switch Future(sourceOf: cell).settledOutcome {
      case .success(let value): derived.follow(transform(value), ready)
      case .failure(let failure): derived.settle(.failure(failure), ready)
      }
    }
  }

  /// A future that settles as the future that `transform` returns for a value or a failure.
  @inlinable
  public func flatMapResult<NewValue, NewFailure>(
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Future<NewValue, NewFailure>
  ) -> Future<NewValue, NewFailure> {
    derive { cell, ready in
      let outcome = Future(sourceOf: cell).settledOutcome
      Future<NewValue, NewFailure>(known: cell).follow(transform(outcome), ready)
    }
  }

  /// A future that settles as the future that `transform` returns for the failure; values pass through.
  @inlinable
  public func flatMapError<NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> Future<Value, NewFailure>
  ) -> Future<Value, NewFailure> {
    derive { cell, ready in
      let derived = Future<Value, NewFailure>(known: cell)
      switch Future(sourceOf: cell).settledOutcome {
      case .success(let value): derived.settle(.success(value), ready)
      case .failure(let failure): derived.follow(transform(failure), ready)
      }
    }
  }
}

extension Future where Failure == Never {
  /// Converts the future to a type that may fail.
  @inlinable
  public func failing<NewFailure>(with type: NewFailure.Type) -> Future<Value, NewFailure> {
    mapResult { .success($0.get()) }
  }
}

/// An outcome in the cheapest form available, for use in large numbers: a known value, a future, or a transformation of
/// a future.
///
/// A function that returns a `MaybeReady` need not create a future that nothing else observes: its caller already has a
/// future, which settles with the same outcome.
@usableFromInline
package enum MaybeReady<Value: Sendable, Failure: Error>: Sendable {
  case now(Value)
  case later(Future<Value, Failure>)
  case link(Link)

  /// A transformation of a future of a different type.
  @usableFromInline
  package struct Link: Sendable {
    @usableFromInline let source: FutureCore
    @usableFromInline let step: FutureCore.Step

    @inlinable
    init(_ source: FutureCore, _ step: @escaping FutureCore.Step) {
      self.source = source
      self.step = step
    }
  }

  /// The result of applying `transform` to a future's value; failures pass through.
  ///
  /// - Parameter context: The data `transform` needs besides the value. It is kept in the same object as `transform`,
  ///   which captures nothing.
  @inlinable
  package static func of<Source, Context: Sendable>(
    _ source: Future<Source, Failure>, with context: Context,
    _ transform: @escaping @Sendable (Context, Source) -> MaybeReady
  ) -> MaybeReady {
    .link(Link(source.cell, source.step(with: context, transform)))
  }
}

extension Future {
  /// A variant of ``flatMap(_:)`` for use in large numbers; see ``MaybeReady``.
  @inlinable
  package func flatMap<Context: Sendable, NewValue>(
    with context: Context,
    _ transform: @escaping @Sendable (Context, Value) -> MaybeReady<NewValue, Failure>
  ) -> Future<NewValue, Failure> {
    derive(step(with: context, transform))
  }

  /// Creates a future that settles as `eventual` does.
  @inlinable
  package init(_ eventual: MaybeReady<Value, Failure>) {
    switch eventual {
    case .now(let value): self.init(value: value)
    case .later(let future): self = future
    case .link(let link):
      let derived = Identity(nil, .pending, on: .one(link.source), step: link.step)
      link.source.attach(derived)
      self.init(derived)
    }
  }

  @inlinable
  func step<Context: Sendable, NewValue>(
    with context: Context,
    _ transform: @escaping @Sendable (Context, Value) -> MaybeReady<NewValue, Failure>
  ) -> FutureCore.Step {
    { cell, ready in
      let derived = Future<NewValue, Failure>(known: cell)
      switch Future(sourceOf: cell).settledOutcome {
      case .success(let value):
        switch transform(context, value) {
        case .now(let result): derived.settle(.success(result), ready)
        case .later(let future): derived.follow(future, ready)
        case .link(let link): cell.follow(link.source, ready, link.step)
        }
      case .failure(let failure): derived.settle(.failure(failure), ready)
      }
    }
  }
}
