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
    case .noTarget(let status, let url): "\(url) answered \(status) without saying where to go"
    case .badTarget(let fault, let url):
      "\(url) redirected to what cannot be asked: \(fault.message)"
    case .downgrade(let from, let to): "\(from) redirected to \(to), which is not encrypted"
    case .bodyToOtherOrigin(let from, let to):
      "\(from) leads to \(to), another origin, which does not get the body"
    case .methodToOtherOrigin(let method, let from, let to):
      "\(from) leads to \(to), another origin, to which no \(method) is sent"
    case .secretToOtherOrigin(let from, let to):
      "\(from) leads to a URL with a secret at \(to), another origin, which does not get it"
    }
  }

  private static func chain(_ hops: [RedirectHop]) -> String {
    let starts = hops.first.map { [$0.from.description] } ?? []
    return (starts + hops.map { "\($0.status) \($0.to)" }).joined(separator: " → ")
  }
}
