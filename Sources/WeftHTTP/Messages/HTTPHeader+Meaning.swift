/// What the name of a header of a request says about its value.
extension HTTPHeader {
  /// Whether it says who asks, said to be secret or not. The one list of such names.
  package var isCredential: Bool { Self.credentials.contains(ASCII.lowercased(name)) }

  /// Whether only the origin that was asked is to have it: credentials, and what means that origin alone.
  var belongsToOrigin: Bool {
    isCredential || ["host", "idempotency-key"].contains(ASCII.lowercased(name))
  }

  /// Whether an answer does not depend on it as it depends on who asks: what is negotiated, which `Vary` is for,
  /// conditions, directives to caches, and what follows a request through a system.
  var isIndependentOfAsker: Bool {
    let name = ASCII.lowercased(name)
    return name.hasPrefix("accept") || name.hasPrefix("if-") || name.hasPrefix("x-b3-")
      || Self.independent.contains(name)
  }

  private static let credentials: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey",
    "x-auth-token", "x-access-token", "private-token", "x-amz-security-token", "x-goog-api-key",
    "x-vault-token",
  ]

  private static let independent: Set<String> = [
    "user-agent", "range", "cache-control", "pragma", "traceparent", "tracestate", "b3",
    "x-request-id", "x-correlation-id",
  ]
}
