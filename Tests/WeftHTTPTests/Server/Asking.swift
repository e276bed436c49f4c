import WeftFutures
import WeftPlatform

@testable import WeftHTTP

/// One client for all tests that need nothing of their own: it would show what one leaves to the next.
let client = HTTPClient(transport: CurlTransport())

/// A request with deadlines that a test waits for rather than for ever.
func request(
  _ url: String, _ method: HTTPMethod = .get, _ change: (inout HTTPRequest) -> Void = { _ in }
) throws -> HTTPRequest {
  var request = HTTPRequest(try HTTPURL(url), method: method)
  request.deadlines.total = .seconds(20)
  change(&request)
  return request
}

/// The outcome, awaited.
func ask(_ request: HTTPRequest, by client: HTTPClient = client) async
  -> Result<HTTPResponse, HTTPFailure>
{
  await client.send(request).result
}

extension Result where Success == HTTPResponse, Failure == HTTPFailure {
  var response: HTTPResponse? { try? get() }

  var failure: HTTPFailure? {
    if case .failure(let failure) = self { failure } else { nil }
  }

  var kind: HTTPFailure.Kind? { failure?.kind }

  var text: String? { response.flatMap { try? $0.text() } }
}

/// The duration of `work` by the clock.
func timed<Answer: Sendable>(
  _ work: () async -> Answer
) async -> (answer: Answer, took: Duration) {
  let began = MonotonicClock.now
  let answer = await work()
  return (answer, MonotonicClock.now - began)
}
