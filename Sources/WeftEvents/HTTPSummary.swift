public import WeftHTTP

/// A summary of the HTTP requests of a step's last attempt.
public struct HTTPSummary: Sendable, Hashable {
  /// The method of the last request, which redirects may have changed.
  public package(set) var method: String
  /// The URL of the last response, without user and password; the requested URL if there was none.
  public package(set) var url: String
  /// `nil` if there was no response.
  public package(set) var status: Int?
  /// The number of redirects followed.
  public package(set) var redirects: Int
  /// The file that the body was saved to; `nil` if it was not saved.
  public package(set) var savedTo: String?
  /// The role of the HTTP cache: `hit`, `revalidated`, `miss` or `stale`; `nil` if no cache was involved.
  public package(set) var cache: String?
  /// The reason why a stale response was used: usually the error of the request.
  public package(set) var staleReason: String?
  /// Bytes, times and the connection; for several requests, the total bytes and the last one's times.
  public package(set) var figures: ExchangeFigures

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

extension HTTPSummary: Payload {
  package static var blank: HTTPSummary {
    HTTPSummary(method: "", url: "", status: nil, figures: ExchangeFigures())
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("method", &method)
    try coder.code("url", &url)
    try coder.number("status", &status, in: 0...999, "a status")
    try coder.count("requests", &figures.requests)
    try coder.countIfAny("redirects", &redirects)
    try coder.code("savedTo", &savedTo)
    try coder.code("cache", &cache)
    try coder.code("staleReason", &staleReason)
    try coder.amount("bytesSent", &figures.bodyBytesSent)
    try coder.amount("bytesReceived", &figures.bodyBytesReceived)
    try coder.amount("headerBytesReceived", &figures.headerBytesReceived)
    try coder.code("address", &figures.remoteAddress)
    try coder.number("port", &figures.remotePort, in: 0...65_535, "a port")
    try coder.code("protocol", &figures.protocolVersion)
    try coder.code("dnsUs", &figures.timings.nameResolved)
    try coder.code("connectUs", &figures.timings.connected)
    try coder.code("tlsUs", &figures.timings.secured)
    try coder.code("firstByteUs", &figures.timings.firstByte)
    try coder.code("totalUs", &figures.timings.total)
  }
}
