extension Future {
  /// Creates a future of the value that `operation` returns or the error it throws, in a task that starts now.
  ///
  /// Cancelling the future cancels the task; the future settles when `operation` returns, not earlier.
  ///
  /// The compiler (Swift 6.3) takes a bare closure that throws for one that throws `any Error`. If `Failure` is a different
  /// type, declare it, pass a function, or return a `Result`:
  ///
  /// ```swift
  /// Future<Page, FetchError> { () async throws(FetchError) in try await fetch() }
  /// Future<Page, FetchError>(catching: fetch)
  /// ```
  public init(
    priority: TaskPriority? = nil,
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    self.init(priority: priority) { () async -> Result<Value, Failure> in
      do throws(Failure) {
        return .success(try await operation())
      } catch {
        return .failure(error)
      }
    }
  }

  /// Creates a future of the outcome that `operation` returns, in a task that starts now. Cancellation works as for an
  /// operation that throws.
  public init(
    priority: TaskPriority? = nil,
    _ operation: @escaping @Sendable () async -> Result<Value, Failure>
  ) {
    let future = Future.pending()
    let task = Task(priority: priority) {
      let outcome = await operation()
      _ = future.cell.settle { future.cell.outcome = outcome }
    }
    future.cell.onCancel { task.cancel() }
    self = future
  }

  /// Creates a future of what `function` returns for `arguments` or the error it throws, in a task that starts now.
  ///
  /// A function keeps the type of its error, which a closure around its call loses. Cancellation works as for an operation
  /// that throws.
  public init<each Argument: Sendable>(
    catching function: @escaping @Sendable (repeat each Argument) async throws(Failure) -> Value,
    _ arguments: repeat each Argument
  ) {
    self.init { () async throws(Failure) in try await function(repeat each arguments) }
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

/// A completion handler was called with neither a value nor an error.
public struct NeitherValueNorError: Error, Hashable {}

extension Future where Failure == any Error {
  /// Creates a future of the result of a function with a completion handler.
  ///
  /// ```swift
  /// let answer = Future<Reply, any Error> { client.ask(question, completion: $0) }
  /// ```
  ///
  /// An error takes precedence over a value. A call with neither fails the future with ``NeitherValueNorError``. Only
  /// the first call of the handler counts; if the handler is released without a call, the future fails with
  /// ``PromiseDroppedError``.
  public init(
    file: StaticString = #fileID, line: UInt = #line,
    completion start: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
  ) {
    let promise = Promise<Value, any Error>(file: file, line: line)
    self = promise.future
    start { value, error in
      if let error {
        promise.fail(error)
      } else if let value {
        promise.succeed(value)
      } else {
        promise.fail(NeitherValueNorError())
      }
    }
  }
}
