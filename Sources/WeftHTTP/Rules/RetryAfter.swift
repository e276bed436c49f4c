/// How long a server asks to be left alone (RFC 9110 §10.2.3).
enum RetryAfter {
  /// `nil` where the header is missing or says nothing that can be understood; a moment that has passed is
  /// no wait.
  ///
  /// - Parameter now: Seconds since 1970.
  static func delay(in headers: HTTPHeaders, now: Int64) -> Duration? {
    guard let text = headers["retry-after"].map({ ASCII.trimmed($0) }) else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
      // More than fits is for ever, as far as anybody who waits is concerned.
      return .seconds(min(Int64(text) ?? .max, longest))
    }
    return HTTPDate.seconds(text, now: now).map { .seconds(max(0, min($0 - now, longest))) }
  }

  /// A thousand years, which a `Duration` holds.
  private static let longest: Int64 = 1000 * 366 * 86_400
}
