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
    case .requested: "the request takes answers that have outlived their time"
    case .failure(let failure): failure.message
    case .status(let status): "the server has answered with status \(status)"
    }
  }
}
