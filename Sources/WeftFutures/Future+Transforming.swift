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
