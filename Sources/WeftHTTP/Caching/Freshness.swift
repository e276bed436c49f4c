/// The lifetime and the age of a response: RFC 9111 §4.2. All values are seconds; times are since 1970.
struct Freshness: Sendable, Hashable {
  /// A response younger than this needs no revalidation.
  let lifetime: Int64
  private let initialAge: Int64
  private let responseTime: Int64

  /// - Parameters:
  ///   - requestTime: The time at which it was requested.
  ///   - responseTime: The time at which its head was received.
  init(of head: HTTPResponseHead, requestTime: Int64, responseTime: Int64) {
    let date = head.headers["date"].flatMap { HTTPDate.seconds($0, now: responseTime) }
    lifetime = Self.lifetime(of: head, date: date ?? responseTime)
    initialAge = Self.initialAge(
      of: head, date: date ?? responseTime, delay: max(0, responseTime - requestTime),
      responseTime: responseTime)
    self.responseTime = responseTime
  }

  /// §4.2.3, `current_age`. If the clock was set back, the elapsed time is unknown and counts as infinite.
  func age(at now: Int64) -> Int64 {
    let resident = now - responseTime
    return resident < 0 ? DeltaSeconds.longest : initialAge + resident
  }

  /// The remaining lifetime; negative once the response is stale.
  func left(at now: Int64) -> Int64 { lifetime - age(at: now) }

  /// Returns `corrected_initial_age` (§4.2.3).
  private static func initialAge(
    of head: HTTPResponseHead, date: Int64, delay: Int64, responseTime: Int64
  ) -> Int64 {
    max(max(0, responseTime - date), reported(head) + delay)
  }

  /// §5.1: the first of several values counts, and an invalid one counts as 0.
  private static func reported(_ head: HTTPResponseHead) -> Int64 {
    head.headers.list(of: "age").first.flatMap { DeltaSeconds.parsed($0) } ?? 0
  }

  /// Returns the freshness lifetime (§4.2.1) for a private cache.
  private static func lifetime(of head: HTTPResponseHead, date: Int64) -> Int64 {
    if let seconds = CacheControl(head.headers).seconds("max-age") { return seconds }
    let expires = head.headers.values(of: "expires")
    guard !expires.isEmpty else { return guess(of: head, date: date) }
    // §5.3: an invalid date, typically "0", is in the past. With two values, it is unknown which is meant.
    guard expires.count == 1, let end = HTTPDate.seconds(expires[0], now: date) else { return 0 }
    return min(max(0, end - date), DeltaSeconds.longest)
  }

  /// Returns a heuristic lifetime (§4.2.2): a tenth of the time since the last modification, at most a day. A
  /// resource unchanged for long is likely to stay so.
  private static func guess(of head: HTTPResponseHead, date: Int64) -> Int64 {
    guard head.isCacheableByDefault || CacheControl(head.headers).has("public"),
      let modified = head.headers["last-modified"].flatMap({ HTTPDate.seconds($0, now: date) })
    else { return 0 }
    return min(max(0, date - modified) / 10, 86_400)
  }
}

extension HTTPResponseHead {
  /// Whether the status is cacheable by default: RFC 9110 §15.1, except 206, which this cache does not support.
  var isCacheableByDefault: Bool {
    [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }
}

/// The directives of `Cache-Control` (RFC 9111 §5.2) in a request or response. The first of several equal directives
/// counts; malformed ones are ignored.
struct CacheControl: Sendable, Hashable {
  /// The values by lower-case name; empty if a directive has none.
  private var directives: [String: String] = [:]
  /// Whether the older `Pragma: no-cache` replaces it in a request (RFC 9111 §5.4). In responses `Pragma` never had a
  /// meaning.
  let hasPragma: Bool

  init(_ headers: HTTPHeaders) {
    hasPragma =
      !headers.contains("cache-control")
      && headers.list(of: "pragma").contains { ASCII.isSame($0, "no-cache") }
    for line in headers.values(of: "cache-control") {
      for piece in ParameterText.split(line, at: UInt8(ascii: ",")) { add(piece) }
    }
  }

  private mutating func add(_ piece: String) {
    let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = halves.first.map({ ASCII.lowercased($0) }), ASCII.isToken(name),
      directives[name] == nil
    else { return }
    directives[name] = halves.count == 2 ? ParameterText.unquoted(String(halves[1])) : ""
  }

  /// Whether the directive is present, with or without a value.
  func has(_ name: String) -> Bool { directives[name] != nil }

  /// Returns the seconds of a directive; `nil` if it is missing. An invalid number counts as 0, the conservative
  /// reading (RFC 9111 §4.2.1).
  func seconds(_ name: String) -> Int64? {
    directives[name].map { DeltaSeconds.parsed($0) ?? 0 }
  }

  /// The number of seconds that a response may be stale (§5.2.1.2); `nil` if it may not be. Unlimited if the
  /// directive has no value.
  var maxStale: Int64? {
    guard let value = directives["max-stale"] else { return nil }
    return value.isEmpty ? .max : DeltaSeconds.parsed(value)
  }
}

/// Delta-seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
  /// Effectively forever, and small enough that adding to it does not overflow.
  static let longest: Int64 = 1 << 31

  static func parsed(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return min(Int64(text) ?? longest, longest)
  }
}

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
  var isServerError: Bool { [500, 502, 503, 504].contains(status) }
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
  var isServerError: Bool {
    switch kind {
    case .dns, .connect, .tls, .reset, .empty, .partial, .timeout, .malformed: true
    case .unavailable, .invalid, .proxy, .limit, .redirect, .address, .file, .cancelled, .other:
      false
    }
  }
}
