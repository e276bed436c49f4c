/// A request method, such as GET or POST; case-sensitive (RFC 9110 §9.1).
public struct HTTPMethod: Sendable, Hashable {
  /// The name as sent.
  public let name: String

  /// Creates a method of any name; an invalid one is rejected when a request is built from it.
  public init(_ name: String) { self.name = name }

  /// The method GET (RFC 9110 §9.3.1).
  public static let get = HTTPMethod("GET")
  /// The method HEAD (RFC 9110 §9.3.2).
  public static let head = HTTPMethod("HEAD")
  /// The method POST (RFC 9110 §9.3.3).
  public static let post = HTTPMethod("POST")
  /// The method PUT (RFC 9110 §9.3.4).
  public static let put = HTTPMethod("PUT")
  /// The method PATCH (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// The method DELETE (RFC 9110 §9.3.5).
  public static let delete = HTTPMethod("DELETE")
  /// The method OPTIONS (RFC 9110 §9.3.7).
  public static let options = HTTPMethod("OPTIONS")

  /// Whether sending it twice has the effect of sending it once (RFC 9110 §9.2.2). Unknown methods are not assumed to
  /// be idempotent.
  public var isIdempotent: Bool {
    switch name {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether it is safe, that is, read-only (RFC 9110 §9.2.1).
  package var isSafe: Bool {
    switch name {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether servers expect a declared length even without a body.
  package var tellsEmptyBody: Bool {
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
  /// Equivalent to ``init(_:)``.
  public init(stringLiteral name: String) { self.init(name) }
}
