public import WeftFutures

/// Sends one request and receives one answer: no redirects, no retries, no judgement of the status.
///
/// ## A short tour
///
/// ``HTTPClient`` takes an ``HTTPRequest``, makes a ``WireRequest`` of it (which is the proof that it may be
/// sent), and has a transport exchange it for an ``HTTPExchange``, once for each redirect. ``CurlTransport`` is
/// the transport that drives libcurl; tests and embedders may put another one in its place. What to do
/// about an answer is decided by plain values beside: ``StatusExpectation``, ``RetryAdvice``, ``WebLink``.
public protocol Transport: Sendable {
  /// Begins the exchange.
  ///
  /// - Parameter plan: Asked when the head of the answer is there, on a thread that must not be blocked.
  ///   Once, or again if that exchange has failed and another answer takes its place. Heads of `1xx` are not
  ///   shown.
  /// - Returns: What came of it. Cancelling it ends the exchange. It settles when nothing of it is left
  ///   behind: a writer of the plan has been told its end by then.
  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure>
}

/// What is to become of the body of an answer. A limit holds to the byte.
public enum BodyPlan: Sendable {
  /// It is part of the exchange. `nil`: without a limit.
  case keep(limit: Int?)
  /// Its first bytes are, and the rest is not received.
  case keepStart(limit: Int)
  case write(any BodyWriter, limit: Int?)
  /// Nobody wants it, and the exchange has failed.
  case refuse(HTTPFailure.Kind)
}

/// Where a body goes piece by piece. Called on a thread that may be blocked, one call at a time, in order;
/// the server waits meanwhile.
public protocol BodyWriter: Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind)
  /// Always called, and last; after a failed `write` too.
  ///
  /// - Throws: When the body was complete and cannot be kept all the same.
  func end(_ end: BodyEnd) throws(HTTPFailure.Kind)
}

/// How a body ended.
public enum BodyEnd: Sendable, Hashable {
  case complete
  case broken(HTTPFailure.Kind)
}

/// A request that was sent and answered.
public struct HTTPExchange: Sendable {
  /// Of the last answer, after those that only announced it.
  public let head: HTTPResponseHead
  /// Unpacked. Empty where a writer had it.
  public let body: [UInt8]
  /// Whether there was more of it than ``BodyPlan/keepStart(limit:)`` allowed.
  public let isBodyCut: Bool
  /// What it amounted to.
  public let figures: ExchangeFigures
  /// What a cache had to do with it.
  public let cacheStatus: CacheStatus

  /// Makes an exchange, for a transport of one's own.
  public init(
    head: HTTPResponseHead, body: [UInt8] = [], isBodyCut: Bool = false,
    figures: ExchangeFigures = ExchangeFigures(), cacheStatus: CacheStatus = .bypass
  ) {
    self.head = head
    self.body = body
    self.isBodyCut = isBodyCut
    self.figures = figures
    self.cacheStatus = cacheStatus
  }
}
