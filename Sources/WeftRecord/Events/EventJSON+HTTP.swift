import WeftExecution
import WeftHTTP
import WeftJSON

/// The summary of a step's requests.
extension EventJSON {
  mutating func writeHTTP(_ http: HTTPSummary) {
    let figures = http.figures
    writer.key("http")
    writer.beginObject()
    writer.member("method", http.method)
    writer.member("url", http.url)
    if let status = http.status { writer.member("status", status) }
    writer.member("requests", figures.requests)
    if http.redirects > 0 { writer.member("redirects", http.redirects) }
    if let path = http.savedTo { writer.member("savedTo", path) }
    if let cache = http.cache { writer.member("cache", cache) }
    if let reason = http.staleReason { writer.member("staleReason", reason) }
    writer.member("bytesSent", figures.bodyBytesSent)
    writer.member("bytesReceived", figures.bodyBytesReceived)
    writer.member("headerBytesReceived", figures.headerBytesReceived)
    if let address = figures.remoteAddress { writer.member("address", address) }
    if let port = figures.remotePort { writer.member("port", port) }
    if let version = figures.protocolVersion { writer.member("protocol", version) }
    writeTimings(figures.timings)
    writer.endObject()
  }

  private mutating func writeTimings(_ timings: ExchangeTimings) {
    if let time = timings.nameResolved { writer.member("dnsUs", time.wholeMicroseconds) }
    if let time = timings.connected { writer.member("connectUs", time.wholeMicroseconds) }
    if let time = timings.secured { writer.member("tlsUs", time.wholeMicroseconds) }
    if let time = timings.firstByte { writer.member("firstByteUs", time.wholeMicroseconds) }
    writer.member("totalUs", timings.total.wholeMicroseconds)
  }
}
