import WeftFutures

/// An exchange that is to begin.
struct CurlStart: Sendable {
  typealias Outcome = Result<HTTPExchange, HTTPFailure>

  let id: Int
  let request: WireRequest
  let body: OpenedBody?
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
  let promise: Promise<HTTPExchange, HTTPFailure>
  /// Kept, so that a transport lives as long as somebody may wait for an answer of it.
  let transport: CurlTransport

  func fail(_ kind: HTTPFailure.Kind) { promise.fail(HTTPFailure(kind)) }
}
