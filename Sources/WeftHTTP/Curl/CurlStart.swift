import WeftFutures

/// An exchange that is to begin. A class, for it goes from hand to hand and is large.
final class CurlStart: Sendable {
  typealias Outcome = Result<HTTPExchange, HTTPFailure>

  let id: Int
  let request: WireRequest
  let body: OpenedBody?
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
  let promise: Promise<HTTPExchange, HTTPFailure>
  /// Kept, so that a transport lives as long as somebody may wait for an answer of it.
  let transport: CurlTransport

  init(
    id: Int, request: WireRequest, body: OpenedBody?,
    plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan,
    promise: Promise<HTTPExchange, HTTPFailure>, transport: CurlTransport
  ) {
    self.id = id
    self.request = request
    self.body = body
    self.plan = plan
    self.promise = promise
    self.transport = transport
  }

  func fail(_ kind: HTTPFailure.Kind) { promise.fail(HTTPFailure(kind)) }
}
