import CWeftCurl
import WeftEncoding
import WeftHTTP
import WeftPlatform

/// libcurl's report about a failed transfer, and its interpretation.
struct CurlOutcome: Hashable {
  var code: Int
  /// libcurl's error message.
  var message: String
  /// The errno of the connection; 0 if there is none.
  var systemError = 0
  /// The TLS library's verdict on the certificate; 0 if it is valid or was not checked.
  var verifyResult = 0
  var bodyBytesReceived = 0
  var head: HTTPResponseHead?
  var connectLimit: Duration?
  /// Whether the connection may be one to a proxy.
  var mayUseProxy = false
  var url: HTTPURL

  var kind: HTTPFailure.Kind {
    switch weft_curl_code(UInt32(code)) {
    case WEFT_CURLE_COULDNT_RESOLVE_HOST: .dns(host: url.host)
    case WEFT_CURLE_COULDNT_RESOLVE_PROXY: .dns(host: "the proxy")
    case WEFT_CURLE_COULDNT_CONNECT, WEFT_CURLE_PROXY: .connect(to: peer, why: reason)
    case WEFT_CURLE_OPERATION_TIMEDOUT: .timeout(.connect, after: connectLimit ?? .seconds(300))
    case WEFT_CURLE_GOT_NOTHING: .empty
    case WEFT_CURLE_PARTIAL_FILE:
      .partial(received: bodyBytesReceived, expected: head?.contentLength)
    case WEFT_CURLE_RECV_ERROR: received
    case WEFT_CURLE_SEND_ERROR where isRefusedByPeer: refusal
    // The body is not to be sent again.
    case WEFT_CURLE_SEND_FAIL_REWIND: CurlOutcome.closedOnRequest
    case WEFT_CURLE_SEND_ERROR, WEFT_CURLE_HTTP2_STREAM: .reset(why: reason)
    case WEFT_CURLE_PEER_FAILED_VERIFICATION: .tls(certificateFault, why: message)
    case WEFT_CURLE_SSL_ISSUER_ERROR: .tls(.unknownAuthority, why: message)
    case WEFT_CURLE_SSL_CERTPROBLEM, WEFT_CURLE_SSL_CACERT_BADFILE, WEFT_CURLE_SSL_CLIENTCERT,
      WEFT_CURLE_SSL_ENGINE_NOTFOUND:
      .tls(.ownFiles, why: message)
    case WEFT_CURLE_SSL_CONNECT_ERROR where endsInHandshake: .reset(why: message)
    case WEFT_CURLE_SSL_CONNECT_ERROR where isRefusedByPeer: refusal
    case WEFT_CURLE_SSL_CONNECT_ERROR, WEFT_CURLE_SSL_CIPHER: .tls(.handshake, why: message)
    case WEFT_CURLE_WEIRD_SERVER_REPLY, WEFT_CURLE_UNSUPPORTED_PROTOCOL, WEFT_CURLE_HTTP2,
      WEFT_CURLE_BAD_CONTENT_ENCODING:
      .malformed(message)
    // libcurl limits single lines on its own, possibly below this package's limits.
    case WEFT_CURLE_TOO_LARGE: .limit(.headers, Self.lineLimit)
    case WEFT_CURLE_OUT_OF_MEMORY where head == nil: .limit(.headers, Self.lineLimit)
    default: .other("libcurl: \(message) (\(code))")
    }
  }

  /// The end of a kept connection by the server, on which libcurl would send the request again.
  static let closedOnRequest = HTTPFailure.Kind.reset(
    why: "the server closed it when it received the request")

  /// The value of `CURL_MAX_HTTP_HEADER`.
  private static let lineLimit = 100 * 1024

  private var reason: String {
    // A message of OpenSSL with "errno" says what there is to say: the other number is that of an earlier call, such as
    // an attempt at another address.
    if systemError == 0 || ASCII.lowercased(message).contains("errno ") { return message }
    return SystemError(number: Int32(systemError)).description
  }

  /// Whether the connection broke during the TLS handshake, which says nothing about its parameters. Matches the
  /// messages of OpenSSL and libcurl's text for system errors.
  private var endsInHandshake: Bool {
    let text = ASCII.lowercased(message)
    return ["reset by peer", "ssl_error_syscall", "unexpected eof"].contains { text.contains($0) }
  }

  /// The server or the proxy to which there is no connection. libcurl names it: "Failed to connect to h port 80".
  private var peer: String {
    let words = message.split(separator: " ")
    guard mayUseProxy, words.starts(with: ["Failed", "to", "connect", "to"]), words.count > 6,
      words[5] == "port", let port = Int(words[6].prefix { $0.isNumber }),
      words[4] != url.host || port != url.port
    else { return url.origin.description }
    return "the proxy \(words[4]):\(port)"
  }

