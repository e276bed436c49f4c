/// What a cache may do for a request, where the transport has one: ``CachingTransport``.
public struct CacheUse: Sendable, Hashable {
  /// False: as if there were no cache. What a request changes at the server is forgotten all the same.
  public var isAllowed: Bool
  /// Whether a stored answer may stand in for one that the server could not give.
  public var staleOnError: StaleOnError

  /// A cache may be used, and what it has is no answer when the server has failed, unless said otherwise.
  public init(isAllowed: Bool = true, staleOnError: StaleOnError = .never) {
    self.isAllowed = isAllowed
    self.staleOnError = staleOnError
  }
}

/// When a stored answer stands in for a server that is out of reach, or answers with 500, 502, 503 or 504
/// (RFC 5861 §4). Never one that the server wants to be asked about each time: `no-cache`, `must-revalidate`.
public enum StaleOnError: Sendable, Hashable {
  case never
  /// For as long as the answer's own `stale-if-error` says.
  case asServerAllows
  /// For so long beyond its lifetime, or as long as the server allows if that is longer.
  case upTo(Duration)
  /// However old it is.
  case always
}

/// What a cache had to do with an answer.
public enum CacheStatus: Sendable {
  /// There is none, or it has no part in such a request.
  case bypass
  /// The server has answered: nothing was stored that would do.
  case miss
  /// The server was not asked.
  case hit
  /// The server has said that what was stored is still right.
  case revalidated
  /// What was stored has outlived its time, and is the answer all the same.
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

/// Why an answer that has outlived its time is used.
public enum StaleReason: Sendable {
  /// The request says that it will do: `Cache-Control: max-stale`.
  case requested
  /// The server could not be asked.
  case failure(HTTPFailure)
  /// The server has answered with this.
  case status(Int)

  /// What has happened, as a sentence without a full stop.
  public var message: String {
    switch self {
    case .requested: "the request takes answers that have outlived their time"
    case .failure(let failure): failure.message
    case .status(let status): "the server has answered with status \(status)"
    }
  }
}
