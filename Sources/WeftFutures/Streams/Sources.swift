/// Sources of values. All wait until they are asked for the next one.
extension Publisher {
  /// Publishes `value` and finishes.
  @inlinable
  public static func just(_ value: Output) -> Publisher { Publisher(CollectionOfOne(value)) }

  /// Fails at once.
  public static func fail(_ failure: Failure) -> Publisher {
    Publisher(source: { stage in
      PullOrigin(stage) { origin, _ in origin.finish(Completion.failure(failure)) }
    })
  }

  /// Finishes at once.
  public static var empty: Publisher {
    Publisher(source: { stage in PullOrigin(stage) { origin, _ in origin.finish() } })
  }

  /// Publishes nothing and does not end. A subscription ends by its cancellation.
  public static var never: Publisher {
    Publisher(source: { stage in PullOrigin(stage) { _, _ in } })
  }

  /// Calls `make` for each subscription, and publishes what that publisher does. Keeps one value.
  public static func deferred(_ make: @escaping @Sendable () -> Publisher) -> Publisher {
    relay(make)
  }

  /// Publishes the elements of `sequence`, which each subscription iterates from the beginning, and finishes.
  ///
  /// The next element is made when the subscriber asks for it. After each, other work that is ready on the thread has its
  /// turn, so an infinite sequence can be cancelled from callbacks.
  @inlinable
  public init(_ sequence: some Sequence<Output> & Sendable) {
    self.init(source: { stage in
      var iterator = sequence.makeIterator()
      return PullOrigin(stage) { origin, ready in
        while origin.isOpen {
          guard let value = iterator.next() else { return origin.finish() }
          origin.emit(value)
          if origin.isInterrupted(ready) { return }
        }
      }
    })
  }

  /// Publishes the outcome of the future that `make` returns, which is called for each subscription.
  ///
  /// Cancelling the subscription cancels the future.
  public init(_ make: @escaping @Sendable () -> Future<Output, Failure>) {
    self = .callback { emitter in
      let future = make()
      future.whenSettled { outcome in
        switch outcome {
        case .success(let value):
          emitter.send(value)
          emitter.send(completion: .finished)
        case .failure(let failure): emitter.send(completion: .failure(failure))
        }
      }
      return AnyCancellable { if !future.isSettled { future.cancel() } }
    }
  }

  /// Publishes what a callback that is called many times reports.
  ///
  /// ```swift
  /// let changes = Publisher<Path, Never>.callback { emitter in
  ///   let watch = watcher.add { emitter.send($0) }
  ///   return AnyCancellable { watcher.remove(watch) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - policy: The rule for values that come while the subscriber is busy. The callback cannot be suspended, so
  ///     `bounded` stops the program.
  ///   - register: Called for each subscription. The object that it returns is cancelled when the subscription ends, in
  ///     any way.
  public static func callback(
    _ policy: BufferPolicy = .unbounded,
    _ register: @escaping @Sendable (Emitter) -> AnyCancellable
  ) -> Publisher {
    policy.checkForSynchronousSender()
    return Publisher(source: { stage in
      let inbox = Inbox<Output, Failure>(stage, policy)
      var registration: AnyCancellable?
      inbox.whenStarted { [unowned inbox] in registration = register(Emitter(inbox: inbox)) }
      inbox.whenOver { registration.take()?.cancel() }
      return inbox
    })
  }

  /// The write side of a subscription made by ``callback(_:_:)``.
  public struct Emitter: Sendable {
    fileprivate let inbox: Inbox<Output, Failure>

    /// Sends a value. Callable from any thread.
    ///
    /// - Returns: Whether the subscription had not ended.
    @discardableResult
    public func send(_ value: Output) -> Bool { inbox.offer(value).isTaken }

    /// Ends the stream, after the values sent before.
    ///
    /// - Returns: Whether this was the first end.
    @discardableResult
    public func send(completion: Completion<Failure>) -> Bool { inbox.offer(completion) }
  }
}

extension Publisher where Output == Int, Failure == Never {
  /// Publishes 1, 2, 3 … every `interval` of `clock`, the first after one interval. `interval` must be positive.
  ///
  /// A tick that comes while the subscriber is busy waits, and a later one replaces it (`bufferingLatest(1)`). Times are
  /// multiples of the interval and do not drift.
  public static func timer(
    every interval: Duration, clock: any Clock<Duration> = .continuous
  ) -> Publisher {
    precondition(interval > .zero, "a timer cannot tick every \(interval)")
    return Publisher(.bufferingLatest(1)) { send in
      let timeline = Timeline(clock)
      var count = 0
      repeat {
        count += 1
        guard await timeline.sleep(until: interval * count) else { return }
      } while await send(count)
    }
  }
}

extension Future {
  /// Publishes the outcome: a value and the end, or a failure. Cancelling a subscription withdraws its interest in the
  /// future, as ``cancel()`` of a derived future does.
  public var publisher: Publisher<Value, Failure> { Publisher { self.map { $0 } } }
}
