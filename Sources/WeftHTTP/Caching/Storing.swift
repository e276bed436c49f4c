extension HTTPResponseHead {
  /// Whether a private cache may store the response to a GET that did not forbid it: RFC 9111 §3.
  var mayBeStored: Bool {
    guard (200...999).contains(status), ![206, 304].contains(status),
      !headers.list(of: "vary").contains("*")
    else { return false }
    let control = CacheControl(headers)
    if control.has("must-understand") {
      // §5.2.2.3: a cache that understands the status ignores the `no-store` next to it.
      if !isUnderstood { return false }
    } else if control.has("no-store") {
      return false
    }
    return isCacheableByDefault || headers.contains("expires")
      || ["max-age", "public", "private"].contains(where: control.has)
  }

  /// The statuses that this cache handles as RFC 9110 §15 defines them.
  private var isUnderstood: Bool {
    isCacheableByDefault
      || [201, 202, 205, 302, 303, 307, 400, 401, 402, 403, 406, 408, 409].contains(status)
      || (411...417).contains(status) || [421, 422, 426, 429].contains(status)
      || (500...505).contains(status)
  }

  /// Whether the server failed to respond properly (RFC 5861 §4).
  var isServerTrouble: Bool { [500, 502, 503, 504].contains(status) }
}

extension HTTPHeaders {
  /// The headers without connection-specific ones (RFC 9111 §3.1).
  var withoutConnection: HTTPHeaders {
    let named = Set(list(of: "connection").map { ASCII.lowercased($0) })
    var kept = self
    kept.removeAll { header in
      let name = ASCII.lowercased(header.name)
      return Self.ofConnection.contains(name) || named.contains(name)
    }
    return kept
  }

  private static let ofConnection: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]
}

extension HTTPFailure {
  /// Whether the server is unreachable or does not speak HTTP: the cases in which a gateway would return 502 or 504.
  /// False for decisions and errors of this side.
  var isServerTrouble: Bool {
    switch kind {
    case .dns, .connect, .tls, .reset, .empty, .partial, .timeout, .malformed: true
    case .unavailable, .invalid, .limit, .redirect, .address, .file, .cancelled, .other: false
    }
  }
}
