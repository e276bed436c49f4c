import WeftFutures
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The shared client of all tests that need no client of their own: it shows what one request leaves to the next.
let client = HTTPClient(transport: CurlTransport())

/// A request with deadlines, so that a test does not wait for ever.
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

/// The outcome, awaited on the calling thread, for requests that must follow each other at once.
func answer(to request: HTTPRequest, by client: HTTPClient) -> Result<HTTPResponse, HTTPFailure> {
  awaited(client.send(request), since: MonotonicClock.now).answer
}

extension Result where Success == HTTPResponse, Failure == HTTPFailure {
  var response: HTTPResponse? { try? get() }

  var failure: HTTPFailure? {
    if case .failure(let failure) = self { failure } else { nil }
  }

  var kind: HTTPFailure.Kind? { failure?.kind }

  var text: String? { response.flatMap { try? $0.text() } }
}

/// The outcome of a request and its duration, measured when the future settles: a waiting test only continues when the
/// tests beside it let it.
func timed(_ request: HTTPRequest) -> (answer: Result<HTTPResponse, HTTPFailure>, took: Duration) {
  let began = MonotonicClock.now
  return awaited(client.send(request), since: began)
}

/// The outcome of a future and its duration, awaited on the calling thread, so that the time between two requests is
/// not extended by other tests.
func awaited(
  _ future: Future<HTTPResponse, HTTPFailure>, since began: Duration
) -> (answer: Result<HTTPResponse, HTTPFailure>, took: Duration) {
  let told = Watched<(answer: Result<HTTPResponse, HTTPFailure>, took: Duration)?>(nil)
  future.whenSettled { answer in told.change { $0 = (answer, MonotonicClock.now - began) } }
  told.wait { $0 != nil }
  return told.value!
}

/// Waits on the calling thread until the files of a folder are as they should be, but not for ever.
func waits(until isSo: () -> Bool) {
  let end = MonotonicClock.now + .seconds(20)
  while !isSo() && MonotonicClock.now < end { usleep(1000) }
}
