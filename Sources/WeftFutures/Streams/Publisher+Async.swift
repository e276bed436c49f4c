extension Publisher {
  /// Publishes what `body` sends. It runs in a task of its own for each subscription, from the first request on.
  ///
  /// ```swift
  /// let lines = Publisher<String, ReadError> { send throws(ReadError) in
  ///   while let line = try await file.nextLine() { await send(line) }
  /// }
  /// ```
  ///
  /// The stream finishes when `body` returns and fails when it throws, after all values that it has sent. A cancelled
  /// subscription cancels the task.
  ///
  /// - Parameter policy: The rule for values that come while the subscriber is busy. By default, one waits, and `send` is
  ///   suspended while it does.
  public init(
    _ policy: BufferPolicy = .bounded(1),
    _ body: @escaping @Sendable (_ send: Sender) async throws(Failure) -> Void
  ) {
    policy.check()
    self.init(source: { stage in
      let inbox = Inbox<Output, Failure>(stage, policy)
      var task: Task<Void, Never>?
      inbox.whenStarted { [unowned inbox] in
        let sender = Sender(inbox: inbox)
        task = Task {
          do throws(Failure) {
            try await body(sender)
            sender.inbox.offer(.finished)
          } catch {
            sender.inbox.offer(.failure(error))
          }
        }
      }
      inbox.whenOver { task.take()?.cancel() }
      return inbox
    })
  }

  /// The write side of a subscription made by ``init(_:_:)``.
  public struct Sender: Sendable {
    fileprivate let inbox: Inbox<Output, Failure>

    /// Sends a value; suspended while a bounded buffer is full.
    ///
    /// - Returns: Whether the subscription had not ended. After `false`, no later value is taken either.
    @discardableResult
    public func callAsFunction(_ value: Output) async -> Bool { await inbox.send(value) }
  }

  /// Publishes the elements of an asynchronous sequence, which each subscription iterates from the beginning.
  ///
  /// The next element is only awaited when the previous one has left a buffer of one.
  public init<Elements: AsyncSequence & Sendable>(_ sequence: Elements)
  where Elements.Element == Output, Elements.Failure == Failure {
    self.init { send throws(Failure) in
      var iterator = sequence.makeAsyncIterator()
      while let element = try await iterator.next(isolation: nil) {
        guard await send(element) else { return }
      }
    }
  }

  /// The values as an asynchronous sequence. Each iterator makes a subscription, at its first `next()`.
  ///
  /// Cancelling the task that awaits `next()`, or releasing the iterator, cancels the subscription; `next()` then returns
  /// `nil`.
  ///
  /// - Parameter policy: The rule for values that come while the loop is busy. `bounded(n)` keeps `n` values and asks for
  ///   the next when one is taken. With the other policies the source is always asked for more, so they are for sources that
  ///   wait, unlike an infinite sequence.
  public func values(_ policy: BufferPolicy = .bounded(1)) -> Values {
    policy.check()
    return Values(publisher: self, policy: policy)
  }

  /// The sequence made by ``values(_:)``.
  public struct Values: AsyncSequence, Sendable {
    fileprivate let publisher: Publisher
    fileprivate let policy: BufferPolicy

    /// Creates an iterator with a subscription of its own.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(outbox: Outbox(publisher, policy))
    }

    /// An iterator over the values of one subscription. Used by one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let outbox: Outbox<Output, Failure>

      /// The next value; `nil` at the end, or if the task is cancelled. Throws the failure of the stream, once.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(Failure) -> Output? {
        try await outbox.next(isolation: actor).get()
      }

      /// The next value, as ``next(isolation:)``.
      public mutating func next() async throws(Failure) -> Output? {
        try await outbox.next(isolation: nil).get()
      }
    }
  }
}
