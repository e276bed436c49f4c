/// What one request and its answer amounted to; of several, sums and the last one's times.
public struct ExchangeFigures: Sendable, Hashable {
  /// What the connection was to; `nil` where there was none.
  public var remoteAddress: String?
  /// The port of ``remoteAddress``.
  public var remotePort: Int?
  /// "HTTP/1.1", "HTTP/2".
  public var protocolVersion: String?
  /// As received, packed or not.
  public var bodyBytesReceived = 0
  /// First lines and `1xx` answers included.
  public var headerBytesReceived = 0
  /// What was sent twice counts twice.
  public var bodyBytesSent = 0
  /// How many requests it took: one more than there were redirects.
  public var requests = 1
  /// How long things took.
  public var timings = ExchangeTimings()

  /// Those of nothing yet.
  public init() {}

  /// Together with those of a request that came after it.
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

/// How long after the start things had happened; `nil`: they had not, or a used connection made them needless.
public struct ExchangeTimings: Sendable, Hashable {
  /// An address was found.
  public var nameResolved: Duration?
  /// The connection was there, without TLS.
  public var connected: Duration?
  /// TLS was agreed on.
  public var secured: Duration?
  /// The answer began.
  public var firstByte: Duration?
  /// The exchange was over.
  public var total = Duration.zero

  /// Those of nothing yet.
  public init() {}
}
