extension HTTPResponseHead {
  /// Whether a private cache may keep the answer to a GET that did not forbid it: RFC 9111 §3.
  var mayBeStored: Bool {
    guard (200...999).contains(status), ![206, 304].contains(status),
      !headers.list(of: "vary").contains("*")
    else { return false }
    let control = CacheControl(headers)
    if control.has("must-understand") {
      // §5.2.2.3: whoever understands the status is free of the `no-store` beside it.
      if !isUnderstood { return false }
    } else if control.has("no-store") {
      return false
    }
    return isCacheableByDefault || headers.contains("expires")
      || ["max-age", "public", "private"].contains(where: control.has)
  }

  /// Statuses that mean to this cache what RFC 9110 §15 says of them.
  private var isUnderstood: Bool {
    isCacheableByDefault
      || [201, 202, 205, 302, 303, 307, 400, 401, 402, 403, 406, 408, 409].contains(status)
      || (411...417).contains(status) || [421, 422, 426, 429].contains(status)
      || (500...505).contains(status)
  }

  /// Whether the server could not answer (RFC 5861 §4).
  var isServerTrouble: Bool { [500, 502, 503, 504].contains(status) }
}

extension HTTPHeaders {
  /// Without what is about the connection and not about the answer (RFC 9111 §3.1).
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
  /// Whether the server is out of reach or does not speak HTTP: what a gateway would answer with 502 or 504.
  /// Not what this side has decided or has done wrong.
  var isServerTrouble: Bool {
    switch kind {
    case .dns, .connect, .tls, .reset, .empty, .partial, .timeout, .malformed: true
    case .unavailable, .invalid, .limit, .redirect, .address, .file, .cancelled, .other: false
    }
  }
}
