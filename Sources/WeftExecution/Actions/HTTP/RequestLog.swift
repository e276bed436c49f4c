import WeftDiagnostics
import WeftHTTP

/// The text in a step's log about a response: its head, and the start of a text body that is not saved to a
/// file.
struct RequestLog {
  /// The limits for one body, and for all bodies of one attempt.
  static let bodyBytes = 64 << 10
  static let allBodyBytes = 1 << 20

  private var capacity = RequestLog.allBodyBytes

  /// The request, redirects with the requests that follow them, and the head of the response.
  ///
  /// - Parameter method: The method of the first request.
  func head(of response: HTTPResponse, to method: HTTPMethod) -> [UInt8] {
    let lines =
      requests(method, to: response.url, response.redirects)
      + head(response.head, response.figures)
    return Array(lines.utf8)
  }

  private func requests(
    _ method: HTTPMethod, to url: HTTPURL, _ redirects: [RedirectHop]
  ) -> String {
    redirects.reduce(into: "\(method.name) \(redirects.first?.from ?? url)\n") { lines, hop in
      lines += "\(hop.status) \(hop.from) -> \(hop.to)\n\(hop.method.name) \(hop.to)\n"
    }
  }

  private func head(_ head: HTTPResponseHead, _ figures: ExchangeFigures) -> String {
    let fields = head.headers.fields.map { "\($0.name): \($0.value)\n" }.joined()
    return "\(figures.protocolVersion ?? "HTTP") \(head.status)\n\(fields)\n"
  }

  /// The text about a request without a complete response: what was sent, and as much of the response as arrived.
  mutating func text(of failure: HTTPFailure, of request: HTTPRequest) -> [UInt8] {
    let requests = requests(request.method, to: request.url, failure.redirects)
    guard let response = failure.response else { return Array("\(requests)[no response]\n".utf8) }
    var text = Array((requests + head(response.head, failure.figures)).utf8)
    text += body(of: HTTPResponse(response, failure, to: request))
    // The response with a redirect that is not followed is complete.
    if case .redirect = failure.kind { return text }
    let received = Count(response.bodyBytesReceived, "byte")
    return text + "[response incomplete: \(received) of the body received]\n".utf8
  }

  mutating func body(of response: HTTPResponse) -> [UInt8] {
    if let path = response.savedTo { return Array("[body saved to \(path)]\n".utf8) }
    guard !response.body.isEmpty else { return [] }
    let size = response.body.count
    guard let text = try? response.text(), !text.utf8.contains(0) else {
      return Array("[\(size) bytes of binary data]\n".utf8)
    }
    let start = text.prefix(upToUTF8: min(RequestLog.bodyBytes, capacity))
    capacity -= start.utf8.count
    var bytes = Array(start.utf8)
    if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
    if start.utf8.count < text.utf8.count || response.isBodyCut {
      bytes += "[body truncated]\n".utf8
    }
    return bytes
  }
}

extension HTTPResponse {
  /// The part of a response that had arrived, as a response. A character at the end of its body may be cut.
  fileprivate init(
    _ incomplete: IncompleteResponse, _ failure: HTTPFailure, to request: HTTPRequest
  ) {
    self.init(
      head: incomplete.head, body: incomplete.body.withoutCutCharacter, method: request.method,
      url: request.url, redirects: failure.redirects, figures: failure.figures)
  }
}

extension [UInt8] {
  /// The bytes without the beginning of a UTF-8 sequence at their end.
  fileprivate var withoutCutCharacter: [UInt8] {
    guard let start = suffix(4).lastIndex(where: { !UTF8.isContinuation($0) }) else { return self }
    let length =
      switch self[start] {
      case 0xF0...: 4
      case 0xE0...: 3
      case 0xC0...: 2
      default: 1
      }
    return start + length > count && length > 1 ? Array(self[..<start]) : self
  }
}

extension String {
  /// The longest prefix of whole characters that fits.
  fileprivate func prefix(upToUTF8 count: Int) -> Substring {
    guard utf8.count > count else { return self[...] }
    var end = utf8.index(startIndex, offsetBy: max(0, count))
    while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
    return self[..<end]
  }
}
