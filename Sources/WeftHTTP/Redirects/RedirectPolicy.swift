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

  enum Turn {
    /// The response is final.
    case arrived
    /// `request` is the next one to send.
    case goesOn
    case fails(RedirectError)
  }

  /// Whether a response will be followed, so that its body is not needed.
  func follows(_ head: HTTPResponseHead) -> Bool {
    switch head.status {
    case 301, 302, 303, 307, 308:
      request.redirects.limit > 0 && head.headers.contains("location")
    default: false
    }
  }

  mutating func turn(at head: HTTPResponseHead) -> Turn {
    guard follows(head) else { return .arrived }
    do throws(RedirectError) {
      try follow(head)
      return .goesOn
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
    if changesToGet(head.status) {
      request.method = .get
    }
    if changesToGet(head.status) || request.method == .get && head.status == 303 {
      dropBody()
    }
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
