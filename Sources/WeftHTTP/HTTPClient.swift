import Synchronization
public import WeftFutures
import WeftPlatform

/// Sends requests, follows redirects and saves files, using a ``Transport``.
public struct HTTPClient: Sendable {
  private let transport: any Transport
  private let now: @Sendable () -> Duration

  /// Creates a client. Any number of clients may share a transport and its connections.
  public init(transport: any Transport) {
    self.init(transport: transport, now: { MonotonicClock.now })
  }

  /// - Parameter now: The clock for the deadline over all redirects.
  package init(transport: any Transport, now: @escaping @Sendable () -> Duration) {
    self.transport = transport
    self.now = now
  }

  /// Sends a request. A response is a success whatever its status. Cancelling the future cancels the request.
  public func send(_ request: HTTPRequest) -> Future<HTTPResponse, HTTPFailure> {
    if let path = request.saveTo?.path, !DownloadFile.isPath(path) {
      return Future(failure: HTTPFailure(.invalid(.saveWithoutName(path))))
    }
    return advance(Reception(RedirectPolicy(request)), ExchangeProgress(began: now()))
  }

  /// The exchanges before the current one.
  fileprivate struct ExchangeProgress: Sendable {
    let began: Duration
    var hops: [RedirectHop] = []
    var figures: ExchangeFigures?
  }

  private func advance(
    _ reception: Reception, _ progress: ExchangeProgress
  ) -> Future<HTTPResponse, HTTPFailure> {
    let limit = reception.redirects.request.deadlines.total
    let left = limit.map { $0 - (now() - progress.began) }
    if let left, let limit, left <= .zero, limit > .zero {
      return Future(failure: progress.failure(HTTPFailure(.timeout(.total, after: limit))))
    }
    let wire: WireRequest
    do {
      wire = try WireRequest(reception.redirects.request, boundary: Self.boundary(), total: left)
    } catch {
      return Future(failure: progress.failure(HTTPFailure(.invalid(error))))
    }
    return transport.exchange(wire) { reception.plan(for: $0) }.flatMapResult { result in
      switch result {
      case .success(let exchange): arrive(exchange, reception, progress)
      case .failure(let failure):
        Future(failure: progress.failure(reception.complete(failure.withTotalLimit(limit))))
      }
    }
  }

  private func arrive(
    _ exchange: HTTPExchange, _ reception: Reception, _ progress: ExchangeProgress
  ) -> Future<HTTPResponse, HTTPFailure> {
    let figures = progress.figures?.followed(by: exchange.figures) ?? exchange.figures
    guard reception.redirects.follows(exchange.head) else {
      return Future(
        value: HTTPResponse(
          head: exchange.head, body: exchange.body, isBodyCut: exchange.isBodyCut,
          savedTo: reception.savedPath, method: reception.redirects.request.method,
          url: reception.redirects.request.url, redirects: progress.hops, figures: figures,
          cacheStatus: exchange.cacheStatus))
    }
    var redirects = reception.redirects
    let decision = redirects.decision(at: exchange.head)
    let progress = ExchangeProgress(began: progress.began, hops: redirects.hops, figures: figures)
    if case .fails(let fault) = decision {
      let response = IncompleteResponse(head: exchange.head, body: exchange.body)
      return Future(failure: progress.failure(HTTPFailure(.redirect(fault), response: response)))
    }
    return advance(Reception(redirects), progress)
  }

