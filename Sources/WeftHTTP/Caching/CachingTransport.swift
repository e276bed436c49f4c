import Synchronization
public import WeftFutures
import WeftPlatform

/// A transport that answers from a cache if possible, and forwards other requests to another transport.
///
/// It sits below redirects: each request of a redirect chain may be answered from the cache. A request controls it
/// with ``HTTPRequest/caching`` and its `Cache-Control`, which is also sent to the server.
public struct CachingTransport: Transport {
  private let transport: any Transport
  private let cache: HTTPCache
  private let holdsSecret: @Sendable (String) -> Bool
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - transport: Sends the requests to servers.
  ///   - cache: May be shared with other transports.
  public init(_ transport: any Transport, cache: HTTPCache) {
    self.init(transport, cache: cache) { _ in false }
  }

  /// - Parameters:
  ///   - holdsSecret: Whether a body or the value of a header must not be stored.
  package init(
    _ transport: any Transport, cache: HTTPCache,
    unless holdsSecret: @escaping @Sendable (String) -> Bool
  ) {
    self.init(transport, cache: cache, unless: holdsSecret) {
      WallClock.now.nanoseconds / 1_000_000_000
    }
  }

  /// - Parameter now: The seconds since 1970.
  init(
    _ transport: any Transport, cache: HTTPCache,
    unless holdsSecret: @escaping @Sendable (String) -> Bool = { _ in false },
    now: @escaping @Sendable () -> Int64
  ) {
    self.transport = transport
    self.cache = cache
    self.holdsSecret = holdsSecret
    self.now = now
  }

  /// Callbacks of the future run on a thread that must not be blocked.
  public func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    switch CacheRole(of: request) {
    case .none: return transport.exchange(request, answering: plan)
    case .changes: return change(request, plan)
    case .reads:
      let inquiry = CacheInquiry(
        request: request, key: cache.secret.key(of: request), plan: plan)
      return cache.store.responses(for: inquiry.key) { [secret = cache.secret] stored in
        stored.selection == secret.selection(request, by: stored.vary)
      }
      .failing(with: HTTPFailure.self).flatMap { decide(inquiry, among: $0) }
    }
  }

  private func decide(
    _ inquiry: CacheInquiry, among stored: [StoredResponse]
  ) -> Future<HTTPExchange, HTTPFailure> {
    let now = now()
    switch CacheDecision(for: inquiry.request, among: stored, at: now) {
    case .serve(let response, let isStale):
      let status = isStale ? CacheStatus.stale(.requested) : .hit
      return deliver(response, as: status, to: inquiry, at: now)
    case .unanswerable:
      return CacheDelivery.deliver(
        HTTPResponseHead(status: 504), [], to: inquiry, as: .miss, figures: .zero)
    case .ask(let stored):
      return ask(inquiry, having: stored)
    }
  }

  private func deliver(
    _ response: StoredResponse, as status: CacheStatus, to inquiry: CacheInquiry, at now: Int64,
    figures: ExchangeFigures = .zero
  ) -> Future<HTTPExchange, HTTPFailure> {
    CacheDelivery.deliver(
      response.head(at: now), inquiry.request.method == .head ? [] : response.body, to: inquiry,
      as: status, figures: figures)
  }
}

// MARK: Asking the server

extension CachingTransport {
  private func ask(
    _ inquiry: CacheInquiry, having stored: StoredResponse?
  ) -> Future<HTTPExchange, HTTPFailure> {
    let reply = CacheReply(to: inquiry, having: stored, at: now(), limits: cache.limits)
    return transport.exchange(reply.request) { reply.plan(for: $0) }
      .mapResult { Result<_, HTTPFailure>.success($0) }
      .flatMap { outcome in
        switch reply.verdict(on: outcome, at: now()) {
        case .passOn(let exchange): finish(reply, exchange)
        case .fail(let failure): Future(failure: failure)
        case .serveStale(let stored, let reason, let figures):
          deliver(stored, as: .stale(reason), to: inquiry, at: now(), figures: figures)
        case .notModified(let stored, let figures):
          after(keep(stored)) {
            deliver(stored, as: .revalidated, to: inquiry, at: now(), figures: figures)
          }
        case .fetchAgain(let stored):
          after(cache.store.remove(stored)) { ask(inquiry, having: nil) }
        }
      }
  }

  /// Returns the server's response, after storing it if that is allowed.
  private func finish(
    _ reply: CacheReply, _ exchange: HTTPExchange
  ) -> Future<HTTPExchange, HTTPFailure> {
    let answer = Future<HTTPExchange, HTTPFailure>(value: exchange.reported(as: .miss))
    switch reply.keeping(exchange, secret: cache.secret, at: now()) {
    case .keep(let response): return after(keep(response)) { answer }
    case .forget(let response): return after(cache.store.remove(response)) { answer }
    case .nothing: return answer
    }
  }

