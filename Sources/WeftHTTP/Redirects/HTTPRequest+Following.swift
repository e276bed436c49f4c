extension HTTPRequest {
  /// Redirects the request to a URL that a response has named: a redirect target or the next page.
  ///
  /// The single rule for other origins. Unless the response and the URL belong to the current origin, everything
  /// bound to that origin is removed: credentials, secret headers, the client certificate and the ``idempotencyKey``;
  /// a URL with a secret is rejected. Removed parts stay removed even if a later URL leads back, because an untrusted
  /// server named it. A request with a body or an unsafe method only goes to ``bodyOrigins``.
  ///
  /// - Parameter source: The URL that responded; differs from the requested one after redirects.
  /// - Returns: The names of the removed headers.
  package mutating func follow(
    to target: HTTPURL, namedBy source: HTTPURL
  ) throws(RedirectError) -> [String] {
    guard url.origin != target.origin || source.origin != target.origin else {
      url = target
      return []
    }
    if !bodyOrigins.contains(target.origin) {
      if body != .none { throw .bodyToOtherOrigin(from: source, to: target) }
      if !method.isSafe { throw .methodToOtherOrigin(method, from: source, to: target) }
    }
    if isSecret(target) { throw .secretToOtherOrigin(from: source.origin, to: target.origin) }
    url = target
    return withhold()
  }

  private func isSecret(_ target: HTTPURL) -> Bool {
    isSecret(target.description)
      || target.credentials.map { isSecret($0.user) || isSecret($0.password) } == true
  }

  private mutating func withhold() -> [String] {
    var names: [String] = []
    headers.removeAll { header in
      let isWithheld = header.isSecret || header.belongsToOrigin
      if isWithheld { names.append(header.name) }
      return isWithheld
    }
    if auth != nil { names.append("Authorization") }
    if idempotencyKey != nil { names.append("Idempotency-Key") }
    auth = nil
    idempotencyKey = nil
    tls.certificate = nil
    tls.key = nil
    return names
  }
}
