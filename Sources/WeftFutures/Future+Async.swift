extension Future {
  /// A future of what `operation` returns or throws, in a task that starts now.
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

  /// The outcome, once it is there.
  ///
  /// Cancelling the awaiting task withdraws this interest, which cancels the future unless others want
  /// it too, and goes on waiting: it returns when the future has settled, never before.
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

  /// The value, once it is there; what is said of ``result`` about cancellation holds here.
  public var value: Value {
    get async throws(Failure) { try await result.get() }
  }

  /// The same as ``value``.
  public func get() async throws(Failure) -> Value { try await result.get() }
}

extension Future where Failure == Never {
  /// The value, once it is there; what is said of ``result`` about cancellation holds here.
  public var value: Value {
    get async { await result.get() }
  }
}
