/// How long an answer may be used without asking again, and how old it is: RFC 9111 §4.2. Seconds throughout;
/// moments are counted since 1970.
struct Freshness: Sendable, Hashable {
  /// Nothing of an answer that is younger than this need be asked again.
  let lifetime: Int64
  private let initialAge: Int64
  private let responseTime: Int64

  /// - Parameters:
  ///   - requestTime: When it was asked for.
  ///   - responseTime: When its head was there.
  init(of head: HTTPResponseHead, requestTime: Int64, responseTime: Int64) {
    let date = head.headers["date"].flatMap { HTTPDate.seconds($0, now: responseTime) }
    lifetime = Self.lifetime(of: head, date: date ?? responseTime)
    initialAge = Self.initialAge(
      of: head, date: date ?? responseTime, delay: max(0, responseTime - requestTime),
      responseTime: responseTime)
    self.responseTime = responseTime
  }

  /// §4.2.3, `current_age`. A clock that was set back says nothing about the time in between, which is then
  /// for ever.
  func age(at now: Int64) -> Int64 {
    let resident = now - responseTime
    return resident < 0 ? DeltaSeconds.longest : initialAge + resident
  }

  /// How much of its lifetime is left; negative once it is stale.
  func left(at now: Int64) -> Int64 { lifetime - age(at: now) }

  /// §4.2.3, `corrected_initial_age`.
  private static func initialAge(
    of head: HTTPResponseHead, date: Int64, delay: Int64, responseTime: Int64
  ) -> Int64 {
    max(max(0, responseTime - date), told(head) + delay)
  }

  /// §5.1: of several values the first counts, and what is no number is as good as nothing.
  private static func told(_ head: HTTPResponseHead) -> Int64 {
    head.headers.list(of: "age").first.flatMap { DeltaSeconds.parsed($0) } ?? 0
  }

  /// §4.2.1, for a cache that is not shared.
  private static func lifetime(of head: HTTPResponseHead, date: Int64) -> Int64 {
    if let seconds = CacheControl(head.headers).seconds("max-age") { return seconds }
    let expires = head.headers.values(of: "expires")
    guard !expires.isEmpty else { return guess(of: head, date: date) }
    // §5.3: what is no date, "0" above all, is in the past; and of two nobody knows which is meant.
    guard expires.count == 1, let end = HTTPDate.seconds(expires[0], now: date) else { return 0 }
    return min(max(0, end - date), DeltaSeconds.longest)
  }

  /// §4.2.2: what has not changed for long will not change soon; a tenth of that time, at most a day.
  private static func guess(of head: HTTPResponseHead, date: Int64) -> Int64 {
    guard head.isCacheableByDefault || CacheControl(head.headers).has("public"),
      let modified = head.headers["last-modified"].flatMap({ HTTPDate.seconds($0, now: date) })
    else { return 0 }
    return min(max(0, date - modified) / 10, 86_400)
  }
}

extension HTTPResponseHead {
  /// RFC 9110 §15.1, but for 206, which this cache does not understand.
  var isCacheableByDefault: Bool {
    [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }
}
