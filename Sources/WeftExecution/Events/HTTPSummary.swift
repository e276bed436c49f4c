public import WeftHTTP

/// A summary of the HTTP requests of a step's last attempt.
public struct HTTPSummary: Sendable, Hashable {
  /// The method of the last request, which redirects may have changed.
  public let method: String
  /// The URL of the last response, without user and password; the requested URL if there was none.
  public internal(set) var url: String
  /// `nil` if there was no response.
  public let status: Int?
  /// The number of redirects followed.
  public let redirects: Int
  /// The file that the body was saved to; `nil` if it was not saved.
  public internal(set) var savedTo: String?
  /// The role of the HTTP cache: `hit`, `revalidated`, `miss` or `stale`; `nil` if no cache was involved.
  public let cache: String?
  /// The reason why a stale response was used: usually the error of the request.
  public internal(set) var staleReason: String?
  /// Bytes, times and the connection; for several requests, the total bytes and the last one's times.
  public let figures: ExchangeFigures

  package init(
    method: String, url: String, status: Int?, redirects: Int = 0, savedTo: String? = nil,
    cache: String? = nil, staleReason: String? = nil, figures: ExchangeFigures
  ) {
    self.method = method
    self.url = url
    self.status = status
    self.redirects = redirects
    self.savedTo = savedTo
    self.cache = cache
    self.staleReason = staleReason
    self.figures = figures
  }
}
