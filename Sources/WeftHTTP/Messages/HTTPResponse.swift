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
