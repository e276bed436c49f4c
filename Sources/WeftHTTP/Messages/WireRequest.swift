import WeftEncoding
import WeftPlatform

/// One validated request, ready to send. It knows nothing of redirects.
public struct WireRequest: Sendable, Hashable {
  /// A token other than CONNECT.
  public let method: HTTPMethod
  /// The URL without credentials, which are sent as a header.
  public let url: HTTPURL
  /// All headers to send, except those that depend on the connection.
  public private(set) var headers: [HTTPHeader]
  /// The body; `nil` if there is none.
  public let body: EncodedBody?
  /// The deadlines; ``HTTPDeadlines/total`` is the time left for this exchange.
  public let deadlines: HTTPDeadlines
  /// The limit for the header lines of the response.
  public let maxHeaderBytes: Int
  /// Whether the transport must request compression and decompress the body.
  public let wantsCompression: Bool
  /// The proxy.
  public let proxy: HTTPProxy
  /// The TLS files.
  public let tls: TLSFiles
  /// Whether the server may safely receive it twice.
  public let isRepeatable: Bool
  /// The permitted use of a cache.
  public let caching: CacheUse

  /// - Parameters:
  ///   - boundary: The separator for a multipart body.
  ///   - total: The time left for all redirects.
  init(
    _ request: HTTPRequest, boundary: @autoclosure () -> String, total: Duration?
  ) throws(RequestError) {
    try HeaderCheck.method(request.method)
    try request.deadlines.check()
    if let limit = request.maxBytes, limit <= 0 { throw .limit(limit) }
    if request.maxHeaderBytes <= 0 { throw .limit(request.maxHeaderBytes) }
    try request.tls.check()
    try request.proxy.check()
    method = request.method
    url = request.url
    body = try request.body.encoded(boundary: boundary())
    if body != nil, !method.mayHaveBody {
      throw .bodyNotAllowed(method: method.name)
    }
    headers = try Self.headers(of: request, contentType: body?.contentType)
    deadlines = HTTPDeadlines(
      connect: request.deadlines.connect, idle: request.deadlines.idle, total: total)
    maxHeaderBytes = request.maxHeaderBytes
    wantsCompression =
      request.wantsCompression && request.saveTo == nil
      && !request.headers.contains("accept-encoding")
    proxy = request.proxy
    tls = request.tls
    isRepeatable = request.isRepeatable
    caching = request.caching
  }

  /// Returns the request with more headers, which were validated or received before.
  func adding(_ more: [HTTPHeader]) -> WireRequest {
    var copy = self
    copy.headers += more
    return copy
  }

  private static func headers(
    of request: HTTPRequest, contentType: String?
  ) throws(RequestError) -> [HTTPHeader] {
    for header in request.headers.fields { try HeaderCheck.given(header) }
    var headers = request.headers
    if let key = request.idempotencyKey {
      headers.addIfMissing(HTTPHeader("Idempotency-Key", key))
    }
    if let auth = request.auth { headers.addIfMissing(try auth.header()) }
    if let contentType { headers.addIfMissing(HTTPHeader("Content-Type", contentType)) }
    if let resumed = request.saveTo?.resuming { headers.add(resumed.conditions) }
    // A file must have exactly the server's bytes.
    if request.saveTo != nil { headers.addIfMissing(HTTPHeader("Accept-Encoding", "identity")) }
    headers.addIfMissing(HTTPHeader("User-Agent", "weft"))
    for header in headers.fields { try HeaderCheck.line(header) }
    return headers.fields
  }
}

extension HTTPDeadlines {
  fileprivate func check() throws(RequestError) {
    try check(connect, .connect)
    try check(idle, .idle)
    try check(total, .total)
  }

  private func check(
    _ duration: Duration?, _ which: HTTPFailure.Deadline
  ) throws(RequestError) {
    guard let duration, duration <= .zero || duration > Self.longest else { return }
    throw .deadline(which, duration)
  }
}

extension HTTPProxy {
  static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  package func check() throws(RequestError) {
    guard case .url(let text) = self else { return }
    // libcurl treats an empty URL as no proxy.
    if text.isEmpty || !HeaderCheck.isValue(text) { throw .text(of: "the proxy's URL") }
    // libcurl treats text without a scheme as a host.
    let halves = text.split(separator: ":", maxSplits: 1)
    guard halves.count == 2, halves[1].hasPrefix("//"),
      Self.schemes.contains(ASCII.lowercased(halves[0]))
    else { throw .proxy(halves.count == 2 ? "\(halves[0]):…" : text) }
  }
}

extension TLSFiles {
  fileprivate func check() throws(RequestError) {
    for path in [authorities, certificate, key] {
      if let path, path.utf8.contains(0) { throw .text(of: "the name of a file for TLS") }
    }
  }
}

extension HTTPHeaders {
  fileprivate mutating func add(_ fields: [HTTPHeader]) {
    for field in fields { add(field) }
  }
}

/// Validates what is sent. A line break in a header would inject another one.
enum HeaderCheck {
  static func method(_ method: HTTPMethod) throws(RequestError) {
    guard ASCII.isToken(method.name), method.name != "CONNECT" else { throw .method(method.name) }
  }

  /// Validates a header that the caller sets.
  static func given(_ header: HTTPHeader) throws(RequestError) {
    if reserved.contains(ASCII.lowercased(header.name)) { throw .reservedHeader(header.name) }
    try line(header)
  }

  static func line(_ header: HTTPHeader) throws(RequestError) {
    guard ASCII.isToken(header.name) else { throw .headerName(header.name) }
    guard isValue(header.value) else { throw .headerValue(name: header.name) }
  }

  /// Whether the text is a valid header value (RFC 9110 §5.5).
  static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// The headers that control message framing and the connection.
  private static let reserved: Set<String> = [
    "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]
}

extension HTTPAuth {
  init(_ credentials: URLCredentials) {
    self = .basic(user: credentials.user, password: credentials.password)
  }

  func header() throws(RequestError) -> HTTPHeader {
    let value: String
    switch self {
    case .bearer(let token):
      guard !token.isEmpty else { throw .credentials("the token is empty") }
      guard HeaderCheck.isValue(token), !token.contains(" ") else {
        throw .credentials("the token has a space, a line break or another control character")
      }
      value = "Bearer " + token
    case .basic(let user, let password):
      guard !user.utf8.contains(UInt8(ascii: ":")) else {
        throw .credentials("the user has a colon, which ends a user in basic authentication")
      }
      guard HeaderCheck.isValue(user + password) else {
        throw .credentials("the user or the password has a line break or another control character")
      }
      value = "Basic " + Base64.text(of: "\(user):\(password)".utf8)
    }
    return HTTPHeader("Authorization", value, isSecret: true)
  }
}
