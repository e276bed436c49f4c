import WeftFutures
import WeftHTTP

/// An exchange that is about to begin. A class because it is large and is passed between threads.
final class CurlStart: Sendable {
  typealias Outcome = Result<HTTPExchange, HTTPFailure>

  let id: Int
  let request: WireRequest
  let body: OpenedBody?
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
  let promise: Promise<HTTPExchange, HTTPFailure>
  /// Keeps the transport alive while a response may still be awaited.
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
