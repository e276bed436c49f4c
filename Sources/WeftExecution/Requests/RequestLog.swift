import WeftHTTP

/// The text in a step's log about a response: its head, and the start of a text body that is not saved to a
/// file.
struct RequestLog {
  /// The limits for one body, and for all bodies of one attempt.
  static let bodyBytes = 64 << 10
  static let allBodyBytes = 1 << 20

  private var room = RequestLog.allBodyBytes

  /// The request, redirects, and the head of the response.
  func head(of response: HTTPResponse) -> [UInt8] {
    var lines = "\(response.method) \(response.url)\n"
    for hop in response.redirects { lines += "\(hop.status) \(hop.from) -> \(hop.to)\n" }
    lines += "\(response.figures.protocolVersion ?? "HTTP") \(response.status)\n"
    for header in response.headers.fields { lines += "\(header.name): \(header.value)\n" }
    lines += "\n"
    return Array(lines.utf8)
  }

  mutating func body(of response: HTTPResponse) -> [UInt8] {
    if let path = response.savedTo { return Array("[the body is in \(path)]\n".utf8) }
    guard !response.body.isEmpty else { return [] }
    let size = response.body.count
    guard let text = try? response.text(), !text.utf8.contains(0) else {
      return Array("[\(size) bytes that are not text]\n".utf8)
    }
    let start = text.prefix(upToUTF8: min(RequestLog.bodyBytes, room))
    room -= start.utf8.count
    var bytes = Array(start.utf8)
    if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
    if start.utf8.count < text.utf8.count || response.isBodyCut {
      bytes += "[the body goes on]\n".utf8
    }
    return bytes
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
