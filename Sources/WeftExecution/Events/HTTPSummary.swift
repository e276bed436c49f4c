public import WeftHTTP

/// What the HTTP requests of a step's last attempt came to.
public struct HTTPSummary: Sendable, Hashable {
  /// Of the last request: redirects may have changed it.
  public let method: String
  /// What answered last, without user and password; what was asked where nothing has.
  public internal(set) var url: String
  /// `nil` where there was no answer.
  public let status: Int?
  /// How many were followed.
  public let redirects: Int
  /// The file that has the body; `nil` where none has.
  public internal(set) var savedTo: String?
  /// What a cache had to do with the answer: `hit`, `revalidated`, `miss` or `stale`; `nil` where none had.
  public let cache: String?
  /// Why an answer was used that has outlived its time: usually the error of the request.
  public internal(set) var staleReason: String?
  /// Bytes, times and the connection; of several requests, sums and the last one's times.
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
