public import WeftFutures
import WeftPlatform

/// The reason why there is no usable response. A response with any status is not a failure.
public struct HTTPFailure: Error, Sendable {
  /// The error and its details.
  public let kind: Kind
  /// Whether the server may have processed the request: sending had begun, and the request is not repeatable.
  public let isInDoubt: Bool
  /// The redirects before the failure.
  public var redirects: [RedirectHop]
  /// The measurements up to the failure.
  public var figures: ExchangeFigures
  /// The partially saved file, which another request can resume.
  public var partial: PartialFile?
  /// The part of the response that had arrived; `nil` if its head had not.
  public var response: IncompleteResponse?

  /// Creates a failure, for custom transports.
  public init(
    _ kind: Kind, isInDoubt: Bool = false, redirects: [RedirectHop] = [],
    figures: ExchangeFigures = ExchangeFigures(), partial: PartialFile? = nil,
    response: IncompleteResponse? = nil
  ) {
    self.kind = kind
    self.isInDoubt = isInDoubt
    self.redirects = redirects
    self.figures = figures
    self.partial = partial
    self.response = response
  }

  /// The kinds of failures, with their details.
  public enum Kind: Error, Sendable, Hashable {
    /// libcurl cannot be loaded.
    case unavailable(String)
    /// The request is invalid; nothing was sent.
    case invalid(RequestError)
    case dns(host: String)
    case connect(to: String, why: String)
    /// The proxy refuses a connection to the server for good, with this status.
    case proxy(status: Int)
    case tls(TLSFault, why: String)
    /// The connection broke.
    case reset(why: String)
    /// The server closed the connection without a response, or within the head of one.
    case empty
    /// The body was truncated.
    case partial(received: Int, expected: Int?)
    case timeout(Deadline, after: Duration)
    case limit(Limit, Int)
    /// The response is not valid HTTP.
    case malformed(String)
    case redirect(RedirectError)
    /// The address is not permitted.
    case address(String)
    /// A file to send or to save to failed.
    case file(path: String, why: String)
    case cancelled
    /// An unexpected error.
    case other(String)
  }

  /// The deadlines of ``HTTPDeadlines``.
  public enum Deadline: String, Sendable, Hashable { case connect, idle, total }

  /// The part that had too many bytes.
  public enum Limit: Sendable, Hashable { case body, headers }

  /// The problem with TLS.
  public enum TLSFault: String, Sendable, Hashable {
    case selfSigned = "self-signed"
    case expired
    case notYetValid = "not yet valid"
    case unknownAuthority = "unknown authority"
    case wrongHost = "wrong host"
    case revoked
    /// A file of ``TLSFiles`` is unusable.
    case ownFiles = "own files"
    /// The key in a file of ``TLSFiles`` is encrypted; passwords are not supported.
    case encryptedKey = "encrypted key"
    /// The server requires a certificate of the client, or refuses the one that it got.
    case clientCertificate = "client certificate"
    case handshake
  }
}

extension HTTPFailure: DropRepresentable {
  /// A transport dropped its promise.
  public static func promiseDropped(_ dropped: PromiseDroppedError) -> HTTPFailure {
    HTTPFailure(.other(dropped.description))
  }
}

/// The problem with an invalid request.
public enum RequestError: Error, Sendable, Hashable {
  case method(String)
  case headerName(String)
  /// The value is not included because it may be secret.
  case headerValue(name: String)
  /// A header that only the library may set.
  case reservedHeader(String)
  /// A user, a password or a token that cannot be sent: the fault in words, without the value.
  case credentials(String)
  case bodyNotAllowed(method: String)
  case deadline(HTTPFailure.Deadline, Duration)
  case limit(Int)
  case multipartName(String)
  case text(of: String)
  /// Only the start of the URL: the rest may contain a password.
  case proxy(String)
  case saveWithoutName(String)

  /// The error as a sentence without a full stop.
  public var message: String {
    switch self {
    case .method(let name): "\"\(name)\" is not a valid method"
    case .headerName(let name): "\"\(name)\" is not a valid header name"
    case .headerValue(let name):
      "the value of header \"\(name)\" has a line break or another control character"
    case .reservedHeader(let name):
      "header \"\(name)\" cannot be set: it is derived from the request"
    case .credentials(let fault): fault
    case .bodyNotAllowed(let method): "a \(method) request has no body"
    case .deadline(let which, let duration):
      "the \(which.rawValue) deadline is \(duration), expected more than 0 and at most 30 days"
    case .limit(let count): "the limit is \(count) bytes, expected none or more than 0"
    case .multipartName(let name):
      "\"\(name)\" is not a valid name of a part or a file: it has a line break or a NUL"
    case .proxy(let start):
      "\"\(start)\" is not a proxy, expected a URL with "
        + HTTPProxy.schemes.dropLast().joined(separator: ", ") + " or socks5h"
    case .text(let what): "\(what) has a NUL character"
    case .saveWithoutName(let path): "\"\(path)\" names no file to save to"
    }
  }
}

