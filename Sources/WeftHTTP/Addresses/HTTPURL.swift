/// An absolute `http` or `https` URL (RFC 3986), normalized: scheme and host in lower case, no default port, no `.`
/// or `..` segments, and only characters that are valid on the wire.
///
/// A fragment is dropped because it is never sent. User and password are kept apart and never shown.
public struct HTTPURL: Sendable, Hashable {
  /// The supported schemes.
  public enum Scheme: String, Sendable, Hashable {
    case http, https

    var port: Int { self == .http ? 80 : 443 }
  }

  /// Whether TLS is used.
  public let scheme: Scheme
  /// A name, an IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The scheme's default if the URL has no port.
  public let port: Int
  /// Starts with a slash.
  public let path: String
  /// The query without its question mark; `nil` if there is none, which differs from an empty query.
  public let query: String?
  /// The user and password, if the URL has them.
  public let credentials: URLCredentials?

  init(
    scheme: Scheme, host: String, port: Int, path: String, query: String?,
    credentials: URLCredentials? = nil
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.path = path
    self.query = query
    self.credentials = credentials
  }

  /// Percent-encodes spaces and non-ASCII letters in path and query; rejects control characters.
  public init(_ text: String) throws(HTTPURLError) {
    self = try URLText(text).absolute()
  }

  /// Parses a URL that is only an origin: `https://host` or `https://host:port`, optionally with a slash.
  package init(origin text: String) throws(HTTPURLError) {
    try self.init(text)
    guard path == "/", query == nil, credentials == nil else { throw .notAnOrigin }
  }

  /// Returns the URL with `fields` appended to its query, percent-encoded.
  public func appending(query fields: [FormField]) -> HTTPURL {
    guard !fields.isEmpty else { return self }
    let added = PercentEncoding.query(fields)
    let whole = query.map { $0.isEmpty ? added : $0 + "&" + added } ?? added
    return HTTPURL(
      scheme: scheme, host: host, port: port, path: path, query: whole, credentials: credentials)
  }

  /// Returns the URL with `segments` appended to its path, percent-encoded. Drops the query.
  ///
  /// Servers may resolve an encoded `..`: see ``PercentEncoding/segment(_:)``.
  public func appending(segments: [String]) -> HTTPURL {
    let below = path.hasSuffix("/") ? String(path.dropLast()) : path
    let whole = ([below] + segments.map(PercentEncoding.segment)).joined(separator: "/")
    return HTTPURL(
      scheme: scheme, host: host, port: port, path: segments.isEmpty ? path : whole, query: nil,
      credentials: credentials)
  }

  var withoutCredentials: HTTPURL {
    HTTPURL(scheme: scheme, host: host, port: port, path: path, query: query)
  }

  /// The origin as RFC 6454 defines it: URLs with equal origins belong to the same server.
  public var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

  /// Scheme, host and port.
  public struct Origin: Sendable, Hashable {
    let scheme: Scheme
    let host: String
    let port: Int
  }
}

extension HTTPURL: CustomStringConvertible, TextOutputStreamable {
  /// The URL without user and password.
  public var description: String { String(self) }

  /// Writes the ``description``.
  public func write(to target: inout some TextOutputStream) {
    origin.write(to: &target)
    target.write(path)
    guard let query else { return }
    target.write("?")
    target.write(query)
  }
}

extension HTTPURL.Origin: CustomStringConvertible, TextOutputStreamable {
  /// The origin as a URL without a path.
  public var description: String { String(self) }

  /// Writes the ``description``.
  public func write(to target: inout some TextOutputStream) {
    target.write(scheme.rawValue)
    target.write("://")
    target.write(host)
    if port != scheme.port { target.write(":\(port)") }
  }
}

extension String {
  /// Creates a string from everything `writer` writes.
  fileprivate init(_ writer: some TextOutputStreamable) {
    self = ""
    writer.write(to: &self)
  }
}

/// The user and password of a URL, percent-decoded.
public struct URLCredentials: Sendable, Hashable {
  /// The part before the colon.
  public let user: String
  /// The part after the colon; empty if there is none.
  public let password: String
}

