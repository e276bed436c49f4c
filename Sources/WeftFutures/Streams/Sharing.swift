import Synchronization

/// A junction that keeps values while its receiver is busy. Sendable as every ``Origin`` is.
private final class BufferJunction<Output: Sendable, Failure: Error>:
  Pipe<Output, Failure>, @unchecked Sendable
{
  private var buffer: Buffer<Output>
  private var hasEnded = false

  init(_ stage: Stage, _ source: Publisher<Output, Failure>, _ policy: BufferPolicy) {
    buffer = Buffer(policy)
    super.init(stage, source)
  }

  override func receive(from input: AnyInput) { fill() }

  override func proceed() {
    while isOpen, let value = buffer.popFirst() {
      fill()
      emit(value)
    }
    if hasEnded, buffer.isEmpty { input.passEnd(to: self) }
  }

  private func fill() {
    if case .bounded = buffer.policy, buffer.isFull { return }
    guard input.isFull else { return }
    _ = buffer.append(input.take())
    if input.isComplete { end(of: input) }
  }

  override func complete(from input: AnyInput) { hasEnded = true }

  override func cleanUp() {
    super.cleanUp()
    buffer = Buffer(buffer.policy)
  }
}

/// One subscription that several subscribers use.
private final class Shared<Output: Sendable, Failure: Error>: Sendable {
  private struct State {
    var subject: ReplaySubject<Output, Failure>?
    var subscription: AnyCancellable?
    var memberCount = 0
  }

  private let state = Mutex(State())
  private let source: Publisher<Output, Failure>
  private let replayCount: Int

  init(_ source: Publisher<Output, Failure>, replaying replayCount: Int) {
    self.source = source
    self.replayCount = replayCount
  }

  func join(_ emitter: Publisher<Output, Failure>.Emitter) -> AnyCancellable {
    let (subject, isFirst) = state.withLock { state in
      state.memberCount += 1
      if let subject = state.subject { return (subject, false) }
      let subject = ReplaySubject<Output, Failure>(replayCount)
      state.subject = subject
      return (subject, true)
    }
    let member = subject.publisher().sink {
      emitter.send(completion: $0)
    } receiveValue: {
      emitter.send($0)
    }
    if isFirst {
      let subscription = source.sink {
        subject.send(completion: $0)
      } receiveValue: {
        subject.send($0)
      }
      let isLate = state.withLock { state in
        guard state.subject === subject else { return true }
        state.subscription = subscription
        return false
      }
      if isLate { subscription.cancel() }
    }
    return AnyCancellable { [self] in
      member.cancel()
      leave()
    }
  }

  private func leave() {
    let unused = state.withLock { state -> AnyCancellable? in
      state.memberCount -= 1
      guard state.memberCount == 0 else { return nil }
      state.subject = nil
      return state.subscription.take()
    }
    unused?.cancel()
  }
}

/// Operators that decide how many subscriptions there are, and how many values wait.
extension Publisher {
  /// Keeps values that come while the subscriber is busy, by `policy`. Also keeps the end, even a failure, until they have
  /// been taken.
  ///
  /// The source is always asked for more, except by a `bounded` buffer that is full.
  public func buffer(_ policy: BufferPolicy) -> Publisher {
    policy.check()
    return Publisher(source: { BufferJunction($0, self, policy) })
  }

  /// Lets all subscribers of the result use one subscription. It begins with the first of them and is cancelled with the
  /// last, or ends for all; a later subscriber begins again.
  ///
  /// The source is always asked for more.
  ///
  /// - Parameters:
  ///   - count: The number of last values that a late subscriber receives first, not negative.
  ///   - policy: The rule for values that come while a subscriber is busy, for each separately. The source cannot wait for
  ///     a single one of them, so `bounded` stops the program.
  public func share(replay count: Int = 0, _ policy: BufferPolicy = .unbounded) -> Publisher {
    precondition(count >= 0, "\(count) values cannot be replayed")
    let shared = Shared(self, replaying: count)
    return .callback(policy) { shared.join($0) }
  }

  /// Shares one subscription, as ``share(replay:_:)``, in which late subscribers receive the latest value at once, and
  /// busy ones the latest only.
  public func stateful() -> Publisher { share(replay: 1, .bufferingLatest(1)) }

  /// Shares one subscription that begins when ``Multicast/connect()`` is called, after all subscribers are there.
  public func multicast() -> Multicast<Output, Failure> { Multicast(self) }
}

/// A publisher whose subscribers receive values from ``connect()`` on.
public struct Multicast<Output: Sendable, Failure: Error>: Sendable {
  private let source: Publisher<Output, Failure>
  private let subject = PassthroughSubject<Output, Failure>()

  fileprivate init(_ source: Publisher<Output, Failure>) { self.source = source }

  /// Publishes the values that come after the subscription. The rule for busy subscribers is that of
  /// ``PassthroughSubject/publisher(_:)``.
  public func publisher(_ policy: BufferPolicy = .unbounded) -> Publisher<Output, Failure> {
    subject.publisher(policy)
  }

  /// Subscribes to the source, and sends all values to all subscribers. The source is always asked for more. Called twice,
  /// it subscribes twice.
  public func connect() -> AnyCancellable { source.bind(to: subject) }
}
