import Synchronization
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
  let box = Told()
  future.whenSettled { box.set($0, at: MonotonicClock.now - began) }
  while true {
    if let known = box.known { return known }
    usleep(500)
  }
}

private final class Told: Sendable {
  private let state: Mutex<(Result<HTTPResponse, HTTPFailure>, Duration)?>

  init() { state = Mutex(nil) }

  var known: (answer: Result<HTTPResponse, HTTPFailure>, took: Duration)? {
    state.withLock { $0.map { ($0.0, $0.1) } }
  }

  func set(_ result: Result<HTTPResponse, HTTPFailure>, at moment: Duration) {
    state.withLock { $0 = (result, moment) }
  }
}

/// Waits on the calling thread until a condition holds.
func waits(until isSo: () -> Bool) { while !isSo() { usleep(1000) } }
