import Synchronization
import WeftJSON

@testable import WeftHTTP

/// The suite's server for one case: it answers as the case says, and records the requests.
final class SuiteServer: Sendable {
  /// A request as received, and the headers of its response that the client must see.
  struct Visit: Sendable {
    let number: Int
    let method: String
    let headers: HTTPHeaders
    let checked: [(name: String, value: String)]
  }

  private let requests: [SuiteRequest]
  private let clock: Clock
  private let state = Mutex<[Visit]>([])
  /// The body where the case has none of its own.
  static let body = "6f1c3a52-8d0e-4b7f-9a31-0c5d7e2b4f60"

  init(_ requests: [SuiteRequest], clock: Clock) {
    self.requests = requests
    self.clock = clock
  }

  var visits: [Visit] { state.withLock { $0 } }

  func answer(_ request: WireRequest) -> Origin.Answer {
    let received = HTTPHeaders(request.headers)
    let number = received["x-correlation-id"].flatMap { Int($0) } ?? visits.count + 1
    let wanted = requests[number - 1]
    clock.advance(by: Int64(wanted["response_pause"]?.number ?? 0))
    let status = status(wanted, after: number > 1 ? requests[number - 2] : nil, received)
    let (headers, checked) = headers(wanted, number: number, path: request.url.path)
    let visit = Visit(
      number: number, method: request.method.name, headers: received, checked: checked)
    let numbers = state.withLock { visits in
      visits.append(visit)
      return visits.map { String($0.number) }
    }
    if wanted["disconnect"] == true { return .failure(HTTPFailure(.empty)) }
    return answer(
      status, headers.fields + [HTTPHeader("Request-Numbers", numbers.joined(separator: " "))],
      wanted["response_body"]?.text ?? Self.body)
  }

  /// A response with the headers that Node adds, and as much of the body as the length says.
  private func answer(_ status: Int, _ fields: [HTTPHeader], _ body: String) -> Origin.Answer {
    var (headers, body) = (HTTPHeaders(fields), body)
    headers.addIfMissing(HTTPHeader("Content-Type", "text/plain"))
    headers.addIfMissing(HTTPHeader("Date", SuiteDate.text(clock.now)))
    if ![204, 304].contains(status) {
      headers.addIfMissing(HTTPHeader("Content-Length", String(body.utf8.count)))
      body = String(body.prefix(headers["content-length"].flatMap { Int($0) } ?? .max))
    }
    return .head(HTTPResponseHead(status: status, headers: headers), body)
  }

  private func status(
    _ wanted: SuiteRequest, after previous: SuiteRequest?, _ received: HTTPHeaders
  ) -> Int {
    guard let previous, wanted.expectedType?.hasSuffix("validated") == true else {
      return wanted.status ?? 200
    }
    let reported = HTTPHeaders(
      previous.headers("response_headers", now: 0, base: nil).map { HTTPHeader($0.name, $0.value) })
    let sent = visits.last?.checked.last { $0.name.lowercased() == "last-modified" }?.value
    let modified = sent ?? reported["last-modified"]
    let isSame =
      modified != nil && received["if-modified-since"] == modified
      || reported["etag"] != nil && received["if-none-match"] == reported["etag"]
    return isSame ? 304 : 999
  }

  private func headers(
    _ wanted: SuiteRequest, number: Int, path: String
  ) -> (HTTPHeaders, checked: [(name: String, value: String)]) {
    var headers: HTTPHeaders = [
      "Server-Base-Url": path, "Server-Request-Count": String(visits.count + 1),
      "Client-Request-Count": String(number), "Server-Now": String(clock.now),
    ]
    let base = wanted["magic_locations"] == true ? path : nil
    let fields = wanted.headers("response_headers", now: clock.now, base: base)
    for field in fields { headers.add(HTTPHeader(field.name, field.value)) }
    let checked = fields.filter(\.isChecked).map { field in
      (field.name, headers.values(of: field.name).joined(separator: ", "))
    }
    return (headers, checked)
  }
}
