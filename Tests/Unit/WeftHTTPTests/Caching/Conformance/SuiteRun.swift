import WeftFutures
import WeftJSON

@testable import WeftHTTP

/// Runs one case as the suite's own client does, with the same checks.
struct SuiteRun {
  enum Outcome: Sendable, Equatable {
    case passed
    case failed(String)
    /// The case failed for a reason other than the one it tests.
    case notSetUp(String)
  }

  private struct Fault: Error {
    let isSetUp: Bool
    let message: String
  }

  /// A response as the client sees it. A failure counts as that of a gateway without a reachable server.
  private struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let body: String

    init(_ outcome: Result<HTTPResponse, HTTPFailure>) {
      status = outcome.response?.status ?? 502
      headers = outcome.response?.headers ?? [:]
      body = outcome.text ?? ""
    }

    func value(_ name: String) -> String? {
      headers.contains(name) ? headers.values(of: name).joined(separator: ", ") : nil
    }

    func number(_ name: String) -> Int? { value(name).flatMap { Int($0) } }
  }

  private let test: SuiteCase
  private let server: SuiteServer
  private let clock = Clock()
  private let client: HTTPClient

  init(_ test: SuiteCase) {
    self.test = test
    let (clock, server) = (clock, SuiteServer(test.requests, clock: clock))
    self.server = server
    client = HTTPClient(
      transport: CachingTransport(Origin { server.answer($0) }, cache: .inMemory()) { clock.now })
  }

  func outcome() async throws -> Outcome {
    do {
      var answers: [Answer] = []
      for (index, request) in test.requests.enumerated() {
        let answer = Answer(await client.send(try wire(request, number: index + 1)).result)
        answers.append(answer)
        try check(answer, to: request, number: index + 1)
        if request["pause_after"] == true { clock.advance(by: 3) }
      }
      try checkServer(answers)
      return .passed
    } catch let fault as Fault {
      return fault.isSetUp ? .notSetUp(fault.message) : .failed(fault.message)
    }
  }

  private func wire(_ request: SuiteRequest, number: Int) throws -> HTTPRequest {
    var url = "http://origin.test/test/case"
    if let name = request["filename"]?.text { url += "/" + name }
    if let query = request["query_arg"]?.text { url += "?" + query }
    var headers = HTTPHeaders(
      request.headers("request_headers", now: clock.now, base: nil).map {
        HTTPHeader($0.name, $0.value)
      })
    headers.add(HTTPHeader("X-Request-ID", test.id))
    headers.add(HTTPHeader("X-Correlation-ID", String(number)))
    var result = HTTPRequest(
      try HTTPURL(url), method: HTTPMethod(request.method), headers: headers)
    if let body = request["request_body"]?.text {
      result.body = .bytes(Array(body.utf8), contentType: nil)
    }
    if request["redirect"]?.text == "manual" { result.redirects.limit = 0 }
    // The suite tests the server's own permission.
    result.caching.staleOnError = .asServerAllows
    result.expectedStatus = StatusExpectation((1...9).map { .hundreds($0) })
    return result
  }

  private func expect(_ isSo: Bool, _ isSetUp: Bool, _ message: @autoclosure () -> String) throws {
    if !isSo { throw Fault(isSetUp: isSetUp, message: message()) }
  }
}

// MARK: Client side

extension SuiteRun {
  private func check(_ answer: Answer, to request: SuiteRequest, number: Int) throws {
    let count = answer.number("server-request-count")
    let isTypeSetUp = request.isSetUp("expected_type")
    switch request.expectedType {
    case "cached" where answer.status != 304 || count != nil:
      try expect(
        count.map { $0 < number } ?? false, isTypeSetUp, "answer \(number) is not from the cache")
    case "not_cached":
      try expect(count == number, isTypeSetUp, "answer \(number) is from the cache")
    default: break
    }
    try checkStatus(answer, to: request, number: number)
    for field in request["expected_response_headers"]?.elements ?? [] {
      try checkHeader(answer, field, request, number)
    }
    for field in request["expected_response_headers_missing"]?.elements ?? [] {
      guard let name = field.text else { continue }
      try expect(
        !answer.headers.contains(name), request.isSetUp("expected_response_headers_missing"),
        "answer \(number) has \(name)")
    }
    try checkBody(answer, to: request, number: number)
  }