extension HTTPFailure {
  /// The error class for `retry.on` (SPEC) and for events.
  public var errorClass: String {
    switch kind {
    case .unavailable, .invalid, .other: "action"
    case .dns: "network:dns"
    case .connect, .address: "network:connect"
    case .proxy(let status): "http:\(status)"
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
    case .redirect(.downgrade):
      "allow the redirect to http explicitly, or use the http URL directly"
    case .redirect(.bodyToOtherOrigin(_, let url)), .redirect(.methodToOtherOrigin(_, _, let url)):
      "send the request directly to \(url)"
    case .tls(.selfSigned, _), .tls(.unknownAuthority, _):
      "to trust the authority, name its PEM file: \"tls\": { \"caFile\": … }"
    case .tls(.clientCertificate, _):
      "name PEM files that the server accepts: \"tls\": { \"certFile\": …, \"keyFile\": … }"
    case .tls(.encryptedKey, let path):
      "decrypt it into a file that only you can read: openssl pkey -in \(path) -out plain.key"
    case .proxy(407):
      "the proxy asks for a user and a password: \"proxy\": \"http://USER:PASSWORD@HOST:PORT\""
    case .limit(.body, _): "raise the limit, or save the body into a file"
    case .file(_, SystemError.notFound.description):
      "create the file, or the directory to save into, in an earlier step"
    case .partial where partial != nil:
      "the received bytes are kept, and the next attempt continues after them"
    default: nil
    }
  }
}

extension HTTPFailure.Kind {
  /// The failure as a sentence without a full stop.
  public var message: String {
    switch self {
    case .unavailable(let why): "cannot load libcurl, which HTTP needs: \(why)"
    case .invalid(let fault): fault.message
    case .dns(let host): "cannot resolve host \"\(host)\""
    case .connect(let place, let why): "cannot connect to \(place): \(why)"
    case .proxy(let status): "the proxy does not connect to the server: it answered \(status)"
    case .tls(let fault, let why): fault.message(why)
    case .reset(let why): "the connection was lost: \(why)"
    case .empty: "the server closed the connection without a complete response"
    case .partial(let received, let expected?):
      "the body ended after \(received) of \(expected) bytes"
    case .partial(let received, nil): "the body ended after \(received) bytes, before its end"
    case .timeout(.connect, let limit): "could not connect within \(limit)"
    case .timeout(.idle, let limit): "no data was sent or received for \(limit)"
    case .timeout(.total, let limit): "the response was not complete within \(limit)"
    case .limit(.body, let count): "the body has more than \(count) bytes"
    case .limit(.headers, let count): "the headers have more than \(count) bytes"
    case .malformed(let what): "invalid HTTP response: \(what)"
    case .redirect(let fault): fault.message
    case .address(let address):
      "\(address) is not a public address, and only those are allowed"
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
      case .selfSigned: "the server's certificate is self-signed"
      case .expired: "the server's certificate has expired"
      case .notYetValid: "the server's certificate is not valid yet"
      case .unknownAuthority: "the server's certificate is from an unknown authority"
      case .wrongHost: "the server's certificate is for another host"
      case .revoked: "the server's certificate has been revoked"
      case .ownFiles: "a file for TLS cannot be used"
      case .encryptedKey: "the key of the client's certificate is encrypted"
      case .clientCertificate:
        "the server requires a certificate of the client, or refuses the one that it got"
      case .handshake: "TLS handshake failed"
      }
    return why.isEmpty ? what : "\(what): \(why)"
  }
}

/// The checks of ``WireRequest`` one by one, for callers that know parts of a request before the whole.
extension HTTPMethod {
  /// Validates the method.
  package func check() throws(RequestError) { try HeaderCheck.method(self) }

  /// Whether a request with this method may have a body.
  package var mayHaveBody: Bool { !["HEAD", "TRACE"].contains(name) }
}

extension HTTPHeader {
  /// Validates a header that a caller sets.
  package func check() throws(RequestError) { try HeaderCheck.given(self) }

  /// Validates name and value alone, as for a header that a server sends.
  package func checkLine() throws(RequestError) { try HeaderCheck.line(self) }
}

/// The part of a response that arrived before its exchange failed.
public struct IncompleteResponse: Sendable, Hashable {
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The start of the decompressed body: at most ``bodyLimitBytes``. Empty if a writer received it.
  public let body: [UInt8]
  /// The body bytes as received, before decompression.
  public let bodyBytesReceived: Int

  /// The most that is kept of a body.
  public static let bodyLimitBytes = 64 << 10

  /// Creates the part of a response, for custom transports. Keeps the start of the body.
  ///
  /// - Parameter received: The size of the body as it was received; without it, that of `body`.
  public init(head: HTTPResponseHead, body: [UInt8] = [], received: Int? = nil) {
    self.head = head
    bodyBytesReceived = received ?? body.count
    self.body =
      body.count > Self.bodyLimitBytes ? Array(body.prefix(Self.bodyLimitBytes)) : body
  }
}
