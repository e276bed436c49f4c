/// Whether a request may be sent again.
public enum RetryAdvice: Sendable, Hashable {
  /// It may. The server asked for a wait of at least `delay`; nil: for none.
  case retry(noSoonerThan: Duration?)
  case giveUp(Reason)

  /// Why it may not.
  public enum Reason: Sendable, Hashable {
    /// The same request would get the same answer.
    case permanent
    /// It may have been done, and doing it twice is not like doing it once.
    case mayHaveBeenDone(HTTPMethod)
    case asksForTooLong(Duration, limit: Duration)
  }
}

extension RetryAdvice.Reason {
  /// `nil` where there is nothing to add to what went wrong.
  public var message: String? {
    switch self {
    case .permanent: nil
    case .mayHaveBeenDone(let method):
      "the \(method) request may have been done, so it is not sent again"
    case .asksForTooLong(let asked, let limit):
      "the server asks to wait \(asked), which is longer than the longest delay of \(limit)"
    }
  }

  /// The cure, where there is one to name.
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
  /// What to do about an answer that was not expected. Only of one that may be sent again is
  /// `Retry-After` looked at.
  ///
  /// - Parameters:
  ///   - maxDelay: A server that asks for more is not asked again.
  ///   - isTransient: Whether another answer may be hoped for; usually ``HTTPResponseHead/isTransient``, or
  ///     what the step's `retry.on` says.
  ///   - now: Seconds since 1970.
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
  /// What to do about a request without an answer.
  public func adviceOnRetry(of request: HTTPRequest) -> RetryAdvice {
    guard isTransient else { return .giveUp(.permanent) }
    return isInDoubt ? .giveUp(.mayHaveBeenDone(request.method)) : .retry(noSoonerThan: nil)
  }

  /// Whether the same request may well get an answer later.
  public var isTransient: Bool {
    switch kind {
    case .dns, .connect, .reset, .empty, .partial, .timeout: true
    case .unavailable, .invalid, .tls, .limit, .malformed, .redirect, .address, .file, .cancelled,
      .other:
      false
    }
  }
}
