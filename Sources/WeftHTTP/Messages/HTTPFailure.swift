public import WeftFutures

/// Why there is no answer, or none that can be used. An answer of whatever status is none of these.
public struct HTTPFailure: Error, Sendable {
  /// What went wrong.
  public let kind: Kind
  /// Whether the server may have done what was asked: the request had begun to be sent, and doing it twice
  /// is not like doing it once.
  public let isInDoubt: Bool
  /// What had redirected before.
  public var redirects: [RedirectHop]
  /// How far it had come.
  public var figures: ExchangeFigures
  /// What had been saved, for another request to go on with.
  public var partial: PartialFile?

  /// Makes a failure; a transport of one's own needs that.
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

  /// What can go wrong, and the facts that belong to it.
  public enum Kind: Error, Sendable, Hashable {
    /// libcurl cannot be opened.
    case unavailable(String)
    /// Nothing was sent.
    case invalid(RequestFault)
    case dns(host: String)
    case connect(to: String, why: String)
    case tls(TLSFault, why: String)
    /// The connection broke.
    case reset(why: String)
    /// The server closed the connection without a word.
    case empty
    /// The body ended before its end.
    case partial(received: Int, expected: Int?)
    case timeout(Deadline, after: Duration)
    case limit(Limit, Int)
    /// What came is not HTTP as it should be.
    case malformed(String)
    case redirect(RedirectFault)
    /// The address is none of those that may be connected to.
    case address(String)
    /// A file to be sent or saved.
    case file(path: String, why: String)
    case cancelled
    /// Something that cannot happen did.
    case other(String)
  }

  /// Those of ``HTTPDeadlines``.
  public enum Deadline: String, Sendable, Hashable { case connect, idle, total }

  /// What had too many bytes.
  public enum Limit: Sendable, Hashable { case body, headers }

  /// What TLS was not content with.
  public enum TLSFault: String, Sendable, Hashable {
    case selfSigned = "self-signed"
    case expired
    case notYetValid = "not yet valid"
    case unknownAuthority = "unknown authority"
    case wrongHost = "wrong host"
    case revoked
    /// A file of ``TLSFiles``.
    case ownFiles = "own files"
    /// The key in a file of ``TLSFiles`` is encrypted: nobody is asked for its password.
    case encryptedKey = "encrypted key"
    case handshake
  }
}

extension HTTPFailure: DropRepresentable {
  /// A transport forgot to settle.
  public static func promiseDropped(_ dropped: PromiseDropped) -> HTTPFailure {
    HTTPFailure(.other(dropped.description))
  }
}

/// What is wrong with a request.
public enum RequestFault: Error, Sendable, Hashable {
  case method(String)
  case headerName(String)
  /// The value is not told, for it may be secret.
  case headerValue(name: String)
  /// One that only the library itself may set.
  case reservedHeader(String)
  case credentials
  case bodyNotAllowed(method: String)
  case deadline(HTTPFailure.Deadline, Duration)
  case limit(Int)
  case multipartName(String)
  case text(of: String)
  /// What it begins with: the rest may have a password in it.
  case proxy(String)
  case saveWithoutName(String)

  /// What was found, as a sentence without a full stop.
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
