import WeftPlatform

/// Validates what is sent. A line break in a header would inject another one.
enum HeaderCheck {
  static func method(_ method: HTTPMethod) throws(RequestError) {
    guard ASCII.isToken(method.name), method.name != "CONNECT" else { throw .method(method.name) }
  }

  /// Validates a header that the caller sets.
  static func given(_ header: HTTPHeader) throws(RequestError) {
    if reserved.contains(ASCII.lowercased(header.name)) { throw .reservedHeader(header.name) }
    try line(header)
  }

  static func line(_ header: HTTPHeader) throws(RequestError) {
    guard ASCII.isToken(header.name) else { throw .headerName(header.name) }
    guard isValue(header.value) else { throw .headerValue(name: header.name) }
  }

  /// Whether the text is a valid header value (RFC 9110 §5.5).
  static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// The headers that control message framing and the connection.
  private static let reserved: Set<String> = [
    "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]
}

extension HTTPAuth {
  init(_ credentials: URLCredentials) {
    self = .basic(user: credentials.user, password: credentials.password)
  }

  func header() throws(RequestError) -> HTTPHeader {
    let value: String
    switch self {
    case .bearer(let token):
      guard !token.isEmpty, HeaderCheck.isValue(token), !token.contains(" ") else {
        throw .credentials
      }
      value = "Bearer " + token
    case .basic(let user, let password):
      guard !user.utf8.contains(UInt8(ascii: ":")), HeaderCheck.isValue(user + password) else {
        throw .credentials
      }
      value = "Basic " + Base64.text(of: "\(user):\(password)".utf8)
    }
    return HTTPHeader("Authorization", value, isSecret: true)
  }
}
