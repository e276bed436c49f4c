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
    return advance(Reception(RedirectPolicy(request)), Passage(began: now()))
  }

  /// The exchanges before the current one.
  fileprivate struct Passage: Sendable {
    let began: Duration
    var hops: [RedirectHop] = []
    var figures: ExchangeFigures?
  }

  private func advance(
    _ reception: Reception, _ passage: Passage
  ) -> Future<HTTPResponse, HTTPFailure> {
    let limit = reception.redirects.request.deadlines.total
    let left = limit.map { $0 - (now() - passage.began) }
    if let left, let limit, left <= .zero, limit > .zero {
      return Future(failure: passage.failure(HTTPFailure(.timeout(.total, after: limit))))
    }
    let wire: WireRequest
    do {
      wire = try WireRequest(reception.redirects.request, boundary: Self.boundary(), total: left)
    } catch {
      return Future(failure: passage.failure(HTTPFailure(.invalid(error))))
    }
    return transport.exchange(wire) { reception.plan(for: $0) }.flatMapResult { result in
      switch result {
      case .success(let exchange): arrive(exchange, reception, passage)
      case .failure(let failure):
        Future(failure: passage.failure(reception.complete(failure.sayingWhole(limit))))
      }
    }
  }

  private func arrive(
    _ exchange: HTTPExchange, _ reception: Reception, _ passage: Passage
  ) -> Future<HTTPResponse, HTTPFailure> {
    let figures = passage.figures?.followed(by: exchange.figures) ?? exchange.figures
    guard reception.redirects.follows(exchange.head) else {
      return Future(
        value: HTTPResponse(
          head: exchange.head, body: exchange.body, isBodyCut: exchange.isBodyCut,
          savedTo: reception.savedPath, method: reception.redirects.request.method,
          url: reception.redirects.request.url, redirects: passage.hops, figures: figures,
          cacheStatus: exchange.cacheStatus))
    }
    var redirects = reception.redirects
    let turn = redirects.turn(at: exchange.head)
    let passage = Passage(began: passage.began, hops: redirects.hops, figures: figures)
    if case .fails(let fault) = turn {
      return Future(failure: passage.failure(HTTPFailure(.redirect(fault))))
    }
    return advance(Reception(redirects), passage)
  }

  private static func boundary() -> String {
    guard let bytes = try? Entropy.bytes(18) else {
      preconditionFailure("the system has no random bytes")
    }
    return "weft-"
      + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension HTTPClient.Passage {
  fileprivate func failure(_ failure: HTTPFailure) -> HTTPFailure {
    var failure = failure
    failure.redirects = hops
    failure.figures = figures?.followed(by: failure.figures) ?? failure.figures
    return failure
  }
}

extension HTTPFailure {
  /// Reports the whole deadline; the transport only knows the time that was left.
  fileprivate func sayingWhole(_ total: Duration?) -> HTTPFailure {
    guard case .timeout(.total, _) = kind, let total else { return self }
    return HTTPFailure(
      .timeout(.total, after: total), isInDoubt: isInDoubt, redirects: redirects, figures: figures,
      partial: partial)
  }
}