  private static func boundary() -> String {
    guard let bytes = try? Entropy.bytes(18) else {
      preconditionFailure("the system has no random bytes")
    }
    return "weft-"
      + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension HTTPClient.ExchangeProgress {
  fileprivate func failure(_ failure: HTTPFailure) -> HTTPFailure {
    var failure = failure
    failure.redirects = hops
    failure.figures = figures?.followed(by: failure.figures) ?? failure.figures
    return failure
  }
}

extension HTTPFailure {
  /// Reports the whole deadline; the transport only knows the time that was left.
  fileprivate func withTotalLimit(_ total: Duration?) -> HTTPFailure {
    guard case .timeout(.total, _) = kind, let total else { return self }
    return HTTPFailure(
      .timeout(.total, after: total), isInDoubt: isInDoubt, redirects: redirects, figures: figures,
      partial: partial, response: response)
  }
}

/// Decides how the response to one request is received, and remembers where it was saved.
final class Reception: Sendable {
  let redirects: RedirectPolicy
  private let file = Mutex<DownloadFile?>(nil)

  init(_ redirects: RedirectPolicy) { self.redirects = redirects }

  /// The most that is received of the body of a redirect or of a response with an unexpected status.
  static let startBytes = 64 * 1024

  func plan(for head: HTTPResponseHead) -> BodyPlan {
    if redirects.follows(head) { return .keepStart(limit: Self.startBytes) }
    guard redirects.request.expectedStatus.accepts(head.status) else {
      return .keepStart(limit: min(redirects.request.bodyLimit ?? .max, Self.startBytes))
    }
    guard let target = redirects.request.saveTo else {
      return .keep(limit: redirects.request.bodyLimit)
    }
    switch SavePlan(for: head, of: redirects.request, to: target) {
    case .fresh:
      return write(
        DownloadFile(target, kept: head.validator, whole: head.bodyLength), after: 0)
    case .resumed(let partial, let whole):
      guard let file = DownloadFile(resuming: partial, for: target, whole: whole) else {
        return .refuse(.other("a partial file was resumed twice"))
      }
      return write(file, after: partial.size)
    case .impossible(let why): return .refuse(.malformed(why))
    }
  }

  private func write(_ download: DownloadFile, after size: Int) -> BodyPlan {
    file.withLock { $0 = download }
    return .write(download, limit: redirects.request.bodyLimit.map { max(0, $0 - size) })
  }

  var savedPath: String? { file.withLock { $0?.path } }

  /// Returns the failure with the partial file attached.
  func complete(_ failure: HTTPFailure) -> HTTPFailure {
    var failure = failure
    failure.partial = file.withLock { $0?.takePartial() } ?? failure.partial
    return failure
  }
}

/// Whether a response is the file, the rest of it, or neither.
enum SavePlan {
  case fresh
  /// The partial file, and the size of the complete one.
  case resumed(PartialFile, whole: Int)
  case impossible(String)

  init(for head: HTTPResponseHead, of request: HTTPRequest, to target: SaveTarget) {
    guard head.status == 206 else {
      self = .fresh
      return
    }
    if let partial = target.resuming {
      self = SavePlan(for: head, resuming: partial)
    } else if request.headers.contains("range") {
      self = .fresh
    } else {
      self = .impossible("the server sent a partial response to a full request")
    }
  }

  /// Parts are only combined if nothing shows that they belong to different versions (RFC 9110 §15.3.7.3): a server may
  /// ignore `If-Range`.
  private init(for head: HTTPResponseHead, resuming partial: PartialFile) {
    let range = head.headers["content-range"].flatMap(ContentRange.init)
    guard let range, range.first == partial.size, range.isToTheEnd else {
      self = .impossible("the server sent a different range than requested")
      return
    }
    let whole = range.last + 1
    self =
      partial.isOfOtherVersion(than: head, whole: whole)
      ? .impossible("the server sent the rest of another version of the file")
      : .resumed(partial, whole: whole)
  }
}

/// `bytes 0-499/1234` (RFC 9110 §14.4).
struct ContentRange: Hashable {
  let first: Int
  let last: Int
  /// `nil` if the server does not know it.
  let whole: Int?

  /// Whether it ends with the last byte, as far as the server knows.
  var isToTheEnd: Bool { whole == nil || whole == last + 1 }

  init?(_ text: String) {
    let words = ASCII.trimmed(text).split(separator: " ")
    guard words.count == 2, ASCII.isSame(String(words[0]), "bytes") else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ASCII.number(ends[0]), let last = ASCII.number(ends[1]),
      first <= last
    else { return nil }
    whole = ASCII.number(halves[1])
    guard halves[1] == "*" || whole.map({ last < $0 }) == true else { return nil }
    self.first = first
    self.last = last
  }
}

extension HTTPResponseHead {
  /// The length of the body as it is saved; `nil` if the server does not send it, or compresses the body.
  var bodyLength: Int? {
    guard !headers.contains("content-encoding") else { return nil }
    return headers["content-length"].flatMap { ASCII.number(ASCII.trimmed($0)[...]) }
  }

  /// The validator of this version of the file, if the server also supports range requests for it (RFC 9110 §13.1.5:
  /// a weak tag is not enough).
  var validator: String? {
    guard status == 200, !headers.list(of: "accept-ranges").contains("none"),
      !headers.contains("content-encoding")
    else { return nil }
    if let tag = headers["etag"].map({ ASCII.trimmed($0) }) {
      return tag.hasPrefix("\"") ? tag : nil
    }
    return headers["last-modified"].map { ASCII.trimmed($0) }
  }
}
