/// A junction that makes streams of the values of a stream, and publishes the values of several of them at a time.
/// Sendable as every ``Origin`` is.
private final class FlatMap<Outer: Sendable, Output: Sendable, Failure: Error>: Junction,
  @unchecked Sendable
{
  typealias Inner = Input<Output, Failure>

  private let source: Publisher<Outer, Failure>
  private let limit: Int
  private let transform: @Sendable (Outer) -> Publisher<Output, Failure>
  private let outer = Input<Outer, Failure>()
  private var hasOuterEnded = false
  private var innerCount = 0
  /// The inner streams with a value, in the order of arrival.
  private var waiting = Fifo<Inner>()

  init(
    _ stage: Stage, _ source: Publisher<Outer, Failure>, limit: Int,
    _ transform: @escaping @Sendable (Outer) -> Publisher<Output, Failure>
  ) {
    self.source = source
    self.limit = limit
    self.transform = transform
    super.init(stage)
  }

  override func start() { attach(outer, to: source) }

  override func receive(from input: AnyInput) {
    if input !== outer { waiting.append(unsafeDowncast(input, to: Inner.self)) }
  }

  override func proceed() {
    while isOpen, let inner = waiting.popFirst() {
      if inner.isFull { forward(inner) }
    }
    while !isEnded, outer.isFull, innerCount < limit {
      innerCount += 1
      attach(Inner(), to: transform(outer.take()))
      if outer.isComplete { end(of: outer) }
    }
  }

  override func complete(from input: AnyInput) {
    guard !input.hasFailed else { return input.passEnd(to: self) }
    if input === outer { hasOuterEnded = true } else { innerCount -= 1 }
    if hasOuterEnded, innerCount == 0 { finish(Completion<Failure>.finished) }
  }
}

/// A junction that publishes the values of the latest stream made of a stream's values. Sendable as every ``Origin`` is.
private final class Latest<Outer: Sendable, Output: Sendable, Failure: Error>: Junction,
  @unchecked Sendable
{
  private let source: Publisher<Outer, Failure>
  private let transform: @Sendable (Outer) -> Publisher<Output, Failure>
  private let outer = Input<Outer, Failure>()
  private var inner: Input<Output, Failure>?
  private var hasOuterEnded = false

  init(
    _ stage: Stage, _ source: Publisher<Outer, Failure>,
    _ transform: @escaping @Sendable (Outer) -> Publisher<Output, Failure>
  ) {
    self.source = source
    self.transform = transform
    super.init(stage)
  }

  override func start() { attach(outer, to: source) }

  override func receive(from input: AnyInput) {
    guard input === outer else { return }
    if let inner { detach(inner) }
    let inner = Input<Output, Failure>()
    self.inner = inner
    attach(inner, to: transform(outer.take()))
    if outer.isComplete { end(of: outer) }
  }

  override func proceed() {
    if isOpen, let inner, inner.isFull { forward(inner) }
  }

  override func complete(from input: AnyInput) {
    guard !input.hasFailed else { return input.passEnd(to: self) }
    if input === outer { hasOuterEnded = true } else { inner = nil }
    if hasOuterEnded, inner == nil { finish(Completion<Failure>.finished) }
  }
}

/// Operators that make one stream of several. The first failure ends the result and cancels all others.
extension Publisher {
  /// Subscribes to the publisher that `transform` returns for each value, and publishes the values of all of them as they
  /// come. Finishes when the source and all inner streams have finished.
  ///
  /// Keeps one value for each inner stream that waits for its turn. While `maxPublishers` inner streams run, the source is
  /// not asked for more; without that bound, it is always asked. `maxPublishers` must be positive.
  public func flatMap<NewOutput>(
    maxPublishers: Int = .max,
    _ transform: @escaping @Sendable (Output) -> Publisher<NewOutput, Failure>
  ) -> Publisher<NewOutput, Failure> {
    precondition(maxPublishers > 0, "at most \(maxPublishers) publishers would publish nothing")
    return Publisher<NewOutput, Failure>(source: { stage in
      FlatMap(stage, self, limit: maxPublishers, transform)
    })
  }

  /// Subscribes to one inner publisher after the other, in the order of the source, which waits meanwhile.
  public func concatMap<NewOutput>(
    _ transform: @escaping @Sendable (Output) -> Publisher<NewOutput, Failure>
  ) -> Publisher<NewOutput, Failure> {
    flatMap(maxPublishers: 1, transform)
  }

  /// Subscribes to the publisher that `transform` returns for each value, and cancels the previous one. Finishes when the
  /// source and the last inner stream have finished.
  ///
  /// The source is always asked for more. A value of an inner stream that the subscriber has not taken when the next inner
  /// stream begins is dropped.
  public func flatMapLatest<NewOutput>(
    _ transform: @escaping @Sendable (Output) -> Publisher<NewOutput, Failure>
  ) -> Publisher<NewOutput, Failure> {
    Publisher<NewOutput, Failure>(source: { Latest($0, self, transform) })
  }

  /// Publishes the values of the latest publisher that arrived; see ``flatMapLatest(_:)``.
  public func switchToLatest<NewOutput>() -> Publisher<NewOutput, Failure>
  where Output == Publisher<NewOutput, Failure> {
    flatMapLatest { $0 }
  }

  /// Publishes the values of all `inputs` as they come, and finishes when all have finished; at once if there are none.
  ///
  /// Keeps one value for each input.
  public static func merge(_ inputs: [Publisher]) -> Publisher {
    Publisher<Publisher, Failure>(inputs).flatMap { $0 }
  }

  /// Publishes the values of all `inputs`, as the variant with an array.
  public static func merge(_ inputs: Publisher...) -> Publisher { merge(inputs) }

  /// Publishes the values of this publisher and of `other` as they come. Keeps one value for each.
  public func merge(with other: Publisher) -> Publisher { .merge([self, other]) }

  /// Publishes the values of one input after the other; finishes at once if there are none.
  public static func concat(_ inputs: [Publisher]) -> Publisher {
    Publisher<Publisher, Failure>(inputs).concatMap { $0 }
  }

  /// Publishes the values of `next` when this publisher has finished.
  public func append(_ next: Publisher) -> Publisher { .concat([self, next]) }

  /// Publishes `values` when this publisher has finished.
  public func append(_ values: Output...) -> Publisher { append(Publisher(values)) }

  /// Publishes the values of `first`, and those of this publisher when it has finished.
  public func prepend(_ first: Publisher) -> Publisher { .concat([first, self]) }

  /// Publishes `values` before those of this publisher.
  public func prepend(_ values: Output...) -> Publisher { prepend(Publisher(values)) }
}