  /// Stores a response. One with a secret takes the place of an earlier one by removing it.
  private func keep(_ response: StoredResponse) -> Future<Void, Never> {
    let isSecret =
      response.head.headers.fields.contains { holdsSecret($0.value) }
      || holdsSecret(String(decoding: response.body, as: UTF8.self))
    return isSecret ? cache.store.remove(response) : cache.store.keep(response)
  }

  private func change(
    _ request: WireRequest, _ plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    transport.exchange(request, answering: plan).mapResult { Result<_, HTTPFailure>.success($0) }
      .flatMap { outcome in
        let urls =
          switch outcome {
          case .success(let exchange):
            CacheInvalidation.urls(changedBy: request, answeredBy: exchange.head)
          // It is unknown whether the change was made.
          case .failure(let failure): failure.isInDoubt ? [request.url] : []
          }
        let forgotten = cache.store.remove(resources: urls.map(cache.secret.resource))
        return after(forgotten) { Future(result: outcome) }
      }
  }

  private func after(
    _ first: Future<Void, Never>,
    _ then: @escaping @Sendable () -> Future<HTTPExchange, HTTPFailure>
  ) -> Future<HTTPExchange, HTTPFailure> {
    first.failing(with: HTTPFailure.self).flatMap { then() }
  }
}

extension ExchangeFigures {
  /// The figures of a response that needed no request.
  static var zero: ExchangeFigures {
    var figures = ExchangeFigures()
    figures.requests = 0
    return figures
  }
}

extension HTTPExchange {
  func reported(as status: CacheStatus) -> HTTPExchange {
    HTTPExchange(
      head: head, body: body, isBodyCut: isBodyCut, figures: figures, cacheStatus: status)
  }
}

/// Handles the server's response to a request that the cache could not answer alone.
final class CacheReply: Sendable {
  /// The outcome of the request.
  enum Verdict {
    case passOn(HTTPExchange)
    case fail(HTTPFailure)
    /// Uses the stored response instead.
    case serveStale(StoredResponse, StaleReason, ExchangeFigures)
    /// The stored response is valid; it is stored again with newer headers.
    case notModified(StoredResponse, ExchangeFigures)
    /// The server validated a different response than the stored one.
    case fetchAgain(StoredResponse)
  }

  /// The change to the store.
  enum Storing {
    case keep(StoredResponse)
    case forget(StoredResponse)
    case nothing
  }

  /// The place of the received body.
  private enum Body: Sendable {
    case inExchange
    case copied(CopyingWriter)
    /// Only the writer has it.
    case elsewhere
  }

  /// The request as sent.
  let request: WireRequest
  private let inquiry: CacheInquiry
  private let stored: StoredResponse?
  private let mayServeStale: Bool
  private let asked: Int64
  private let limits: CacheLimits
  private let body = Mutex(Body.inExchange)

  init(to inquiry: CacheInquiry, having stored: StoredResponse?, at now: Int64, limits: CacheLimits)
  {
    self.inquiry = inquiry
    self.stored = stored
    self.limits = limits
    asked = now
    let own = inquiry.request
    mayServeStale =
      stored.map {
        own.caching.staleOnError.allows($0, for: HTTPHeaders(own.headers), at: now)
      } ?? false
    // A response to HEAD has no body that a condition could save.
    request = own.adding(own.method == .head ? [] : stored?.conditions ?? [])
  }

  /// Returns how to receive the body. The caller's plan is not consulted about responses that it will not get.
  func plan(for head: HTTPResponseHead) -> BodyPlan {
    if concernsStored(head) || mayServeStale && head.isServerError {
      return .keepStart(limit: Reception.startBytes)
    }
    let plan = inquiry.plan(head)
    guard case .write(let writer, let limit) = plan else { return plan }
    guard head.mayBeStored, head.contentLength ?? 0 <= limits.bodyBytes else {
      body.withLock { $0 = .elsewhere }
      return plan
    }
    let copying = CopyingWriter(writer, limit: limits.bodyBytes)
    body.withLock { $0 = .copied(copying) }
    return .write(copying, limit: limit)
  }

  private func concernsStored(_ head: HTTPResponseHead) -> Bool {
    head.status == 304 && request.headers.count > inquiry.request.headers.count
  }

  func verdict(on outcome: Result<HTTPExchange, HTTPFailure>, at now: Int64) -> Verdict {
    switch outcome {
    case .failure(let failure):
      guard let stored, mayServeStale, failure.isServerError else { return .fail(failure) }
      return .serveStale(stored, .failure(failure), failure.figures)
    case .success(let exchange):
      guard let stored else { return .passOn(exchange) }
      if concernsStored(exchange.head) {
        guard stored.agrees(with: exchange.head) else { return .fetchAgain(stored) }
        return .notModified(freshened(stored, by: exchange.head, at: now), exchange.figures)
      }
      guard mayServeStale, exchange.head.isServerError else { return .passOn(exchange) }
      return .serveStale(stored, .status(exchange.head.status), exchange.figures)
    }
  }

