/// What comes of something, for very many: it is known now, or a future's, or what a function makes of a future's.
///
/// A function that returns one of these need not make a future where nobody else is going to look at it: whoever
/// takes it has a future already, which settles so.
@usableFromInline
package enum Eventual<Value: Sendable, Failure: Error>: Sendable {
  case now(Value)
  case later(Future<Value, Failure>)
  case link(Link)

  /// What is made of a future of another type.
  @usableFromInline
  package struct Link: Sendable {
    @usableFromInline let source: Cell
    @usableFromInline let step: Cell.Step

    @inlinable
    init(_ source: Cell, _ step: @escaping Cell.Step) {
      self.source = source
      self.step = step
    }
  }

  /// What `transform` makes of a future's value; failures pass through.
  ///
  /// - Parameter context: What `transform` needs beside the value: kept in the same object as `transform` itself,
  ///   which captures nothing.
  @inlinable
  package static func of<Source, Context: Sendable>(
    _ source: Future<Source, Failure>, with context: Context,
    _ transform: @escaping @Sendable (Context, Source) -> Eventual
  ) -> Eventual {
    .link(Link(source.cell, source.step(with: context, transform)))
  }
}

extension Future {
  /// The same as ``flatMap(_:)``, for very many; see ``Eventual``.
  @inlinable
  package func flatMap<Context: Sendable, NewValue>(
    with context: Context,
    _ transform: @escaping @Sendable (Context, Value) -> Eventual<NewValue, Failure>
  ) -> Future<NewValue, Failure> {
    derive(step(with: context, transform))
  }

  /// A future that settles so.
  @inlinable
  package init(_ eventual: Eventual<Value, Failure>) {
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
    _ transform: @escaping @Sendable (Context, Value) -> Eventual<NewValue, Failure>
  ) -> Cell.Step {
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
