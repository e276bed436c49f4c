/// Properties of request headers that follow from their names.
extension HTTPHeader {
  /// Whether it identifies the client, marked secret or not. The only list of such names.
  package var isCredential: Bool { Self.credentials.contains(ASCII.lowercased(name)) }

  /// Whether only the original origin may receive it: credentials, and headers that are only meaningful there.
  var belongsToOrigin: Bool {
    isCredential || ["host", "idempotency-key"].contains(ASCII.lowercased(name))
  }

  /// Whether responses do not depend on it as they do on credentials: content negotiation, which `Vary` covers,
  /// conditions, cache directives, and headers for tracing.
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