  /// Returns the change to the store after a response was passed on.
  func keeping(_ exchange: HTTPExchange, secret: CacheSecret, at now: Int64) -> Storing {
    if inquiry.request.method == .head { return storingAfterHead(exchange.head, at: now) }
    if let body = received(exchange), exchange.head.mayBeStored {
      let vary = VaryingField.names(in: exchange.head)
      return .keep(
        StoredResponse(
          key: inquiry.key, vary: vary, selection: secret.selection(inquiry.request, by: vary),
          head: exchange.head, body: body, requestTime: asked, responseTime: now))
    }
    // It no longer matches the server, and must not replace a failed response later.
    guard let stored, !exchange.head.isServerError else { return .nothing }
    return .forget(stored)
  }

  /// Returns the change to the store after HEAD (RFC 9111 §4.3.5).
  private func storingAfterHead(_ head: HTTPResponseHead, at now: Int64) -> Storing {
    guard let stored, head.status == 200 else { return .nothing }
    let lengths = [stored.head.contentLength, head.contentLength].compactMap(\.self)
    guard stored.head.status == 200, stored.agrees(with: head), Set(lengths).count <= 1 else {
      return .forget(stored)
    }
    return .keep(freshened(stored, by: head, at: now))
  }

  private func freshened(
    _ stored: StoredResponse, by head: HTTPResponseHead, at now: Int64
  ) -> StoredResponse {
    stored.freshened(by: head, requestTime: asked, responseTime: now)
  }

  /// The whole body; `nil` if it was not received or exceeds the limit.
  private func received(_ exchange: HTTPExchange) -> [UInt8]? {
    switch body.withLock({ $0 }) {
    case .inExchange:
      exchange.isBodyCut || exchange.body.count > limits.bodyBytes ? nil : exchange.body
    case .copied(let writer): writer.copy
    case .elsewhere: nil
    }
  }
}

/// Passes a body on, and keeps a copy while it fits the limit.
final class CopyingWriter: BodyWriter {
  private let writer: any BodyWriter
  private let limit: Int
  private let bytes = Mutex<[UInt8]?>([])

  init(_ writer: any BodyWriter, limit: Int) {
    self.writer = writer
    self.limit = limit
  }

  /// The bytes written so far; `nil` if they exceeded the limit.
  var copy: [UInt8]? { bytes.withLock { $0 } }

  func write(_ piece: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
    bytes.withLock { bytes in
      guard let count = bytes?.count else { return }
      if count + piece.count > limit { bytes = nil } else { bytes?.append(contentsOf: piece) }
    }
    try writer.write(piece)
  }

  func end(_ end: BodyEnd) throws(HTTPFailure.Kind) { try writer.end(end) }
}

/// A request that a cache may answer, and the plan for the response.
struct CacheInquiry: Sendable {
  let request: WireRequest
  let key: ResponseKey
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
}

extension ThreadPool {
  /// The threads that read and write stored responses, for all caches of this process.
  static let httpCache = ThreadPool(name: "weft-http-cache")
}

/// Delivers a stored response as if it came from a server.
enum CacheDelivery {
  static func deliver(
    _ head: HTTPResponseHead, _ body: [UInt8], to inquiry: CacheInquiry, as status: CacheStatus,
    figures: ExchangeFigures
  ) -> Future<HTTPExchange, HTTPFailure> {
    let exchange = { @Sendable (body: [UInt8], isCut: Bool) in
      HTTPExchange(
        head: head, body: body, isBodyCut: isCut, figures: figures, cacheStatus: status)
    }
    switch inquiry.plan(head) {
    case .refuse(let kind): return Future(failure: HTTPFailure(kind, figures: figures))
    case .keepStart(let limit):
      return Future(value: exchange(Array(body.prefix(limit)), body.count > limit))
    case .keep(let limit):
      if let limit, body.count > limit {
        return Future(failure: HTTPFailure(.limit(.body, limit), figures: figures))
      }
      return Future(value: exchange(body, false))
    case .write(let writer, let limit):
      return write(body, to: writer, limit: limit).map { exchange([], false) }
        .mapError { HTTPFailure($0.kind, figures: figures) }
    }
  }

  private static func write(
    _ body: [UInt8], to writer: any BodyWriter, limit: Int?
  ) -> Future<Void, HTTPFailure> {
    let promise = Promise<Void, HTTPFailure>()
    do {
      try ThreadPool.httpCache.submit {
        do throws(HTTPFailure.Kind) {
          try writeNow(body, to: writer, limit: limit)
          promise.succeed()
        } catch {
          promise.fail(HTTPFailure(error))
        }
      }
    } catch {
      promise.fail(HTTPFailure(.other(error.message)))
    }
    return promise.future
  }

  private static func writeNow(
    _ body: [UInt8], to writer: any BodyWriter, limit: Int?
  ) throws(HTTPFailure.Kind) {
    if let limit, body.count > limit {
      try? writer.end(.broken(.limit(.body, limit)))
      throw .limit(.body, limit)
    }
    do {
      try body.withRawBytes { (bytes) throws(HTTPFailure.Kind) in try writer.write(bytes) }
    } catch {
      try? writer.end(.broken(error))
      throw error
    }
    try writer.end(.complete)
  }
}
