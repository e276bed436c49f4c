/// A request and its options. Nothing is validated here; ``HTTPClient`` does that before anything is sent.
public struct HTTPRequest: Sendable {
  /// The method; GET by default.
  public var method: HTTPMethod
  /// The URL. Its user and password, if any, are sent like ``auth``.
  public var url: HTTPURL
  /// The caller's headers; they override those derived from the rest of the request.
  public var headers: HTTPHeaders
  /// The body; none by default.
  public var body: RequestBody
  /// Sent as an `Authorization` header, but never to another origin after a redirect.
  public var auth: HTTPAuth?
  /// The deadlines; two minutes in total by default.
  public var deadlines = HTTPDeadlines()
  /// The redirect policy; at most ten redirects by default.
  public var redirects = RedirectRule()
  /// The expected statuses. For other responses, only the start of the body is kept, and nothing is saved.
  public var expectedStatus = StatusExpectation.success
  /// The limit for the decompressed body. If `nil`, ``defaultMaxBytes``, and no limit for saved bodies.
  public var maxBytes: Int?
  /// The limit for the header lines of a response, including those of `1xx` responses.
  public var maxHeaderBytes = 256 * 1024
  /// The file to save the body to.
  public var saveTo: SaveTarget?
  /// Whether to request compression. Not applied to saved bodies: a file must have the server's bytes, and be
  /// resumable.
  public var wantsCompression = true
  /// The proxy; none by default, even if the environment names one.
  public var proxy = HTTPProxy.none
  /// The TLS files; the system's by default.
  public var tls = TLSFiles()
  /// Makes a non-idempotent request safe to resend: a server that supports it processes the request once. Must be
  /// equal for all attempts. Sent as `Idempotency-Key`.
  public var idempotencyKey: String?
  /// The origins other than that of ``url`` to which redirects and pages may lead even if the request has a body or
  /// an unsafe method.
  package var bodyOrigins: Set<HTTPURL.Origin> = []
  /// Whether a text contains a secret, so that no other origin may receive it.
  package var isSecret: @Sendable (String) -> Bool = { _ in false }
  /// Whether sending it twice has the effect of sending it once, if that is known better than from the method; `nil` if
  /// not. A request that is not repeatable is never sent a second time by the transport.
  public var declaredRepeatability: Bool?
  /// The permitted use of a cache, if the client's transport has one.
  public var caching = CacheUse()

  /// Creates a request with default options.
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

  /// Whether sending it twice has the effect of sending it once, by declaration, else by its method and key.
  public var isRepeatable: Bool {
    declaredRepeatability ?? (method.isIdempotent || idempotencyKey != nil)
  }
}

/// Credentials of a request.
public enum HTTPAuth: Sendable, Hashable {
  /// A bearer token (RFC 6750).
  case bearer(String)
  /// Basic authentication (RFC 7617) in UTF-8. The user name must not contain a colon.
  case basic(user: String, password: String)
}

/// The time limits of a request, each counted from its own start. `nil` means no limit.
public struct HTTPDeadlines: Sendable, Hashable {
  /// From the start of one request until it can be sent: name resolution, connection and TLS.
  public var connect: Duration?
  /// The longest time without a byte in either direction. Paused while the body waits for the disk.
  public var idle: Duration?
  /// The total time, including redirects.
  public var total: Duration?

  /// Creates deadlines; omitted ones keep their defaults.
  public init(
    connect: Duration? = nil, idle: Duration? = nil, total: Duration? = .seconds(120)
  ) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }

  /// The maximum for each deadline: thirty days.
  public static let longest = Duration.seconds(30 * 24 * 60 * 60)
}

/// The route to servers.
public enum HTTPProxy: Sendable, Hashable {
  /// Direct connections, whatever the environment says.
  case none
  /// The proxies in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
  case environment
  /// A proxy URL as libcurl accepts it: `http://host:port`, `socks5h://host:port` …
  case url(String)
}

/// PEM files that override the system's authorities or add a client certificate. Server certificates are always
/// verified.
public struct TLSFiles: Sendable, Hashable {
  /// The trusted authorities, instead of the system's.
  public var authorities: String?
  /// The client certificate; `nil` if there is none.
  public var certificate: String?
  /// The certificate's key; `nil` if it is in the certificate's file.
  public var key: String?

  /// Creates a set of files; none is read before the first request.
  public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
  }
}

/// A request method, such as GET or POST; case-sensitive (RFC 9110 §9.1).
public struct HTTPMethod: Sendable, Hashable {
  /// The name as sent.
  public let name: String

  /// Creates a method of any name; an invalid one is rejected when a request is built from it.
  public init(_ name: String) { self.name = name }

  /// The method GET (RFC 9110 §9.3.1).
  public static let get = HTTPMethod("GET")
  /// The method HEAD (RFC 9110 §9.3.2).
  public static let head = HTTPMethod("HEAD")
  /// The method POST (RFC 9110 §9.3.3).
  public static let post = HTTPMethod("POST")
  /// The method PUT (RFC 9110 §9.3.4).
  public static let put = HTTPMethod("PUT")
  /// The method PATCH (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// The method DELETE (RFC 9110 §9.3.5).
  public static let delete = HTTPMethod("DELETE")
  /// The method OPTIONS (RFC 9110 §9.3.7).
  public static let options = HTTPMethod("OPTIONS")

  /// Whether sending it twice has the effect of sending it once (RFC 9110 §9.2.2). Unknown methods are not assumed to
  /// be idempotent.
  public var isIdempotent: Bool {
    switch name {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether it is safe, that is, read-only (RFC 9110 §9.2.1).
  package var isSafe: Bool {
    switch name {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether servers expect a declared length even without a body.
  package var declaresEmptyBody: Bool {
    switch name {
    case "POST", "PUT", "PATCH": true
    default: false
    }
  }
}

extension HTTPMethod: CustomStringConvertible {
  /// The ``name``.
  public var description: String { name }
}

extension HTTPMethod: ExpressibleByStringLiteral {
  /// Equivalent to ``init(_:)``.
  public init(stringLiteral name: String) { self.init(name) }
}
