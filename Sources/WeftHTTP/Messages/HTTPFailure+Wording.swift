extension HTTPFailure {
  /// The error class for `retry.on` (SPEC) and for events.
  public var errorClass: String {
    switch kind {
    case .unavailable, .invalid, .other: "action"
    case .dns: "network:dns"
    case .connect, .address: "network:connect"
    case .tls: "network:tls"
    case .reset: "network:reset"
    case .empty, .partial: "network:read"
    case .timeout: "timeout"
    case .limit: "limit"
    case .malformed: "protocol"
    case .redirect: "redirect"
    case .file: "output"
    case .cancelled: "cancelled"
    }
  }

  /// The failure as a sentence without a full stop.
  public var message: String { kind.message }

  /// The suggested remedy, if there is one.
  public var help: String? {
    switch kind {
    case .unavailable:
      "install libcurl 7.68 or newer: package libcurl4 on Debian and Ubuntu, libcurl on Fedora and Alpine"
    case .redirect(.downgrade): "allow the redirect to http explicitly, or ask http at once"
    case .redirect(.bodyToOtherOrigin(_, let url)), .redirect(.methodToOtherOrigin(_, _, let url)):
      "send the request to \(url) itself"
    case .tls(.selfSigned, _), .tls(.unknownAuthority, _):
      "name the authority's PEM file if it is to be trusted"
    case .tls(.encryptedKey, let path):
      "decrypt it into a file that nobody else can read: openssl pkey -in \(path) -out plain.key"
    case .limit(.body, _): "raise the limit, or save the body into a file"
    case .partial where partial != nil: "the bytes that came are kept, and the next attempt goes on"
    default: nil
    }
  }
}

extension HTTPFailure.Kind {
  /// The failure as a sentence without a full stop.
  public var message: String {
    switch self {
    case .unavailable(let why): "libcurl, which does HTTP, cannot be opened: \(why)"
    case .invalid(let fault): fault.message
    case .dns(let host): "cannot resolve host \"\(host)\""
    case .connect(let place, let why): "no connection to \(place): \(why)"
    case .tls(let fault, let why): fault.message(why)
    case .reset(let why): "the connection broke: \(why)"
    case .empty: "the server closed the connection without an answer"
    case .partial(let received, let expected?):
      "the body ended after \(received) of \(expected) bytes"
    case .partial(let received, nil): "the body ended after \(received) bytes, before its end"
    case .timeout(.connect, let limit): "no connection within \(limit)"
    case .timeout(.idle, let limit): "not a byte came or went for \(limit)"
    case .timeout(.total, let limit): "the answer was not complete within \(limit)"
    case .limit(.body, let count): "the body has more than \(count) bytes"
    case .limit(.headers, let count): "the headers have more than \(count) bytes"
    case .malformed(let what): "the answer is not HTTP as it should be: \(what)"
    case .redirect(let fault): fault.message
    case .address(let address):
      "\(address) is not a public address, and no other may be connected to"
    case .file(let path, let why): "\"\(path)\": \(why)"
    case .cancelled: "cancelled"
    case .other(let what): what
    }
  }
}

extension HTTPFailure.TLSFault {
  func message(_ why: String) -> String {
    let what =
      switch self {
      case .selfSigned: "the server's certificate is signed by itself"
      case .expired: "the server's certificate has expired"
      case .notYetValid: "the server's certificate is not valid yet"
      case .unknownAuthority: "the server's certificate is of an unknown authority"
      case .wrongHost: "the server's certificate is for another host"
      case .revoked: "the server's certificate has been revoked"
      case .ownFiles: "a file for TLS cannot be used"
      case .encryptedKey: "the key of the client's certificate is encrypted"
      case .handshake: "TLS handshake failed"
      }
    return why.isEmpty ? what : "\(what): \(why)"
  }
}
