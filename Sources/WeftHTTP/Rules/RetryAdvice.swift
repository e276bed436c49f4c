import WeftEncoding

/// The decision whether a request may be sent again.
public enum RetryAdvice: Sendable, Hashable {
  /// It may be. The server asked for a delay of at least `delay`; `nil` if it did not.
  case retry(noSoonerThan: Duration?)
  case giveUp(Reason)

  /// The reason why it may not be.
  public enum Reason: Sendable, Hashable {
    /// A repetition would get the same response.
    case permanent
    /// The server may have processed it, and it is not repeatable.
    case mayHaveBeenDone(HTTPMethod)
    case asksForTooLong(Duration, limit: Duration)
  }
}

extension RetryAdvice.Reason {
  /// The reason in words; `nil` if there is nothing to add to the failure.
  public var message: String? {
    switch self {
    case .permanent: nil
    case .mayHaveBeenDone(let method):
      "the \(method) request may have been processed, so it is not sent again"
    case .asksForTooLong(let asked, let limit):
      "the server asks to wait \(asked), which is longer than the maximum delay of \(limit)"
    }
  }

  /// The suggested remedy, if there is one.
  public var help: String? {
    switch self {
    case .permanent: nil
    case .mayHaveBeenDone:
      "set an \"idempotencyKey\" if the server supports the header Idempotency-Key"
    case .asksForTooLong: "raise \"maxDelay\" of \"retry\""
    }
  }
}

extension HTTPRequest {
  /// Returns whether to retry after an unexpected response. `Retry-After` only matters for requests that may be sent
  /// again.
  ///
  /// - Parameters:
  ///   - maxDelay: A longer requested delay is not waited for.
  ///   - isTransient: Whether another response can be expected; usually ``HTTPResponseHead/isTransient``, or as the
  ///     step's `retry.on` says.
  ///   - now: The seconds since 1970.
  public func adviceOnRetry(
    after head: HTTPResponseHead, isTransient: Bool, maxDelay: Duration, now: Int64
  ) -> RetryAdvice {
    guard isTransient else { return .giveUp(.permanent) }
    if head.leavesFateUnknown, !isRepeatable { return .giveUp(.mayHaveBeenDone(method)) }
    let asked = RetryAfter.delay(in: head.headers, now: now)
    if let asked, asked > maxDelay { return .giveUp(.asksForTooLong(asked, limit: maxDelay)) }
    return .retry(noSoonerThan: asked)
  }
}

extension HTTPFailure {
  /// Returns whether to retry after a failure.
  public func adviceOnRetry(of request: HTTPRequest) -> RetryAdvice {
    guard isTransient else { return .giveUp(.permanent) }
    return isInDoubt ? .giveUp(.mayHaveBeenDone(request.method)) : .retry(noSoonerThan: nil)
  }

  /// Whether the same request may succeed later.
  public var isTransient: Bool {
    switch kind {
    case .dns, .connect, .reset, .empty, .partial, .timeout: true
    case .unavailable, .invalid, .proxy, .tls, .limit, .malformed, .redirect, .address, .file,
      .cancelled,
      .other:
      false
    }
  }
}

extension HTTPResponseHead {
  /// The delay that the server asks for before another request; `nil` if it asks for none.
  ///
  /// - Parameter now: The seconds since 1970.
  package func retryAfter(now: Int64) -> Duration? { RetryAfter.delay(in: headers, now: now) }
}

/// The delay that a server asks for (RFC 9110 §10.2.3).
enum RetryAfter {
  /// `nil` if the header is missing or invalid. A time in the past is no delay.
  ///
  /// - Parameter now: The seconds since 1970.
  static func delay(in headers: HTTPHeaders, now: Int64) -> Duration? {
    guard let text = headers["retry-after"].map({ ASCII.trimmed($0) }) else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
      // More than fits is effectively forever.
      return .seconds(min(Int64(text) ?? .max, longest))
    }
    return HTTPDate.seconds(text, now: now).map { .seconds(max(0, min($0 - now, longest))) }
  }

  /// A thousand years, which fits a `Duration`.
  private static let longest: Int64 = 1000 * 366 * 86_400
}

/// The three date formats of HTTP (RFC 9110 §5.6.7), and no others. Case-insensitive (RFC 9111 §4.2).
enum HTTPDate {
  /// Returns the seconds since 1970; `nil` if the text is not a date. The day of the week need not match.
  ///
  /// - Parameter now: The reference for two-digit years, which are at most 50 years ahead.
  static func seconds(_ text: String, now: Int64) -> Int64? {
    let words = ASCII.lowercased(ASCII.trimmed(text))
      .split(separator: " ", omittingEmptySubsequences: false)
    switch words.count {
    case 6 where words[2].isEmpty: return asctime(words, day: "0" + words[3])
    case 6: return usual(words)
    case 5: return asctime(words, day: String(words[2]))
    case 4: return rfc850(words, now: now)
    default: return nil
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func usual(_ words: [Substring]) -> Int64? {
    guard words[0].hasSuffix(","), shortDays.contains(String(words[0].dropLast())),
      words[3].utf8.count == 4, words[5] == "gmt"
    else { return nil }
    return seconds(day: words[1], month: words[2], year: year(words[3]), time: words[4])
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  private static func rfc850(_ words: [Substring], now: Int64) -> Int64? {
    let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
    guard words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())),
      date.count == 3, date[2].utf8.count == 2, words[3] == "gmt"
    else { return nil }
    let year = year(date[2]).map { fullYear($0, now: now) }
    return seconds(day: date[0], month: date[1], year: year, time: words[2])
  }

  /// `Sun Nov  6 08:49:37 1994`, with a space instead of a leading zero in the day.
  private static func asctime(_ words: [Substring], day: String) -> Int64? {
    let (time, last) = (words[words.count - 2], words[words.count - 1])
    guard shortDays.contains(String(words[0])), last.utf8.count == 4 else { return nil }
    return seconds(day: day[...], month: words[1], year: year(last), time: time)
  }

  private static let shortDays: Set = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let longDays: Set = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func seconds(
    day: Substring, month: Substring, year: Int64?, time: Substring
  ) -> Int64? {
    guard let month = months.firstIndex(of: String(month)), day.utf8.count == 2,
      let day = ASCII.number(day), (1...31).contains(day), let year, let time = timeOfDay(time)
    else { return nil }
    let days = CivilDate(year: year, month: Int64(month + 1), day: Int64(day)).daysSince1970
    return days * 86_400 + time
  }

  private static func year(_ text: Substring) -> Int64? { ASCII.number(text).map(Int64.init) }

  private static func fullYear(_ year: Int64, now: Int64) -> Int64 {
    let thisYear = 1970 + now / 31_556_952
    let next = thisYear + (year - thisYear % 100 + 100) % 100
    return next > thisYear + 50 ? next - 100 : next
  }

  private static func timeOfDay(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
    let numbers = parts.compactMap { ASCII.number($0).map(Int64.init) }
    // 60 is a leap second.
    guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60 else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
  }
}
