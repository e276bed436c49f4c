public import WeftFutures
import WeftPlatform

/// A transport that answers from a cache if possible, and forwards other requests to another transport.
///
/// It sits below redirects: each request of a redirect chain may be answered from the cache. A request controls it
/// with ``HTTPRequest/caching`` and its `Cache-Control`, which is also sent to the server.
public struct CachingTransport: Transport {
  private let transport: any Transport
  private let cache: HTTPCache
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - transport: Sends the requests to servers.
  ///   - cache: May be shared with other transports.
  public init(_ transport: any Transport, cache: HTTPCache) {
    self.init(transport, cache: cache) { WallClock.now.nanoseconds / 1_000_000_000 }
  }

  /// - Parameter now: The seconds since 1970.
  init(_ transport: any Transport, cache: HTTPCache, now: @escaping @Sendable () -> Int64) {
    self.transport = transport
    self.cache = cache
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
        HTTPResponseHead(status: 504), [], to: inquiry, as: .miss, figures: .ofNoRequest)
    case .ask(let stored):
      return ask(inquiry, having: stored)
    }
  }

  private func deliver(
    _ response: StoredResponse, as status: CacheStatus, to inquiry: CacheInquiry, at now: Int64,
    figures: ExchangeFigures = .ofNoRequest
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
        case .standIn(let stored, let reason, let figures):
          deliver(stored, as: .stale(reason), to: inquiry, at: now(), figures: figures)
        case .stillRight(let stored, let figures):
          after(cache.store.keep(stored)) {
            deliver(stored, as: .revalidated, to: inquiry, at: now(), figures: figures)
          }
        case .askAgain(let stored):
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
    case .keep(let response): return after(cache.store.keep(response)) { answer }
    case .forget(let response): return after(cache.store.remove(response)) { answer }
    case .nothing: return answer
    }
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
  static var ofNoRequest: ExchangeFigures {
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
