import WeftExecution
import WeftHTTP

/// What the requests of a step came to.
extension RecordScanner {
  mutating func httpSummary() throws(RecordProblem) -> HTTPSummary {
    try begin("{")
    let method = try text("method")
    let url = try text("url")
    let status = has("status") ? try int() : nil
    var figures = ExchangeFigures()
    figures.requests = try count("requests")
    let redirects = has("redirects") ? try int() : 0
    let savedTo = try optionalText("savedTo")
    let cache = try optionalText("cache")
    let staleReason = try optionalText("staleReason")
    try expect("bytesSent")
    figures.bodyBytesSent = try int()
    try expect("bytesReceived")
    figures.bodyBytesReceived = try int()
    try expect("headerBytesReceived")
    figures.headerBytesReceived = try int()
    figures.remoteAddress = try optionalText("address")
    figures.remotePort = has("port") ? try int() : nil
    figures.protocolVersion = try optionalText("protocol")
    figures.timings = try timings()
    try endObject()
    return HTTPSummary(
      method: method, url: url, status: status, redirects: redirects, savedTo: savedTo,
      cache: cache, staleReason: staleReason, figures: figures)
  }

  private mutating func timings() throws(RecordProblem) -> ExchangeTimings {
    var timings = ExchangeTimings()
    if has("dnsUs") { timings.nameResolved = .microseconds(try int()) }
    if has("connectUs") { timings.connected = .microseconds(try int()) }
    if has("tlsUs") { timings.secured = .microseconds(try int()) }
    if has("firstByteUs") { timings.firstByte = .microseconds(try int()) }
    timings.total = try duration("totalUs")
    return timings
  }
}
