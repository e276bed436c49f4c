/// An outcome in the cheapest form available, for use in large numbers: a known value, a future, or a transformation of
/// a future.
///
/// A function that returns an `MaybeReady` need not create a future that nothing else observes: its caller already has a
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
  /// A variant of ``flatMap(_:)`` for use in large numbers; see ``Eventual``.
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