  private func checkStatus(_ answer: Answer, to request: SuiteRequest, number: Int) throws {
    let message = "the status of answer \(number) is \(answer.status)"
    if let expected = request["expected_status"] {
      guard expected != .null else { return }
      try expect(answer.status == expected.number, request.isSetUp("expected_status"), message)
    } else if let status = request.status {
      try expect(answer.status == status, true, message)
    } else if answer.status == 999 {
      try expect(
        false, request.isSetUp("expected_type"), "request \(number) should have had a condition")
    } else {
      try expect(answer.status == 200, true, message)
    }
  }

  private func checkHeader(
    _ answer: Answer, _ field: JSONValue, _ request: SuiteRequest, _ number: Int
  ) throws {
    let isSetUp = request.isSetUp("expected_response_headers")
    let parts = field.elements
    let name = field.text ?? parts[0].text ?? ""
    let value = answer.value(name)
    try expect(
      value != nil || parts.count == 2, isSetUp, "answer \(number) has no header \(name)")
    guard parts.count >= 2 else { return }
    let isSo =
      switch (parts.count, parts[1].text) {
      case (3, "="): value == answer.value(parts[2].text ?? "")
      case (3, ">"): value.flatMap { Int($0) } ?? -1 > parts[2].number ?? 0
      default:
        value
          == request.value(
            parts[1], of: name.lowercased(), now: Int64(answer.number("server-now") ?? 0), base: nil
          )
      }
    try expect(isSo, isSetUp, "\(name) of answer \(number) is \(value ?? "missing")")
  }

  private func checkBody(_ answer: Answer, to request: SuiteRequest, number: Int) throws {
    if request["check_body"] == false { return }
    let message = "the body of answer \(number) is \"\(answer.body)\""
    if let expected = request["expected_response_text"] {
      guard let text = expected.text else { return }
      try expect(answer.body == text, request.isSetUp("expected_response_text"), message)
    } else if let text = request["response_body"]?.text {
      try expect(answer.body == text, true, message)
    } else if ![204, 304].contains(answer.status), request.method != "HEAD" {
      try expect(answer.body == SuiteServer.body, true, message)
    }
  }
}

// MARK: Server side

extension SuiteRun {
  private func checkServer(_ answers: [Answer]) throws {
    let visits = server.visits
    var next = 0
    for (index, request) in test.requests.enumerated() {
      // The server has not seen it.
      if request.expectedType == "cached" { continue }
      let visit = next < visits.count ? visits[next] : nil
      next += 1
      try check(visit, of: request, number: index + 1)
      for (name, value) in visit?.checked ?? [] where name.lowercased() != "date" {
        try expect(
          answers[index].value(name) == value, true, "\(name) of answer \(index + 1) is not as sent"
        )
      }
    }
  }

  private func check(_ visit: SuiteServer.Visit?, of request: SuiteRequest, number: Int) throws {
    let isTypeSetUp = request.isSetUp("expected_type")
    switch request.expectedType {
    case "not_cached":
      try expect(visit?.number == number, isTypeSetUp, "answer \(number) is from the cache")
    case "etag_validated":
      try expect(
        visit?.headers.contains("if-none-match") == true, isTypeSetUp,
        "request \(number) had no If-None-Match")
    case "lm_validated":
      try expect(
        visit?.headers.contains("if-modified-since") == true, isTypeSetUp,
        "request \(number) had no If-Modified-Since")
    default: break
    }
    for field in request["expected_request_headers"]?.elements ?? [] {
      let name = field.text ?? field.elements[0].text ?? ""
      let value = visit?.headers[name]
      try expect(
        field.text == nil ? value == field.elements[1].text : value != nil,
        request.isSetUp("expected_request_headers"),
        "\(name) of request \(number) is \(value ?? "missing")")
    }
    if let method = request["expected_method"]?.text {
      try expect(
        visit?.method == method, request.isSetUp("expected_method"),
        "request \(number) was \(visit?.method ?? "not sent")")
    }
  }
}
