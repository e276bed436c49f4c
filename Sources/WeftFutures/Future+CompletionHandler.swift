/// A completion handler was called with neither a value nor an error.
public struct NeitherValueNorError: Error, Hashable {}

extension Future where Failure == any Error {
  /// A future of what a function with a completion handler comes to.
  ///
  /// ```swift
  /// let answer = Future<Reply, any Error> { client.ask(question, completion: $0) }
  /// ```
  ///
  /// An error counts, even beside a value. Neither makes ``NeitherValueNorError``. Only the first call of
  /// the handler counts, and if it is released uncalled the future fails with ``PromiseDropped``.
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