/// The reason why a text is not a usable URL.
public enum HTTPURLError: Error, Sendable, Hashable {
  case noScheme
  case otherScheme(String)
  case noHost
  case badHost(String)
  case badPort(String)
  /// The message does not show them.
  case badCredentials
  /// Counts from 0, in bytes.
  case controlCharacter(offset: Int)
  case tooLong(limit: Int)
  case notAnOrigin

  /// The error as a sentence without a full stop.
  public var message: String {
    switch self {
    case .noScheme: "the URL does not begin with http:// or https://"
    case .otherScheme(let scheme): "the URL has the scheme \"\(scheme)\", expected http or https"
    case .noHost: "the URL has no host"
    case .badHost(let host): "\"\(host)\" is not a valid host name"
    case .badPort(let port): "\"\(port)\" is not a port, expected a number from 1 to 65535"
    case .badCredentials:
      "the text before the last \"@\" of the URL's host is not a valid user and password"
    case .controlCharacter(let offset):
      "the URL has a control character at offset \(offset)"
    case .notAnOrigin: "it is not an origin, expected https://host or https://host:port"
    case .tooLong(let limit): "the URL is longer than \(limit) bytes"
    }
  }

  /// The suggested remedy, if there is one.
  public var help: String? {
    switch self {
    case .badHost(let host) where !host.utf8.allSatisfy({ $0 < 0x80 }):
      "write an international name in its ASCII form, which begins with \"xn--\""
    case .badCredentials: "percent-encode its characters: \"@\" is written %40"
    default: nil
    }
  }
}

/// The parsed parts of `user:password@host:port`.
struct Authority {
  let host: String
  let port: Int
  let credentials: URLCredentials?

  /// - Parameter port: The port if `text` has none.
  init(_ text: Substring, port usual: Int) throws(HTTPURLError) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    // Programs disagree about more than one "@", and about "\" before it.
    guard parts.count <= 2, let place = parts.last, parts.count == 1 || Self.isUserInfo(parts[0])
    else { throw .badCredentials }
    credentials = parts.count == 2 ? Self.credentials(parts[0]) : nil
    let (name, number) = try Self.split(place)
    guard !name.isEmpty else { throw .noHost }
    let host = ASCII.lowercased(name)
    guard host.hasPrefix("[") ? Self.isBracketedAddress(host) : Self.isName(host) else {
      throw .badHost(String(name))
    }
    self.host = host
    port = try number.map(Self.port) ?? usual
  }

  private static func split(
    _ place: Substring
  ) throws(HTTPURLError) -> (host: Substring, port: Substring?) {
    let bracket = place.lastIndex(of: "]")
    let colon = place[(bracket ?? place.startIndex)...].firstIndex(of: ":")
    guard let colon else { return (place, nil) }
    let port = place[place.index(after: colon)...]
    // "host:" is "host" (RFC 3986 §3.2.3).
    return (place[..<colon], port.isEmpty ? nil : port)
  }

  private static func port(_ text: Substring) throws(HTTPURLError) -> Int {
    guard let port = ASCII.number(text), (1...65535).contains(port) else {
      throw .badPort(String(text))
    }
    return port
  }

  private static func credentials(_ text: Substring) -> URLCredentials? {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard !text.isEmpty else { return nil }
    return URLCredentials(
      user: PercentEncoding.decoded(halves[0]),
      password: halves.count == 2 ? PercentEncoding.decoded(halves[1]) : "")
  }

  /// Whether the text is valid userinfo (RFC 3986 §3.2.1).
  private static func isUserInfo(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || "%!$&'()*+,;=:".utf8.contains($0) }
  }

  private static func isName(_ host: String) -> Bool {
    host.utf8.count <= 253
      && host.utf8.allSatisfy {
        ASCII.isLetter($0) || ASCII.isDigit($0) || "-._".utf8.contains($0)
      }
      && host.split(separator: ".", omittingEmptySubsequences: false).dropLast()
        .allSatisfy { (1...63).contains($0.utf8.count) }
  }

  private static func isBracketedAddress(_ host: String) -> Bool {
    let inside = host.dropFirst().dropLast()
    return host.hasSuffix("]") && inside.utf8.count <= 45 && inside.contains(":")
      && inside.utf8.allSatisfy { ASCII.hexValue($0) != nil || ":.".utf8.contains($0) }
  }
}
