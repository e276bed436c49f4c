/// How far redirects are followed.
public struct RedirectRule: Sendable, Hashable {
  /// 0: a redirect is an answer like any other.
  public var limit: Int
  /// Whether https may become http.
  public var allowsDowngrade: Bool

  /// Ten, and never away from https, unless said otherwise.
  public init(limit: Int = 10, allowsDowngrade: Bool = false) {
    self.limit = limit
    self.allowsDowngrade = allowsDowngrade
  }
}

/// One redirect that was followed.
public struct RedirectHop: Sendable, Hashable {
  /// Of the answer that redirected.
  public let status: Int
  /// What answered.
  public let from: HTTPURL
  /// What was asked instead.
  public let to: HTTPURL
  /// Of the request that followed.
  public let method: HTTPMethod
  /// Headers that were not sent any more, because the origin is another.
  public let withheld: [String]
}

/// Why a redirect was not followed.
public enum RedirectFault: Error, Sendable, Hashable {
  case tooMany([RedirectHop], limit: Int)
  case noTarget(status: Int, from: HTTPURL)
  case badTarget(URLFault, from: HTTPURL)
  case downgrade(from: HTTPURL, to: HTTPURL)
  case bodyToOtherOrigin(from: HTTPURL, to: HTTPURL)
  /// The method may change something there.
  case methodToOtherOrigin(HTTPMethod, from: HTTPURL, to: HTTPURL)
  /// The URL has a secret in it, so it is not named.
  case secretToOtherOrigin(from: HTTPURL.Origin, to: HTTPURL.Origin)

  /// Whether no option allows it.
  package var isOfSecret: Bool {
    if case .secretToOtherOrigin = self { true } else { false }
  }

  /// What was found, as a sentence without a full stop.
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