  /// Whether the server ended TLS with an alert, such as "tlsv13 alert certificate required" in OpenSSL's words.
  private var isRefusedByPeer: Bool { ASCII.lowercased(message).contains("alert ") }

  private var refusal: HTTPFailure.Kind {
    let text = ASCII.lowercased(message)
    let isOfCertificate = text.contains("certificate") || text.contains("unknown ca")
    return .tls(isOfCertificate ? .clientCertificate : .handshake, why: message)
  }

  /// Interprets code 56, which covers every failure while receiving: the connection or the chunked encoding.
  private var received: HTTPFailure.Kind {
    let text = ASCII.lowercased(message)
    // The message goes first: the error number may belong to an earlier call.
    if text.contains("chunk") || text.contains("hexadecimal") || text.contains("encoding") {
      return .malformed(message)
    }
    // With TLS 1.3, a server refuses the client's certificate after the handshake.
    if isRefusedByPeer { return refusal }
    // OpenSSL's "unexpected eof while reading" is a truncated body.
    if text.contains("eof") {
      return .partial(received: bodyBytesReceived, expected: head?.contentLength)
    }
    if let status = proxyStatus(text) {
      return HTTPResponseHead.isTransient(status)
        ? .connect(to: url.origin.description, why: message) : .proxy(status: status)
    }
    if systemError != 0 || text.contains("recv failure") || text.contains("reset") {
      return .reset(why: reason)
    }
    if text.contains("connect") || text.contains("proxy") {
      return .connect(to: url.origin.description, why: message)
    }
    return .reset(why: message)
  }

  /// The status with which a proxy refused a tunnel: "connect tunnel failed, response 403", or, in versions before 7.88,
  /// "received http code 403 from proxy after connect".
  private func proxyStatus(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.contains("connect"),
      let place = words.firstIndex(where: { ["response", "code"].contains($0) }),
      place + 1 < words.count
    else { return nil }
    return Int(words[place + 1]).flatMap { (100...599).contains($0) ? $0 : nil }
  }

  /// Interprets X509_V_ERR_… of OpenSSL and its derivatives; otherwise the message.
  private var certificateFault: HTTPFailure.TLSFault {
    switch verifyResult {
    case 9: return .notYetValid
    case 10: return .expired
    case 18: return .selfSigned
    case 2, 19, 20, 21: return .unknownAuthority
    case 23: return .revoked
    case 62: return .wrongHost
    default: break
    }
    let text = ASCII.lowercased(message)
    if text.contains("expired") { return .expired }
    if text.contains("self-signed") || text.contains("self signed") { return .selfSigned }
    if text.contains("subject name") || text.contains("match") { return .wrongHost }
    return .unknownAuthority
  }
}

/// Whether an address is public: not one of this machine, of a private network or of a special purpose (IANA's
/// special-purpose address registries, RFC 6890).
enum PublicAddress {
  /// - Parameter bytes: Four or sixteen, in network byte order.
  static func isPublic(_ bytes: [UInt8]) -> Bool {
    switch bytes.count {
    case 4: isPublicFour(bytes)
    case 16: isPublicSixteen(bytes)
    default: false
    }
  }

  private static func isPublicFour(_ bytes: [UInt8]) -> Bool {
    let address = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return !specialFour.contains { network, bits in
      (address ^ network) >> (32 - bits) == 0
    }
  }

  private static let specialFour: [(UInt32, UInt32)] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
    (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16),
    (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]

  private static func isPublicSixteen(_ bytes: [UInt8]) -> Bool {
    // ::ffff:a.b.c.d, 64:ff9b::a.b.c.d and 2002:a.b.c.d:: reach the IPv4 address embedded in them.
    if bytes.starts(with: mapped) || bytes.starts(with: translated) {
      return isPublicFour(Array(bytes.suffix(4)))
    }
    if bytes.starts(with: [0x20, 0x02]) { return isPublicFour(Array(bytes[2..<6])) }
    // Only 2000::/3 is allocated; these parts of it are special: 2001::/23, 2001:db8::/32 and 3fff::/20.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    if bytes.starts(with: [0x20, 0x01]) {
      return bytes[2] > 0x01 && !bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8])
    }
    return !(bytes.starts(with: [0x3F, 0xFF]) && bytes[2] & 0xF0 == 0)
  }

  private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
  private static let translated: [UInt8] =
    [0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)

  /// The text form: "127.0.0.1", or "[::1]" with all groups written out.
  static func text(_ bytes: [UInt8]) -> String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { at in
      String(UInt16(bytes[at]) << 8 | UInt16(bytes[at + 1]), radix: 16)
    }
    return "[" + groups.joined(separator: ":") + "]"
  }
}
