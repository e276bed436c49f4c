extension Future {
  /// Creates a future of the value that `operation` returns or the error it throws, in a task that starts now.
  ///
  /// Cancelling the future cancels the task; the future settles when `operation` returns, not earlier.
  public init(
    priority: TaskPriority? = nil,
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    let future = Future.pending()
    let task = Task(priority: priority) {
      let outcome: Result<Value, Failure>
      do throws(Failure) {
        outcome = .success(try await operation())
      } catch {
        outcome = .failure(error)
      }
      _ = future.cell.settle { future.cell.outcome = outcome }
    }
    future.cell.onCancel { task.cancel() }
    self = future
  }

  /// The outcome, once available.
  ///
  /// Cancelling the awaiting task withdraws this interest, which cancels the future unless there are other interests,
  /// and then keeps waiting: it never returns before the future has settled.
  public var result: Result<Value, Failure> {
    get async {
      if let outcome { return outcome }
      let awaited = mapResult { $0 }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          awaited.whenSettled { continuation.resume(returning: $0) }
        }
      } onCancel: {
        awaited.cancel()
      }
    }
  }

  /// The value, once available. Cancellation works as for ``result``.
  public var value: Value {
    get async throws(Failure) { try await result.get() }
  }

  /// Returns ``value``.
  public func get() async throws(Failure) -> Value { try await result.get() }
}

extension Future where Failure == Never {
  /// The value, once available. Cancellation works as for ``result``.
  public var value: Value {
    get async { await result.get() }
  }
}
