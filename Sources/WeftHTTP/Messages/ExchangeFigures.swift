/// The measurements of one exchange; for several, their sums and the timings of the last one.
public struct ExchangeFigures: Sendable, Hashable {
  /// The address of the server; `nil` if there was no connection.
  public var remoteAddress: String?
  /// The port of ``remoteAddress``.
  public var remotePort: Int?
  /// The protocol, such as "HTTP/1.1" or "HTTP/2".
  public var protocolVersion: String?
  /// The body bytes as received, before decompression.
  public var bodyBytesReceived = 0
  /// Includes status lines and `1xx` responses.
  public var headerBytesReceived = 0
  /// Bytes sent twice count twice.
  public var bodyBytesSent = 0
  /// The number of requests: one more than there were redirects.
  public var requests = 1
  /// The duration of the phases.
  public var timings = ExchangeTimings()

  /// Creates figures of an exchange that has not begun.
  public init() {}

  /// Adds the figures of a later request.
  package func followed(by later: ExchangeFigures) -> ExchangeFigures {
    var sum = later
    sum.bodyBytesReceived += bodyBytesReceived
    sum.headerBytesReceived += headerBytesReceived
    sum.bodyBytesSent += bodyBytesSent
    sum.requests += requests
    sum.timings.total += timings.total
    return sum
  }
}

/// The time from the start to each event; `nil` if it did not happen, or a reused connection made it unnecessary.
public struct ExchangeTimings: Sendable, Hashable {
  /// An address was resolved.
  public var nameResolved: Duration?
  /// The connection was established, without TLS.
  public var connected: Duration?
  /// The TLS handshake was complete.
  public var secured: Duration?
  /// The response began.
  public var firstByte: Duration?
  /// The exchange ended.
  public var total = Duration.zero

  /// Creates timings of an exchange that has not begun.
  public init() {}
}
