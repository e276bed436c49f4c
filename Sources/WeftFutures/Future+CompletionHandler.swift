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
