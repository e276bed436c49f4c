import Synchronization
import WeftFutures
import WeftPlatform

@testable import WeftHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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

/// The same on the calling thread, for requests that must follow each other at once.
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

/// What becomes of a request, and how long that took: measured where it is told, since a test that waits goes on
/// only when those beside it let it.
func timed(_ request: HTTPRequest) -> (answer: Result<HTTPResponse, HTTPFailure>, took: Duration) {
  let began = MonotonicClock.now
  return awaited(client.send(request), since: began)
}

/// How a future settles, on the calling thread: what is between this and what was before takes no longer than it
/// takes by itself.
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

/// Waits on the calling thread for what others do.
func waits(until isSo: () -> Bool) { while !isSo() { usleep(1000) } }
