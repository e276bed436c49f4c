import CWeftCurl
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
    // libcurl limits single lines on its own, possibly below this package's limits.
    case WEFT_CURLE_TOO_LARGE: .limit(.headers, Self.lineLimit)
    case WEFT_CURLE_OUT_OF_MEMORY where head == nil: .limit(.headers, Self.lineLimit)
    default: .other("libcurl: \(message) (\(code))")
    }
  }

  /// The value of `CURL_MAX_HTTP_HEADER`.
  private static let lineLimit = 100 * 1024

  private var reason: String {
    systemError == 0 ? message : SystemError(number: Int32(systemError)).description
  }

  /// Whether the connection broke during the TLS handshake, which says nothing about its parameters. Matches the
  /// messages of OpenSSL and libcurl's text for system errors.
  private var endsInHandshake: Bool {
    let text = ASCII.lowercased(message)
    return ["reset by peer", "ssl_error_syscall", "unexpected eof"].contains { text.contains($0) }
  }

  /// Interprets code 56, which covers every failure while receiving: the connection or the chunked encoding.
  private var received: HTTPFailure.Kind {
    let text = ASCII.lowercased(message)
    // The message goes first: the error number may belong to an earlier call.
    if text.contains("chunk") || text.contains("hexadecimal") || text.contains("encoding") {
      return .malformed(message)
    }
    if systemError != 0 || text.contains("recv failure") || text.contains("reset") {
      return .reset(why: reason)
    }
    // A proxy that refused: "CONNECT tunnel failed, response 403".
    if text.contains("connect") || text.contains("proxy") {
      return .connect(to: url.origin.description, why: message)
    }
    // OpenSSL's "unexpected eof while reading" is a truncated body.
    if text.contains("eof") {
      return .partial(received: bodyBytesReceived, expected: head?.contentLength)
    }
    return .reset(why: message)
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
