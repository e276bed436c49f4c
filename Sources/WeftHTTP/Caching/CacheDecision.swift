/// The role of a cache in a request.
enum CacheRole: Sendable, Hashable {
  /// Neither reads nor changes the cache.
  case none
  /// May change the resource, so stored responses become invalid.
  case changes
  case reads

  init(of request: WireRequest) {
    switch request.method {
    case .get, .head:
      let headers = HTTPHeaders(request.headers)
      let isPlain =
        request.body == nil && !Self.conditionalHeaders.contains(where: headers.contains)
        && !CacheControl(headers).has("no-store")
      self = request.caching.isAllowed && isPlain ? .reads : .none
    case .options, "TRACE": self = .none
    default: self = .changes
    }
  }

  /// A request with one of these headers comes from a client with its own stored copy, which wants only the rest or a
  /// change.
  private static let conditionalHeaders = [
    "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
  ]
}

/// The way to answer a request: RFC 9111 §4.
enum CacheDecision: Sendable, Hashable {
  /// Uses the stored response without contacting the server. `isStale` if the request accepts a stale one.
  case serve(StoredResponse, isStale: Bool)
  /// Sends the request, conditionally if `stored` has validators.
  case ask(StoredResponse?)
  /// The request forbids contacting the server (§5.2.1.7).
  case unanswerable

  /// - Parameter stored: The responses that match the request's key and `Vary` selection.
  init(for request: WireRequest, among stored: [StoredResponse], at now: Int64) {
    let control = CacheControl(HTTPHeaders(request.headers))
    // §4.1: the most recent of several.
    let fitting = stored.max { $0.responseTime < $1.responseTime }
    switch fitting.map({ Usability(of: $0, for: control, at: now) }) ?? .unusable {
    case .fresh: self = .serve(fitting!, isStale: false)
    case .acceptablyStale: self = .serve(fitting!, isStale: true)
    case .unusable: self = control.has("only-if-cached") ? .unanswerable : .ask(fitting)
    }
  }
}

/// Whether a stored response may be used without contacting the server.
private enum Usability {
  case fresh
  case acceptablyStale
  case unusable

  init(of stored: StoredResponse, for request: CacheControl, at now: Int64) {
    let answer = CacheControl(stored.head.headers)
    guard !answer.has("no-cache"), !request.has("no-cache"), !request.hasPragma else {
      self = .unusable
      return
    }
    let freshness = stored.freshness
    let left = freshness.left(at: now)
    if let oldest = request.seconds("max-age"), freshness.age(at: now) > oldest {
      self = .unusable
    } else if left > 0, left >= request.seconds("min-fresh") ?? 0 {
      self = .fresh
    } else if let longest = request.maxStale, -left <= longest, !answer.has("must-revalidate") {
      self = .acceptablyStale
    } else {
      self = .unusable
    }
  }
}

extension StaleOnError {
  /// Whether `stored` may replace a response that the server failed to give. A server that forbids it, or a request
  /// with `no-cache`, always wins (RFC 9111 §4.2.4, §5.2.2.2).
  func allows(_ stored: StoredResponse, for headers: HTTPHeaders, at now: Int64) -> Bool {
    let (request, answer) = (CacheControl(headers), CacheControl(stored.head.headers))
    guard !request.has("no-cache"), !request.hasPragma,
      !["no-cache", "must-revalidate"].contains(where: answer.has)
    else { return false }
    let beyond = -stored.freshness.left(at: now)
    let allowed = answer.seconds("stale-if-error") ?? -.max
    return switch self {
    case .never: false
    case .asServerAllows: beyond <= allowed
    case .upTo(let limit): beyond <= max(limit.components.seconds, allowed)
    case .always: true
    }
  }
}

/// The stored URLs that a response invalidates: RFC 9111 §4.4.
enum CacheInvalidation {
  static func urls(changedBy request: WireRequest, answeredBy head: HTTPResponseHead) -> [HTTPURL] {
    guard (200...399).contains(head.status) else { return [] }
    let named = ["location", "content-location"].compactMap { name in
      head.headers[name].flatMap { try? request.url.resolving($0) }
    }
    // A server cannot invalidate URLs of another origin.
    return [request.url] + named.filter { $0.origin == request.url.origin && $0 != request.url }
  }
}

/// The permitted use of a cache for a request, if the transport has one: ``CachingTransport``.
public struct CacheUse: Sendable, Hashable {
  /// If false, the cache is bypassed. Requests that change a resource still invalidate it.
  public var isAllowed: Bool
  /// Whether a stored response may replace one that the server failed to give.
  public var staleOnError: StaleOnError

  /// Creates a policy; the default allows a cache, but not stale responses instead of failed ones.
  public init(isAllowed: Bool = true, staleOnError: StaleOnError = .never) {
    self.isAllowed = isAllowed
    self.staleOnError = staleOnError
  }
}

/// The condition under which a stored response replaces one of a server that is unreachable or returns 500, 502, 503
/// or 504 (RFC 5861 §4). Responses with `no-cache` or `must-revalidate` are never used this way.
public enum StaleOnError: Sendable, Hashable {
  case never
  /// As long as the response's own `stale-if-error` allows.
  case asServerAllows
  /// This long beyond its lifetime, or as long as the server allows if that is longer.
  case upTo(Duration)
  /// Regardless of age.
  case always
}

/// The part a cache had in a response.
public enum CacheStatus: Sendable {
  /// There is no cache, or it does not handle such requests.
  case bypass
  /// The server responded: no suitable response was stored.
  case miss
  /// The server was not contacted.
  case hit
  /// The server confirmed the stored response.
  case revalidated
  /// The stored response is stale, but was used.
  case stale(StaleReason)

  /// "bypass", "miss", "hit", "revalidated" or "stale".
  public var name: String {
    switch self {
    case .bypass: "bypass"
    case .miss: "miss"
    case .hit: "hit"
    case .revalidated: "revalidated"
    case .stale: "stale"
    }
  }
}

/// The reason why a stale response is used.
public enum StaleReason: Sendable {
  /// The request allows it: `Cache-Control: max-stale`.
  case requested
  /// The server could not be reached.
  case failure(HTTPFailure)
  /// The server responded with this status.
  case status(Int)

  /// The reason as a sentence without a full stop.
  public var message: String {
    switch self {
    case .requested: "the request accepts stale responses"
    case .failure(let failure): failure.message
    case .status(let status): "the server returned status \(status)"
    }
  }
}
