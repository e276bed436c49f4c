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
