/// The status and headers of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The status, from 100 to 999.
  public let status: Int
  /// The headers, without trailers.
  public let headers: HTTPHeaders

  /// Creates a head, for custom transports.
  public init(status: Int, headers: HTTPHeaders = [:]) {
    self.status = status
    self.headers = headers
  }

  /// The declared length of the body.
  public var contentLength: Int? { headers["content-length"].flatMap { ASCII.number($0) } }

  /// The declared media type of the body.
  public var contentType: MediaType? { headers["content-type"].flatMap(MediaType.init) }
}

/// A response, whatever its status.
public struct HTTPResponse: Sendable {
  /// Its status and headers.
  public let head: HTTPResponseHead
  /// The decompressed body. Empty if it was saved to a file.
  public let body: [UInt8]
  /// Whether only the start of the body was received, because the status was not expected.
  public let isBodyCut: Bool
  /// The file to which the body was saved.
  public let savedTo: String?
  /// The method of the request that got the response.
  public let method: HTTPMethod
  /// The URL that responded; differs from the requested one after redirects.
  public let url: HTTPURL
  /// The redirects that were followed, in order.
  public let redirects: [RedirectHop]
  /// The measurements over all requests.
  public let figures: ExchangeFigures
  /// The part a cache had in it, if the transport has one. For the last request, if there were redirects.
  public let cacheStatus: CacheStatus

  /// Creates a response, for tests.
  public init(
    head: HTTPResponseHead, body: [UInt8] = [], isBodyCut: Bool = false, savedTo: String? = nil,
    method: HTTPMethod = .get, url: HTTPURL, redirects: [RedirectHop] = [],
    figures: ExchangeFigures = ExchangeFigures(), cacheStatus: CacheStatus = .bypass
  ) {
    self.head = head
    self.body = body
    self.isBodyCut = isBodyCut
    self.savedTo = savedTo
    self.method = method
    self.url = url
    self.redirects = redirects
    self.figures = figures
    self.cacheStatus = cacheStatus
  }

  /// The status of the ``head``.
  public var status: Int { head.status }
  /// The headers of the ``head``.
  public var headers: HTTPHeaders { head.headers }

  /// The reason why a stale stored response was used; `nil` if none was.
  public var staleReason: StaleReason? {
    if case .stale(let reason) = cacheStatus { reason } else { nil }
  }
  /// Whether it is a stale stored response.
  public var isStale: Bool { staleReason != nil }

  /// Decodes the body in the charset of the response; UTF-8 by default.
  public func text() throws(BodyTextError) -> String {
    try BodyText.decode(body, charset: head.contentType?.parameters["charset"])
  }
}

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
