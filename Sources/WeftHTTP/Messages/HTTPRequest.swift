/// What is asked of a server, and under which conditions. Nothing in it has been checked; ``HTTPClient``
/// does before anything is sent.
public struct HTTPRequest: Sendable {
  /// GET unless said otherwise.
  public var method: HTTPMethod
  /// May have a user and a password, which are then sent as ``auth`` is.
  public var url: HTTPURL
  /// Those of the caller; they go before ones that follow from the rest of the request.
  public var headers: HTTPHeaders
  /// None unless said otherwise.
  public var body: RequestBody
  /// Sent as an `Authorization` header, which no redirect to another origin gets.
  public var auth: HTTPAuth?
  /// Two minutes in all unless said otherwise.
  public var deadlines = HTTPDeadlines()
  /// Ten unless said otherwise.
  public var redirects = RedirectRule()
  /// Answers of another status keep no more of their body than its start, and save nothing.
  public var expectedStatus = StatusExpectation.success
  /// What the body may have of bytes once it is unpacked. `nil`: ``defaultMaxBytes``, and no limit for what is
  /// saved.
  public var maxBytes: Int?
  /// What the header lines of an answer may have of bytes, those of `1xx` answers included.
  public var maxHeaderBytes = 256 * 1024
  /// Into which file the body goes.
  public var saveTo: SaveTarget?
  /// Whether servers are told that the answer may be packed. Not for what is saved: a file is to have the
  /// bytes that the server has, and be resumable.
  public var wantsCompression = true
  /// None unless said otherwise, also where the environment names one.
  public var proxy = HTTPProxy.none
  /// The system's unless said otherwise.
  public var tls = TLSFiles()
  /// Makes it safe to send a request again that is not idempotent by its method: a server that knows it does
  /// the work once. The same for all attempts. Sent as `Idempotency-Key`.
  public var idempotencyKey: String?
  /// Origins other than that of ``url`` to which redirects and pages may lead though there is a body, or a method that
  /// may change something.
  package var bodyOrigins: Set<HTTPURL.Origin> = []
  /// Whether a text has a secret in it, so that no other origin is to have it.
  package var isSecret: @Sendable (String) -> Bool = { _ in false }
  /// What a cache may do, where the client's transport has one.
  public var caching = CacheUse()

  /// Makes a request with the usual conditions.
  public init(
    _ url: HTTPURL, method: HTTPMethod = .get, headers: HTTPHeaders = [:],
    body: RequestBody = .none
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// 64 MiB.
  public static let defaultMaxBytes = 64 * 1024 * 1024

  var bodyLimit: Int? { maxBytes ?? (saveTo == nil ? Self.defaultMaxBytes : nil) }

  /// Whether sending it twice has the effect of sending it once.
  public var isRepeatable: Bool { method.isIdempotent || idempotencyKey != nil }
}

/// Who asks.
public enum HTTPAuth: Sendable, Hashable {
  /// RFC 6750.
  case bearer(String)
  /// RFC 7617, in UTF-8. The user's name has no colon.
  case basic(user: String, password: String)
}

/// How long things may take; each counts from its own beginning. `nil`: no limit of its own.
public struct HTTPDeadlines: Sendable, Hashable {
  /// From the start of one request until it can be sent: name, connection and TLS.
  public var connect: Duration?
  /// Without a byte in either direction. While the body waits for the disk, the clock stands still.
  public var idle: Duration?
  /// Redirects included.
  public var total: Duration?

  /// Names the deadlines; those that are not named keep their defaults.
  public init(
    connect: Duration? = nil, idle: Duration? = nil, total: Duration? = .seconds(120)
  ) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }

  /// What each may be at most: thirty days.
  public static let longest = Duration.seconds(30 * 24 * 60 * 60)
}

/// By which way servers are reached.
public enum HTTPProxy: Sendable, Hashable {
  /// Directly, whatever the environment says.
  case none
  /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
  case environment
  /// `http://host:port`, `socks5h://host:port` …, as libcurl takes them.
  case url(String)
}

/// PEM files, where the system's authorities and no certificate of one's own are not right.
/// Servers' certificates are verified in any case.
public struct TLSFiles: Sendable, Hashable {
  /// Authorities to trust in place of the system's.
  public var authorities: String?
  /// Of the client; `nil`: none.
  public var certificate: String?
  /// The certificate's key; `nil`: in the same file.
  public var key: String?

  /// Names the files; none is read before the first request.
  public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
  }
}
