public import WeftFutures

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

  /// Creates a failure, for custom transports.
  public init(
    _ kind: Kind, isInDoubt: Bool = false, redirects: [RedirectHop] = [],
    figures: ExchangeFigures = ExchangeFigures(), partial: PartialFile? = nil
  ) {
    self.kind = kind
    self.isInDoubt = isInDoubt
    self.redirects = redirects
    self.figures = figures
    self.partial = partial
  }

  /// The kinds of failures, with their details.
  public enum Kind: Error, Sendable, Hashable {
    /// libcurl cannot be loaded.
    case unavailable(String)
    /// The request is invalid; nothing was sent.
    case invalid(RequestError)
    case dns(host: String)
    case connect(to: String, why: String)
    case tls(TLSFault, why: String)
    /// The connection broke.
    case reset(why: String)
    /// The server closed the connection without a response.
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
  case credentials
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
    case .method(let name): "\"\(name)\" is no method that can be sent"
    case .headerName(let name): "\"\(name)\" is no name of a header"
    case .headerValue(let name):
      "the value of header \"\(name)\" has a line break or another control character"
    case .reservedHeader(let name): "header \"\(name)\" cannot be set: it follows from the request"
    case .credentials: "user, password or token has a character that cannot be sent"
    case .bodyNotAllowed(let method): "a \(method) request has no body"
    case .deadline(let which, let duration):
      "the \(which.rawValue) deadline is \(duration), expected more than 0 and at most 30 days"
    case .limit(let count): "a limit of \(count) bytes, expected none or more than 0"
    case .multipartName(let name): "\"\(name)\" is no name of a part: it has a line break or a NUL"
    case .proxy(let start):
      "\"\(start)\" is no proxy, expected a URL with "
        + HTTPProxy.schemes.dropLast().joined(separator: ", ") + " or socks5h"
    case .text(let what): "\(what) has a NUL character"
    case .saveWithoutName(let path): "\"\(path)\" names no file to save to"
    }
  }
}
