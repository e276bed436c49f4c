import Synchronization

/// Ends of a pipeline. Each call makes a subscription.
extension Publisher {
  /// Calls `receiveValue` for each value, and `receiveCompletion` if the stream ends by itself.
  ///
  /// Asks for the next value when `receiveValue` has returned. Called outside of callbacks, a source that has its values
  /// ready delivers them before `sink` returns.
  ///
  /// - Returns: The subscription, which is cancelled when the object is released.
  @inlinable
  public func sink(
    receiveCompletion: @escaping @Sendable (Completion<Failure>) -> Void = { _ in },
    receiveValue: @escaping @Sendable (Output) -> Void
  ) -> AnyCancellable {
    let terminal = Terminal()
    let stage = Stage { value in
      guard !terminal.isCancelled else { return .ended }
      receiveValue(value.value())
      return .more
    } complete: { failure in
      guard !terminal.isCancelled else { return }
      terminal.finish()
      receiveCompletion(Completion(failure))
    }
    terminal.start(node, stage)
    return AnyCancellable(terminal)
  }

  /// Calls the closures on `actor`, one after the other, for each value and for the end.
  ///
  /// Asks for the next value when `receiveValue` has returned. Nothing is called after a cancellation that happened on the
  /// actor. The actor is kept alive until the stream ends or is cancelled.
  public func sink<Isolation: Actor>(
    on actor: Isolation,
    receiveCompletion: @escaping @Sendable (isolated Isolation, Completion<Failure>) -> Void = {
      _, _ in
    },
    receiveValue: @escaping @Sendable (isolated Isolation, Output) -> Void
  ) -> AnyCancellable {
    let values = values()
    let task = Task {
      let isCancelled: @Sendable () -> Bool = { Task.isCancelled }
      var iterator = values.makeAsyncIterator()
      do throws(Failure) {
        while let value = try await iterator.next(isolation: nil) {
          await actor.perform { if !isCancelled() { receiveValue($0, value) } }
        }
        await actor.perform { if !isCancelled() { receiveCompletion($0, .finished) } }
      } catch {
        await actor.perform { if !isCancelled() { receiveCompletion($0, .failure(error)) } }
      }
    }
    return AnyCancellable { task.cancel() }
  }

  /// Sends all values and the end to `subject`. Asks for the next value at once.
  public func bind(to subject: PassthroughSubject<Output, Failure>) -> AnyCancellable {
    sink {
      subject.send(completion: $0)
    } receiveValue: {
      subject.send($0)
    }
  }

  /// Sends all values and the end to `subject`. Asks for the next value at once.
  public func assign(to subject: CurrentValueSubject<Output, Failure>) -> AnyCancellable {
    sink {
      subject.send(completion: $0)
    } receiveValue: {
      subject.send($0)
    }
  }

  /// A future of the first value; `nil` if the stream finishes without one, or the future is cancelled.
  ///
  /// Subscribes at once. Takes one value and cancels the source; so does cancelling the future.
  public func first() -> Future<Output?, Failure> {
    prefix(1).folded(nil) { fold, value in fold.update { $0 = value } }
  }

  /// A future of the last value; `nil` if there is none. Subscribes at once, without a limit.
  ///
  /// Cancelling the future cancels the subscription; the future then has the last value so far.
  public func last() -> Future<Output?, Failure> {
    folded(nil) { fold, value in fold.update { $0 = value } }
  }

  /// A future of all values. Subscribes at once, and keeps values without a limit.
  ///
  /// Cancelling the future cancels the subscription; the future then has the values so far.
  public func collect() -> Future<[Output], Failure> {
    folded([]) { fold, value in fold.update { $0.append(value) } }
  }

  /// A future of the result of combining all values, starting from `initial`. Subscribes at once.
  ///
  /// Cancelling the future cancels the subscription; the future then has the result so far.
  public func reduce<Value: Sendable>(
    _ initial: Value, _ combine: @escaping @Sendable (Value, Output) -> Value
  ) -> Future<Value, Failure> {
    folded(initial) { fold, value in
      // Not under the lock, because the closure may cancel.
      let combined = combine(fold.value, value)
      fold.update { $0 = combined }
    }
  }

  private func folded<Value: Sendable>(
    _ initial: Value, _ take: @escaping @Sendable (Fold<Value, Failure>, Output) -> Void
  ) -> Future<Value, Failure> {
    let future = Future<Value, Failure>.pending()
    let fold = Fold(initial, settling: future)
    let terminal = Terminal()
    let stage = Stage { value in
      guard !terminal.isCancelled else { return .ended }
      take(fold, value.value())
      return .more
    } complete: { failure in
      terminal.finish()
      fold.settle(Completion(failure))
    }
    future.cell.onCancel {
      terminal.cancel()
      fold.settle(.finished)
    }
    terminal.start(node, stage)
    return future
  }
}

/// The result so far of a stream that becomes a future.
private final class Fold<Value: Sendable, Failure: Error>: Sendable {
  private struct State {
    var value: Value
    var future: Future<Value, Failure>?
  }

  private let state: Mutex<State>

  init(_ initial: Value, settling future: Future<Value, Failure>) {
    state = Mutex(State(value: initial, future: future))
  }

  var value: Value { state.withLock { $0.value } }

  /// Changes the value under the lock.
  func update(_ change: (inout Value) -> Void) { state.withLock { change(&$0.value) } }

  func settle(_ completion: Completion<Failure>) {
    let (value, pending) = state.withLock { ($0.value, $0.future.take()) }
    guard let cell = pending?.cell else { return }
    let outcome: Result<Value, Failure> =
      switch completion {
      case .finished: .success(value)
      case .failure(let failure): .failure(failure)
      }
    _ = cell.settle { cell.outcome = outcome }
  }
}

extension Publisher where Failure == Never {
  /// Sets a property of `object` to each value. `object` is not kept alive; when it is gone, the subscription ends.
  public func assign<Root: AnyObject & Sendable>(
    to keyPath: any ReferenceWritableKeyPath<Root, Output> & Sendable, on object: Root
  ) -> AnyCancellable {
    let object = WeakReference(object)
    return prefix(while: { _ in object.object != nil })
      .sink { value in object.object?[keyPath: keyPath] = value }
  }
}

private final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  weak let object: Object?

  init(_ object: Object) { self.object = object }
}

extension Actor {
  fileprivate func perform(_ body: @Sendable (isolated Self) -> Void) { body(self) }
}
