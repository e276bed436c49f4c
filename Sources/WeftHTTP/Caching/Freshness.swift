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
