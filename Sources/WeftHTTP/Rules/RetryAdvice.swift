/// The decision whether a request may be sent again.
public enum RetryAdvice: Sendable, Hashable {
  /// It may be. The server asked for a delay of at least `delay`; `nil` if it did not.
  case retry(noSoonerThan: Duration?)
  case giveUp(Reason)

  /// The reason why it may not be.
  public enum Reason: Sendable, Hashable {
    /// A repetition would get the same response.
    case permanent
    /// The server may have processed it, and it is not repeatable.
    case mayHaveBeenDone(HTTPMethod)
    case asksForTooLong(Duration, limit: Duration)
  }
}

extension RetryAdvice.Reason {
  /// The reason in words; `nil` if there is nothing to add to the failure.
  public var message: String? {
    switch self {
    case .permanent: nil
    case .mayHaveBeenDone(let method):
      "the \(method) request may have been done, so it is not sent again"
    case .asksForTooLong(let asked, let limit):
      "the server asks to wait \(asked), which is longer than the longest delay of \(limit)"
    }
  }

  /// The suggested remedy, if there is one.
  public var help: String? {
    switch self {
    case .permanent: nil
    case .mayHaveBeenDone:
      "give an \"idempotencyKey\" if the server knows the header Idempotency-Key"
    case .asksForTooLong: "raise \"maxDelay\" of \"retry\""
    }
  }
}

extension HTTPRequest {
  /// Returns whether to retry after an unexpected response. `Retry-After` only matters for requests that may be sent
  /// again.
  ///
  /// - Parameters:
  ///   - maxDelay: A longer requested delay is not waited for.
  ///   - isTransient: Whether another response can be expected; usually ``HTTPResponseHead/isTransient``, or as the
  ///     step's `retry.on` says.
  ///   - now: The seconds since 1970.
  public func adviceOnRetry(
    after head: HTTPResponseHead, isTransient: Bool, maxDelay: Duration, now: Int64
  ) -> RetryAdvice {
    guard isTransient else { return .giveUp(.permanent) }
    if head.leavesFateUnknown, !isRepeatable { return .giveUp(.mayHaveBeenDone(method)) }
    let asked = RetryAfter.delay(in: head.headers, now: now)
    if let asked, asked > maxDelay { return .giveUp(.asksForTooLong(asked, limit: maxDelay)) }
    return .retry(noSoonerThan: asked)
  }
}

extension HTTPFailure {
  /// Returns whether to retry after a failure.
  public func adviceOnRetry(of request: HTTPRequest) -> RetryAdvice {
    guard isTransient else { return .giveUp(.permanent) }
    return isInDoubt ? .giveUp(.mayHaveBeenDone(request.method)) : .retry(noSoonerThan: nil)
  }

  /// Whether the same request may succeed later.
  public var isTransient: Bool {
    switch kind {
    case .dns, .connect, .reset, .empty, .partial, .timeout: true
    case .unavailable, .invalid, .tls, .limit, .malformed, .redirect, .address, .file, .cancelled,
      .other:
      false
    }
  }
}
