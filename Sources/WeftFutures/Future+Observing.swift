import Synchronization

/// Chains of observers, limits in time, and observers that can be taken back.
extension Future {
  /// Calls `callback` with the value. The returned future settles as this one, afterwards; cancelling it withdraws its
  /// interest.
  @discardableResult
  public func onSuccess(_ callback: @escaping @Sendable (Value) -> Void) -> Future {
    mapResult { outcome in
      if case .success(let value) = outcome { callback(value) }
      return outcome
    }
  }

  /// Calls `callback` with the failure. The returned future settles as this one, afterwards; cancelling it withdraws its
  /// interest.
  @discardableResult
  public func onFailure(_ callback: @escaping @Sendable (Failure) -> Void) -> Future {
    mapResult { outcome in
      if case .failure(let failure) = outcome { callback(failure) }
      return outcome
    }
  }

  /// Calls `handler` once if the returned future is cancelled before it has settled, and then withdraws its interest. It
  /// settles as this one.
  @discardableResult
  public func onCancel(_ handler: @escaping @Sendable () -> Void) -> Future {
    let observed = Future.pending()
    let link = linked(to: observed)
    observed.cell.onCancel {
      handler()
      link.cancel()
    }
    return observed
  }

  /// A future of the value that `transform` returns or the failure it throws; failures pass through.
  ///
  /// A closure that contains `throw` must declare its type, as in `{ value throws(Oops) in … }`.
  @inlinable
  public func tryMap<NewValue>(
    _ transform: @escaping @Sendable (Value) throws(Failure) -> NewValue
  ) -> Future<NewValue, Failure> {
    mapResult { outcome in
      switch outcome {
      case .success(let value):
        do throws(Failure) {
          return .success(try transform(value))
        } catch {
          return .failure(error)
        }
      case .failure(let failure): return .failure(failure)
      }
    }
  }

  /// Calls `receive` with the outcome, unless the returned object is cancelled or released before.
  ///
  /// That also withdraws this interest in the future, as ``cancel()`` does for a derived one.
  public func sink(
    _ receive: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) -> AnyCancellable {
    let terminal = Terminal()
    let derived = mapResult { outcome -> Result<Value, Failure> in
      if !terminal.isCancelled { receive(outcome) }
      return outcome
    }
    return AnyCancellable {
      terminal.cancel()
      derived.cancel()
    }
  }

  /// Settles as this future if that happens within `limit`, and fails with `failure()` otherwise, which withdraws its
  /// interest: the work is asked to stop, and not waited for. `limit` must not be negative.
  public func timeout(
    _ limit: Duration, clock: any Clock<Duration> = .continuous,
    failingWith failure: @escaping @Sendable () -> Failure
  ) -> Future {
    precondition(limit >= .zero, "a limit cannot be negative: \(limit)")
    let limited = Future.pending()
    let link = linked(to: limited)
    limited.cell.onCancel { link.cancel() }
    guard !limited.isSettled else { return limited }
    let timeline = Timeline(clock)
    let timer = Task {
      guard await timeline.sleep(until: limit) else { return }
      if limited.settleFromOutside(.failure(failure())) { link.cancel() }
    }
    limited.whenSettled { _ in timer.cancel() }
    return limited
  }

  /// Settles as this future, later by `time`, which must not be negative. Cancelling it during that time ends the wait.
  public func delay(_ time: Duration, clock: any Clock<Duration> = .continuous) -> Future {
    precondition(time >= .zero, "a delay cannot be negative: \(time)")
    return flatMapResult { outcome in
      let timeline = Timeline(clock)
      return Future<Void, Never> { _ = await timeline.sleep(until: time) }.mapResult { _ in outcome
      }
    }
  }

  /// Settles `other` as this future does.
  ///
  /// - Returns: The link, through which this interest can be withdrawn.
  private func linked(to other: Future) -> Future {
    mapResult { outcome in
      _ = other.settleFromOutside(outcome)
      return outcome
    }
  }

  fileprivate func settleFromOutside(_ outcome: Result<Value, Failure>) -> Bool {
    let cell = cell
    return cell.settle { cell.outcome = outcome }
  }
}

extension Future {
  /// The value, once available; `nil` as soon as the awaiting task is cancelled, which withdraws its interest.
  ///
  /// Unlike ``value``, it does not wait until the work has really ended.
  public var valueUnlessCancelled: Value? {
    get async throws(Failure) {
      var iterator = publisher.values().makeAsyncIterator()
      return try await iterator.next()
    }
  }
}

extension Promise {
  /// Settles as `other` does, and cancels `other` when this promise's work is asked to stop.
  public func complete(with other: Future<Value, Failure>) {
    let link = other.mapResult { [self] outcome -> Result<Value, Failure> in
      settle(outcome)
      return outcome
    }
    onCancel { link.cancel() }
  }
}
