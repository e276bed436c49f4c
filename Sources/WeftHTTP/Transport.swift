public import WeftFutures

/// Sends one request and receives one response: no redirects, no retries, no evaluation of the status.
///
/// ## A short tour
///
/// ``HTTPClient`` takes an ``HTTPRequest``, builds a ``WireRequest`` from it (the proof that it is valid), and has a
/// transport exchange it for an ``HTTPExchange``, once per redirect. `CurlTransport` (WeftCurl) is the transport that drives
/// libcurl; tests and embedders may supply another one. Decisions about a response are made by plain values:
/// ``StatusExpectation``, ``RetryAdvice``, ``WebLink``.
public protocol Transport: Sendable {
  /// Starts the exchange.
  ///
  /// - Parameter plan: Called with the head of the response, on a thread that must not be blocked. Called once, or
  ///   again if that exchange failed and another response replaces it. Not called for `1xx` responses.
  /// - Returns: The outcome. Cancelling it cancels the exchange. It settles when the exchange has released
  ///   everything: a writer of the plan has received its end by then.
  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure>
}

/// The way to receive the body of a response. Limits are exact to the byte.
public enum BodyPlan: Sendable {
  /// The body is part of the exchange. `nil` means no limit.
  case keep(limit: Int?)
  /// Only the first bytes are part of the exchange; the rest is not received.
  case keepStart(limit: Int)
  case write(any BodyWriter, limit: Int?)
  /// The body is not wanted, and the exchange fails.
  case refuse(HTTPFailure.Kind)
}

/// Receives a body piece by piece. Called on a thread that may block, one call at a time, in order; the server waits
/// meanwhile.
public protocol BodyWriter: Sendable {
  func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind)
  /// Always called, and last; also after a failed `write`.
  ///
  /// - Throws: If the body was complete but cannot be kept.
  func end(_ end: BodyEnd) throws(HTTPFailure.Kind)
}

/// The way a body ended.
public enum BodyEnd: Sendable, Hashable {
  case complete
  case broken(HTTPFailure.Kind)
}

/// A request and its response.
public struct HTTPExchange: Sendable {
  /// The head of the final response, after any `1xx` ones.
  public let head: HTTPResponseHead
  /// The decompressed body. Empty if a writer received it.
  public let body: [UInt8]
  /// Whether the body was longer than ``BodyPlan/keepStart(limit:)`` allowed.
  public let isBodyCut: Bool
  /// The measurements of the exchange.
  public let figures: ExchangeFigures
  /// The part a cache had in it.
  public let cacheStatus: CacheStatus

  /// Creates an exchange, for custom transports.
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
