import CWeftCurl
import WeftPlatform

/// What libcurl says about a transfer that failed; what that means is decided here.
struct CurlOutcome: Hashable {
  var code: Int
  /// libcurl's words.
  var message: String
  /// The errno of the connection; 0: none.
  var systemError = 0
  /// The TLS library's judgement of the certificate; 0: content, or not asked.
  var verifyResult = 0
  var bodyBytesReceived = 0
  var head: HTTPResponseHead?
  var connectLimit: Duration?
  var url: HTTPURL

  var kind: HTTPFailure.Kind {
    switch weft_curl_code(UInt32(code)) {
    case WEFT_CURLE_COULDNT_RESOLVE_HOST: .dns(host: url.host)
    case WEFT_CURLE_COULDNT_RESOLVE_PROXY: .dns(host: "the proxy")
    case WEFT_CURLE_COULDNT_CONNECT, WEFT_CURLE_PROXY:
      .connect(to: url.origin.description, why: reason)
    case WEFT_CURLE_OPERATION_TIMEDOUT: .timeout(.connect, after: connectLimit ?? .seconds(300))
    case WEFT_CURLE_GOT_NOTHING: .empty
    case WEFT_CURLE_PARTIAL_FILE:
      .partial(received: bodyBytesReceived, expected: head?.contentLength)
    case WEFT_CURLE_RECV_ERROR: received
    case WEFT_CURLE_SEND_ERROR, WEFT_CURLE_SEND_FAIL_REWIND, WEFT_CURLE_HTTP2_STREAM:
      .reset(why: reason)
    case WEFT_CURLE_PEER_FAILED_VERIFICATION: .tls(certificateFault, why: message)
    case WEFT_CURLE_SSL_ISSUER_ERROR: .tls(.unknownAuthority, why: message)
    case WEFT_CURLE_SSL_CERTPROBLEM, WEFT_CURLE_SSL_CACERT_BADFILE, WEFT_CURLE_SSL_CLIENTCERT,
      WEFT_CURLE_SSL_ENGINE_NOTFOUND:
      .tls(.ownFiles, why: message)
    case WEFT_CURLE_SSL_CONNECT_ERROR where endsInHandshake: .reset(why: message)
    case WEFT_CURLE_SSL_CONNECT_ERROR, WEFT_CURLE_SSL_CIPHER: .tls(.handshake, why: message)
    case WEFT_CURLE_WEIRD_SERVER_REPLY, WEFT_CURLE_UNSUPPORTED_PROTOCOL, WEFT_CURLE_HTTP2,
      WEFT_CURLE_BAD_CONTENT_ENCODING:
      .malformed(message)
    // libcurl has limits of its own for one line, below which this package's may not stay.
    case WEFT_CURLE_TOO_LARGE: .limit(.headers, Self.lineLimit)
    case WEFT_CURLE_OUT_OF_MEMORY where head == nil: .limit(.headers, Self.lineLimit)
    default: .other("libcurl: \(message) (\(code))")
    }
  }

  /// CURL_MAX_HTTP_HEADER.
  private static let lineLimit = 100 * 1024

  private var reason: String {
    systemError == 0 ? message : SystemError(number: Int32(systemError)).description
  }

  /// Whether the connection broke while TLS was agreed on, which says nothing of what is agreed on: the
  /// words of OpenSSL, and libcurl's for what the system says.
  private var endsInHandshake: Bool {
    let text = ASCII.lowercased(message)
    return ["reset by peer", "ssl_error_syscall", "unexpected eof"].contains { text.contains($0) }
  }

  /// Code 56 is for all that can go wrong while something is received: the connection, or how chunks are
  /// written.
  private var received: HTTPFailure.Kind {
    let text = ASCII.lowercased(message)
    // The words before the number, which may be of an earlier call.
    if text.contains("chunk") || text.contains("hexadecimal") || text.contains("encoding") {
      return .malformed(message)
    }
    if systemError != 0 || text.contains("recv failure") || text.contains("reset") {
      return .reset(why: reason)
    }
    // Through a proxy that refused: "CONNECT tunnel failed, response 403".
    if text.contains("connect") || text.contains("proxy") {
      return .connect(to: url.origin.description, why: message)
    }
    // OpenSSL's "unexpected eof while reading" is a body without its end.
    if text.contains("eof") {
      return .partial(received: bodyBytesReceived, expected: head?.contentLength)
    }
    return .reset(why: message)
  }

  /// X509_V_ERR_… of OpenSSL and what stems from it; else by the words.
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
