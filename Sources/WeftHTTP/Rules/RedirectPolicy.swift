/// The redirects of one request: RFC 9110 §15.4, and the common behaviour of browsers beyond it.
struct RedirectPolicy {
  /// The next request to send.
  private(set) var request: HTTPRequest
  private(set) var hops: [RedirectHop] = []

  /// Moves user and password of the URL to `auth`, so that they are treated alike.
  init(_ request: HTTPRequest) {
    self.request = request
    guard let credentials = request.url.credentials else { return }
    if request.auth == nil { self.request.auth = HTTPAuth(credentials) }
    self.request.url = request.url.withoutCredentials
  }

  enum Decision {
    /// The response is final.
    case finished
    /// `request` is the next one to send.
    case follow
    case fails(RedirectError)
  }

  /// Whether a response will be followed, so that its body is not needed.
  func follows(_ head: HTTPResponseHead) -> Bool {
    head.isRedirect && head.hasTarget && request.redirects.limit > 0
  }

  mutating func decision(at head: HTTPResponseHead) -> Decision {
    guard follows(head) else { return .finished }
    do throws(RedirectError) {
      try follow(head)
      return .follow
    } catch {
      return .fails(error)
    }
  }

  private mutating func follow(_ head: HTTPResponseHead) throws(RedirectError) {
    let from = request.url
    let target = try target(of: head)
    if from.scheme == .https, target.scheme == .http, !request.redirects.allowsDowngrade {
      throw .downgrade(from: from, to: target)
    }
    let becomesGet = changesToGet(head.status)
    if becomesGet { request.method = .get }
    if becomesGet || request.method == .get && head.status == 303 { dropBody() }
    let withheld = try request.follow(to: target, namedBy: from)
    hops.append(
      RedirectHop(
        status: head.status, from: from, to: target, method: request.method, withheld: withheld))
    if hops.count > request.redirects.limit {
      throw .tooMany(hops, limit: request.redirects.limit)
    }
  }

  private func target(of head: HTTPResponseHead) throws(RedirectError) -> HTTPURL {
    guard let location = head.headers["location"], !ASCII.trimmed(location).isEmpty else {
      throw .noTarget(status: head.status, from: request.url)
    }
    do { return try request.url.resolving(location) } catch {
      throw .badTarget(error, from: request.url)
    }
  }

  /// Whether the method becomes GET: POST after 301 and 302, as all browsers do (RFC 9110 §15.4.2, note); all but
  /// HEAD after 303.
  private func changesToGet(_ status: Int) -> Bool {
    switch status {
    case 301, 302: request.method == .post
    case 303: request.method != .get && request.method != .head
    default: false
    }
  }

  private mutating func dropBody() {
    request.body = .none
    request.idempotencyKey = nil
    request.headers.removeAll { ASCII.lowercased($0.name).hasPrefix("content-") }
  }
}

extension HTTPResponseHead {
  package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
  package var hasTarget: Bool { headers.contains("location") }
}

/// The redirect policy.
public struct RedirectRule: Sendable, Hashable {
  /// The maximum number of redirects. If 0, redirects are ordinary responses.
  public var limit: Int
  /// Whether https may redirect to http.
  public var allowsDowngrade: Bool

  /// Creates a policy; the default follows ten redirects, and none from https to http.
  public init(limit: Int = 10, allowsDowngrade: Bool = false) {
    self.limit = limit
    self.allowsDowngrade = allowsDowngrade
  }
}

/// One redirect that was followed.
public struct RedirectHop: Sendable, Hashable {
  /// The status of the redirect.
  public let status: Int
  /// The URL that redirected.
  public let from: HTTPURL
  /// The target.
  public let to: HTTPURL
  /// The method of the next request.
  public let method: HTTPMethod
  /// The headers that were removed because the origin changed.
  public let withheld: [String]
}

/// The reason why a redirect was not followed.
public enum RedirectError: Error, Sendable, Hashable {
  case tooMany([RedirectHop], limit: Int)
  case noTarget(status: Int, from: HTTPURL)
  case badTarget(HTTPURLError, from: HTTPURL)
  case downgrade(from: HTTPURL, to: HTTPURL)
  case bodyToOtherOrigin(from: HTTPURL, to: HTTPURL)
  /// The method is not safe.
  case methodToOtherOrigin(HTTPMethod, from: HTTPURL, to: HTTPURL)
  /// The URL contains a secret, so only its origin is reported.
  case secretToOtherOrigin(from: HTTPURL.Origin, to: HTTPURL.Origin)

  /// Whether no option allows it.
  package var isOfSecret: Bool {
    if case .secretToOtherOrigin = self { true } else { false }
  }

  /// The error as a sentence without a full stop.
  public var message: String {
    switch self {
    case .tooMany(let hops, let limit):
      "more than \(limit) redirects: \(Self.chain(hops))"
    case .noTarget(let status, let url): "\(url) returned \(status) without a location"
    case .badTarget(let fault, let url):
      "\(url) redirected to an invalid URL: \(fault.message)"
    case .downgrade(let from, let to): "\(from) redirected to \(to), which is not encrypted"
    case .bodyToOtherOrigin(let from, let to):
      "\(from) leads to \(to), a different origin, to which the body is not sent"
    case .methodToOtherOrigin(let method, let from, let to):
      "\(from) leads to \(to), a different origin, to which \(method) is not sent"
    case .secretToOtherOrigin(let from, let to):
      "\(from) leads to a URL with a secret at \(to), a different origin, to which it is not sent"
    }
  }

  private static func chain(_ hops: [RedirectHop]) -> String {
    let starts = hops.first.map { [$0.from.description] } ?? []
    return (starts + hops.map { "\($0.status) \($0.to)" }).joined(separator: " → ")
  }
}

extension HTTPRequest {
  /// Redirects the request to a URL that a response has named: a redirect target or the next page.
  ///
  /// The single rule for other origins. Unless the response and the URL belong to the current origin, everything
  /// bound to that origin is removed: credentials, secret headers, the client certificate and the ``idempotencyKey``;
  /// a URL with a secret is rejected. Removed parts stay removed even if a later URL leads back, because an untrusted
  /// server named it. A request with a body or an unsafe method only goes to ``bodyOrigins``.
  ///
  /// - Parameter source: The URL that responded; differs from the requested one after redirects.
  /// - Returns: The names of the removed headers.
  package mutating func follow(
    to target: HTTPURL, namedBy source: HTTPURL
  ) throws(RedirectError) -> [String] {
    guard url.origin != target.origin || source.origin != target.origin else {
      url = target
      return []
    }
    if !bodyOrigins.contains(target.origin) {
      if body != .none { throw .bodyToOtherOrigin(from: source, to: target) }
      if !method.isSafe { throw .methodToOtherOrigin(method, from: source, to: target) }
    }
    if isSecret(target) { throw .secretToOtherOrigin(from: source.origin, to: target.origin) }
    url = target
    return withhold()
  }

  private func isSecret(_ target: HTTPURL) -> Bool {
    isSecret(target.description)
      || target.credentials.map { isSecret($0.user) || isSecret($0.password) } == true
  }

  private mutating func withhold() -> [String] {
    var names: [String] = []
    headers.removeAll { header in
      let isWithheld = header.isSecret || header.belongsToOrigin
      if isWithheld { names.append(header.name) }
      return isWithheld
    }
    if auth != nil { names.append("Authorization") }
    if idempotencyKey != nil { names.append("Idempotency-Key") }
    auth = nil
    idempotencyKey = nil
    tls.certificate = nil
    tls.key = nil
    return names
  }
}
