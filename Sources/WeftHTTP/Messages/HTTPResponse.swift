/// The beginning of an answer.
public struct HTTPResponseHead: Sendable, Hashable {
  /// From 100 to 999.
  public let status: Int
  /// Without trailers.
  public let headers: HTTPHeaders

  /// Makes a head, for a transport of one's own.
  public init(status: Int, headers: HTTPHeaders = [:]) {
    self.status = status
    self.headers = headers
  }

  /// How many bytes are said to follow.
  public var contentLength: Int? { headers["content-length"].flatMap { ASCII.number($0) } }

  /// What the body is said to be.
  public var contentType: MediaType? { headers["content-type"].flatMap(MediaType.init) }
}

/// An answer, whatever its status.
public struct HTTPResponse: Sendable {
  /// Its status and headers.
  public let head: HTTPResponseHead
  /// Unpacked. Empty where the body went into a file.
  public let body: [UInt8]
  /// Whether the body was longer, and only its start was received: of an answer that was not expected.
  public let isBodyCut: Bool
  /// Where the body was saved.
  public let savedTo: String?
  /// Of the request that got the answer.
  public let method: HTTPMethod
  /// What answered; another one than was asked if it redirected.
  public let url: HTTPURL
  /// Those that were followed, in order.
  public let redirects: [RedirectHop]
  /// Of all requests that it took.
  public let figures: ExchangeFigures
  /// What a cache had to do with it, where the transport has one. Of the last request, if it redirected.
  public let cacheStatus: CacheStatus

  /// Makes a response, for tests of what uses one.
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

  /// That of the ``head``.
  public var status: Int { head.status }
  /// Those of the ``head``.
  public var headers: HTTPHeaders { head.headers }

  /// Why a stored answer that has outlived its time was used; nil where none was.
  public var staleReason: StaleReason? {
    if case .stale(let reason) = cacheStatus { reason } else { nil }
  }
  /// Whether it is a stored answer that has outlived its time.
  public var isStale: Bool { staleReason != nil }

  /// The body as text, in the charset that the answer names; UTF-8 where it names none.
  public func text() throws(BodyNotText) -> String {
    try BodyText.decode(body, charset: head.contentType?.parameters["charset"])
  }
}
