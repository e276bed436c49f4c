import WeftExecution
import WeftHTTP

/// The summary of a step's requests.
extension RecordScanner {
  mutating func httpSummary() throws(RecordFormatError) -> HTTPSummary {
    try begin("{")
    let method = try text("method")
    let url = try text("url")
    let status = has("status") ? try int(in: 0...999, "a status") : nil
    var figures = ExchangeFigures()
    figures.requests = try count("requests")
    let redirects = has("redirects") ? try countOrNone() : 0
    let savedTo = try optionalText("savedTo")
    let cache = try optionalText("cache")
    let staleReason = try optionalText("staleReason")
    try expect("bytesSent")
    figures.bodyBytesSent = try amount()
    try expect("bytesReceived")
    figures.bodyBytesReceived = try amount()
    try expect("headerBytesReceived")
    figures.headerBytesReceived = try amount()
    figures.remoteAddress = try optionalText("address")
    figures.remotePort = has("port") ? try int(in: 0...65_535, "a port") : nil
    figures.protocolVersion = try optionalText("protocol")
    figures.timings = try timings()
    try endObject()
    return HTTPSummary(
      method: method, url: url, status: status, redirects: redirects, savedTo: savedTo,
      cache: cache, staleReason: staleReason, figures: figures)
  }

  private mutating func timings() throws(RecordFormatError) -> ExchangeTimings {
    var timings = ExchangeTimings()
    if has("dnsUs") { timings.nameResolved = try duration() }
    if has("connectUs") { timings.connected = try duration() }
    if has("tlsUs") { timings.secured = try duration() }
    if has("firstByteUs") { timings.firstByte = try duration() }
    timings.total = try duration("totalUs")
    return timings
  }
}
