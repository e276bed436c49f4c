extension Future {
  /// A future of what `transform` makes of the value; failures pass through.
  public func map<NewValue>(
    _ transform: @escaping @Sendable (Value) -> NewValue
  ) -> Future<NewValue, Failure> {
    derive(Mapped(cell, transform))
  }

  /// A future of what `transform` makes of the outcome, whichever it is.
  public func mapResult<NewValue, NewFailure>(
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Result<NewValue, NewFailure>
  ) -> Future<NewValue, NewFailure> {
    derive(ResultMapped(cell, transform))
  }

  /// A future that fails with what `transform` makes of the failure; values pass through.
  public func mapError<NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> Future<Value, NewFailure> {
    mapResult { $0.mapError(transform) }
  }

  /// A future that cannot fail, because `replacement` gives a value for every failure.
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

  /// A future that settles as the one which `transform` makes of the value; failures pass through.
  public func flatMap<NewValue>(
    _ transform: @escaping @Sendable (Value) -> Future<NewValue, Failure>
  ) -> Future<NewValue, Failure> {
    derive(FlatMapped(cell, transform))
  }

  /// A future that settles as the one which `transform` makes of the failure; values pass through.
  public func flatMapError<NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> Future<Value, NewFailure>
  ) -> Future<Value, NewFailure> {
    flatMapResult { outcome in
      switch outcome {
      case .success(let value): Future<Value, NewFailure>(value: value)
      case .failure(let failure): transform(failure)
      }
    }
  }

  /// A future that settles as the one which `transform` makes of the outcome, whichever it is.
  public func flatMapResult<NewValue, NewFailure>(
    _ transform:
      @escaping @Sendable (Result<Value, Failure>) -> Future<NewValue, NewFailure>
  ) -> Future<NewValue, NewFailure> {
    derive(ResultFlatMapped(cell, transform))
  }

  private func derive<NewValue, NewFailure>(
    _ derived: Cell<NewValue, NewFailure>
  ) -> Future<NewValue, NewFailure> {
    Ready.draining { cell.attach(derived, $0) }
    return Future<NewValue, NewFailure>(derived)
  }
}

extension Future where Failure == Never {
  /// The same future, where one that may fail is wanted.
  public func failing<NewFailure>(with type: NewFailure.Type) -> Future<Value, NewFailure> {
    mapResult { .success($0.get()) }
  }
}
