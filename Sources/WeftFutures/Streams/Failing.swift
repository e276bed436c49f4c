/// A junction that follows a different stream after a failure. Sendable as every ``Origin`` is.
private final class Catch<Output: Sendable, Failure: Error, NewFailure: Error>: Junction,
  @unchecked Sendable
{
  private let source: Publisher<Output, Failure>
  private let handler: @Sendable (Failure) -> Publisher<Output, NewFailure>
  private let first = Input<Output, Failure>()
  private let second = Input<Output, NewFailure>()

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>,
    _ handler: @escaping @Sendable (Failure) -> Publisher<Output, NewFailure>
  ) {
    self.source = source
    self.handler = handler
    super.init(stage)
  }

  override func start() { attach(first, to: source) }

  override func proceed() {
    if isOpen, first.isFull { forward(first) }
    if isOpen, second.isFull { forward(second) }
  }

  override func complete(from input: AnyInput) {
    if input === first, case .failure(let failure)? = first.completion {
      attach(second, to: handler(failure))
    } else {
      input.passEnd(to: self)
    }
  }
}

/// A junction that subscribes to its source again after a failure. Sendable as every ``Origin`` is.
private final class Retry<Output: Sendable, Failure: Error>: Junction, @unchecked Sendable {
  private let source: Publisher<Output, Failure>
  private let most: Int
  private let delay: @Sendable (Int) -> Duration
  private let timeline: Timeline
  private var input = Input<Output, Failure>()
  private var retries = 0
  private var alarm: Alarm?

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ most: Int,
    _ delay: @escaping @Sendable (Int) -> Duration, _ clock: any Clock<Duration>
  ) {
    self.source = source
    self.most = most
    self.delay = delay
    timeline = Timeline(clock)
    super.init(stage)
  }

  override func start() { attach(input, to: source) }

  override func proceed() {
    if let alarm, alarm.isDue { begin() }
    if isOpen, input.isFull { forward(input) }
  }

  override func complete(from input: AnyInput) {
    guard input.hasFailed, retries < most else { return input.passEnd(to: self) }
    retries += 1
    let wait = delay(retries)
    guard wait > .zero else { return begin() }
    alarm = Alarm(timeline, at: timeline.elapsed + wait, for: self)
  }

  private func begin() {
    alarm = nil
    input = Input()
    attach(input, to: source)
  }

  override func cleanUp() {
    super.cleanUp()
    alarm = nil
  }
}

/// Operators for failures.
extension Publisher {
  /// Replaces a failure with the one that `transform` returns.
  public func mapError<NewFailure>(
    _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> Publisher<Output, NewFailure> {
    staged { next in
      Stage(next.receive) { failure in
        next.end(Completion<Failure>(failure).mapError(transform))
      }
    }
  }

  /// Continues with the publisher that `handler` returns for a failure. Keeps one value.
  public func `catch`<NewFailure>(
    _ handler: @escaping @Sendable (Failure) -> Publisher<Output, NewFailure>
  ) -> Publisher<Output, NewFailure> {
    Publisher<Output, NewFailure>(source: { Catch($0, self, handler) })
  }

  /// Publishes `value` instead of a failure, and finishes. Keeps one value.
  public func replaceError(with value: Output) -> Publisher<Output, Never> {
    `catch` { _ in .just(value) }
  }

  /// Finishes instead of failing.
  public func ignoreFailure() -> Publisher<Output, Never> {
    staged { next in
      Stage(next.receive) { _ in next.complete(nil) }
    }
  }

  /// Publishes values and a failure as results, and never fails: after the failure, it finishes. Keeps one value.
  public func asResults() -> Publisher<Result<Output, Failure>, Never> {
    map { Result<Output, Failure>.success($0) }.catch { .just(.failure($0)) }
  }

  /// Publishes what `transform` returns for each value and for a failure. A failure that it returns ends the stream and
  /// cancels the source; after a value returned for a failure, the stream finishes. Keeps one value.
  public func mapResult<NewOutput, NewFailure>(
    _ transform: @escaping @Sendable (Result<Output, Failure>) -> Result<NewOutput, NewFailure>
  ) -> Publisher<NewOutput, NewFailure> {
    asResults().setFailureType(to: NewFailure.self)
      .tryMap { result throws(NewFailure) in try transform(result).get() }
  }

  /// Subscribes again after a failure, up to `count` times, and then fails with the last failure.
  ///
  /// Values published before a failure are not taken back. Keeps one value.
  ///
  /// - Parameters:
  ///   - count: The number of further attempts, not negative.
  ///   - delay: The wait before a further attempt, which are counted from 1.
  ///   - clock: The clock that measures the wait.
  public func retry(
    _ count: Int, delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero },
    clock: any Clock<Duration> = .continuous
  ) -> Publisher {
    precondition(count >= 0, "\(count) further attempts cannot be made")
    return Publisher(source: { Retry($0, self, count, delay, clock) })
  }
}

extension Publisher where Failure == Never {
  /// Converts the publisher to a type that may fail.
  public func setFailureType<NewFailure: Error>(
    to type: NewFailure.Type
  ) -> Publisher<Output, NewFailure> {
    staged { next in
      Stage(before: next, next.receive)
    }
  }
}

extension Completion {
  func mapError<NewFailure>(
    _ transform: (Failure) -> NewFailure
  ) -> Completion<NewFailure> {
    switch self {
    case .finished: .finished
    case .failure(let failure): .failure(transform(failure))
    }
  }
}
