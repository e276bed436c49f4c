/// A cell that waits for one other. Its transformation is let go as it is called: it may hold earlier
/// futures, and a chain held together by transformations would be released recursively.
class Derived<Input: Sendable, InputFailure: Error, Value: Sendable, Failure: Error>:
  Cell<Value, Failure>, @unchecked Sendable
{
  init(_ source: Cell<Input, InputFailure>) { super.init(.pending, source: source) }

  /// For the drain, while the cell waits for `Input`.
  final var input: Result<Input, InputFailure> {
    guard let source,
      let outcome = unsafeDowncast(source, to: Cell<Input, InputFailure>.self).outcome
    else { preconditionFailure("a derived future was run before its source had settled") }
    return outcome
  }

  /// For the drain, after ``Cell/follow(_:_:)``.
  final var followed: Result<Value, Failure> {
    guard let source, let outcome = unsafeDowncast(source, to: Cell<Value, Failure>.self).outcome
    else { preconditionFailure("a future was run before the one it follows had settled") }
    return outcome
  }
}

final class Mapped<Input: Sendable, Value: Sendable, Failure: Error>:
  Derived<Input, Failure, Value, Failure>, @unchecked Sendable
{
  private var transform: (@Sendable (Input) -> Value)?

  init(_ source: Cell<Input, Failure>, _ transform: @escaping @Sendable (Input) -> Value) {
    self.transform = transform
    super.init(source)
  }

  override func run(_ ready: Ready) {
    guard let transform = transform.take() else { preconditionFailure("mapped twice") }
    settle(input.map(transform), ready)
  }
}

final class ResultMapped<Input: Sendable, InputFailure: Error, Value: Sendable, Failure: Error>:
  Derived<Input, InputFailure, Value, Failure>, @unchecked Sendable
{
  typealias Transform = @Sendable (Result<Input, InputFailure>) -> Result<Value, Failure>

  private var transform: Transform?

  init(_ source: Cell<Input, InputFailure>, _ transform: @escaping Transform) {
    self.transform = transform
    super.init(source)
  }

  override func run(_ ready: Ready) {
    guard let transform = transform.take() else { preconditionFailure("mapped twice") }
    settle(transform(input), ready)
  }
}

final class FlatMapped<Input: Sendable, Value: Sendable, Failure: Error>:
  Derived<Input, Failure, Value, Failure>, @unchecked Sendable
{
  private var transform: (@Sendable (Input) -> Future<Value, Failure>)?

  init(
    _ source: Cell<Input, Failure>,
    _ transform: @escaping @Sendable (Input) -> Future<Value, Failure>
  ) {
    self.transform = transform
    super.init(source)
  }

  override func run(_ ready: Ready) {
    guard let transform = transform.take() else {
      settle(followed, ready)
      return
    }
    switch input {
    case .success(let value): follow(transform(value).cell, ready)
    case .failure(let failure): settle(.failure(failure), ready)
    }
  }
}

final class ResultFlatMapped<Input: Sendable, InputFailure: Error, Value: Sendable, Failure: Error>:
  Derived<Input, InputFailure, Value, Failure>, @unchecked Sendable
{
  typealias Transform = @Sendable (Result<Input, InputFailure>) -> Future<Value, Failure>

  private var transform: Transform?

  init(_ source: Cell<Input, InputFailure>, _ transform: @escaping Transform) {
    self.transform = transform
    super.init(source)
  }

  override func run(_ ready: Ready) {
    guard let transform = transform.take() else {
      settle(followed, ready)
      return
    }
    follow(transform(input).cell, ready)
  }
}
