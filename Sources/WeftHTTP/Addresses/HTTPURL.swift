/// An absolute `http` or `https` URL (RFC 3986) in one spelling: scheme and host in small letters, the port
/// only where it is not the scheme's own, no `.` and `..`, nothing in it that may not stand on the wire.
///
/// A fragment is dropped, for it is not sent. Users and passwords are kept apart, and never shown.
public struct HTTPURL: Sendable, Hashable {
  /// Those that can be asked.
  public enum Scheme: String, Sendable, Hashable {
    case http, https

    var port: Int { self == .http ? 80 : 443 }
  }

  /// With or without TLS.
  public let scheme: Scheme
  /// A name, an IPv4 address, or an IPv6 address in brackets.
  public let host: String
  /// The scheme's own where none was written.
  public let port: Int
  /// Begins with a slash.
  public let path: String
  /// Without its question mark; `nil` where there is none, which is not the same as an empty one.
  public let query: String?
  /// Who asks, where the URL says so.
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

  /// Spaces and letters beyond ASCII in path and query are percent-encoded; control characters are refused.
  public init(_ text: String) throws(URLFault) {
    self = try URLText(text).absolute()
  }

  /// A URL that is no more than an origin: `https://host` or `https://host:port`, perhaps with a slash.
  package init(origin text: String) throws(URLFault) {
    try self.init(text)
    guard path == "/", query == nil, credentials == nil else { throw .notAnOrigin }
  }

  /// With more of a query, percent-encoded, behind what there is of one.
  public func appending(query fields: [FormField]) -> HTTPURL {
    guard !fields.isEmpty else { return self }
    let added = PercentEncoding.query(fields)
    let whole = query.map { $0.isEmpty ? added : $0 + "&" + added } ?? added
    return HTTPURL(
      scheme: scheme, host: host, port: port, path: path, query: whole, credentials: credentials)
  }

  /// With more segments of a path, percent-encoded, behind what there is of one. The query is left out.
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

  /// What RFC 6454 calls so: two URLs with the same one are of the same server.
  public var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

  /// Scheme, host and port.
  public struct Origin: Sendable, Hashable {
    let scheme: Scheme
    let host: String
    let port: Int
  }
}

extension HTTPURL: CustomStringConvertible, TextOutputStreamable {
  /// What is asked for, without user and password.
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
  /// As a URL without a path.
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
  /// What a thing writes.
  fileprivate init(_ writer: some TextOutputStreamable) {
    self = ""
    writer.write(to: &self)
  }
}

/// The user and password of a URL, percent-decoded.
public struct URLCredentials: Sendable, Hashable {
  /// Before the colon.
  public let user: String
  /// Behind the colon; empty where there is none.
  public let password: String
}

/// Why a text is no URL that can be asked.
public enum URLFault: Error, Sendable, Hashable {
  case noScheme
  case otherScheme(String)
  case noHost
  case badHost(String)
  case badPort(String)
  /// They are not told.
  case badCredentials
  /// Counts from 0, in bytes.
  case controlCharacter(offset: Int)
  case tooLong(limit: Int)
  case notAnOrigin

  /// What was found, as a sentence without a full stop.
  public var message: String {
    switch self {
    case .noScheme: "the URL does not begin with http:// or https://"
    case .otherScheme(let scheme): "the URL has the scheme \"\(scheme)\", expected http or https"
    case .noHost: "the URL names no host"
    case .badHost(let host): "\"\(host)\" is no host name"
    case .badPort(let port): "\"\(port)\" is no port, expected a number from 1 to 65535"
    case .badCredentials:
      "what stands before the last \"@\" of the URL's host is no user and password"
    case .controlCharacter(let offset):
      "the URL has a control character at offset \(offset)"
    case .notAnOrigin: "it is more than an origin, expected https://host or https://host:port"
    case .tooLong(let limit): "the URL is longer than \(limit) bytes"
    }
  }

  /// The cure, where there is one to name.
  public var help: String? {
    switch self {
    case .badHost(let host) where !host.utf8.allSatisfy({ $0 < 0x80 }):
      "write an international name in its ASCII form, which begins with \"xn--\""
    case .badCredentials: "percent-encode its characters: \"@\" is written %40"
    default: nil
    }
  }
}
