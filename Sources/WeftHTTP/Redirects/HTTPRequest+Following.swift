extension HTTPRequest {
  /// Makes it the request to a URL that an answer has named: the target of a redirect, or the next page.
  ///
  /// The one rule for other origins. Unless the answer and the URL are of the origin that was asked, nothing goes
  /// along that belongs to that: no credentials, no header that is secret, no certificate of the client, no
  /// ``idempotencyKey`` and no secret in the URL. What is left out stays out, even if the way leads back: whoever
  /// named the URL was not trusted with it. A body, and a method that may change something, go to
  /// ``bodyOrigins`` only.
  ///
  /// - Parameter source: What answered; another URL than was asked if it redirected.
  /// - Returns: The names of the headers that are not sent any more.
  package mutating func follow(
    to target: HTTPURL, namedBy source: HTTPURL
  ) throws(RedirectFault) -> [String] {
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
