/// What is asked of a server: GET, POST …, case-sensitive as RFC 9110 §9.1 has it.
public struct HTTPMethod: Sendable, Hashable {
  /// As it stands on the wire.
  public let name: String

  /// Any name; one that may not stand on the wire is refused when a request is made of it.
  public init(_ name: String) { self.name = name }

  /// RFC 9110 §9.3.1.
  public static let get = HTTPMethod("GET")
  /// RFC 9110 §9.3.2.
  public static let head = HTTPMethod("HEAD")
  /// RFC 9110 §9.3.3.
  public static let post = HTTPMethod("POST")
  /// RFC 9110 §9.3.4.
  public static let put = HTTPMethod("PUT")
  /// RFC 5789.
  public static let patch = HTTPMethod("PATCH")
  /// RFC 9110 §9.3.5.
  public static let delete = HTTPMethod("DELETE")
  /// RFC 9110 §9.3.7.
  public static let options = HTTPMethod("OPTIONS")

  /// Whether doing it twice has the effect of doing it once (RFC 9110 §9.2.2); of one that is not known,
  /// that is not assumed.
  public var isIdempotent: Bool {
    switch name {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether it asks for nothing to be changed (RFC 9110 §9.2.1).
  package var isSafe: Bool {
    switch name {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether a server expects to be told the length of a body even if there is none.
  var tellsEmptyBody: Bool {
    switch name {
    case "POST", "PUT", "PATCH": true
    default: false
    }
  }
}

extension HTTPMethod: CustomStringConvertible {
  /// The ``name``.
  public var description: String { name }
}

extension HTTPMethod: ExpressibleByStringLiteral {
  /// The same as ``init(_:)``.
  public init(stringLiteral name: String) { self.init(name) }
}
