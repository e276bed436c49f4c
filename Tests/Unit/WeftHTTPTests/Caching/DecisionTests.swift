import Testing

@testable import WeftHTTP

/// RFC 9111 §4, §5.2.1: the use of stored responses.
struct DecisionTests {
  private func wire(
    _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:],
    _ change: (inout HTTPRequest) -> Void = { _ in }
  ) throws -> WireRequest {
    var request = HTTPRequest(try HTTPURL("https://a.test/x"), method: method, headers: headers)
    change(&request)
    return try WireRequest(request, boundary: "b", total: nil)
  }

  private func stored(_ headers: HTTPHeaders, etag: String = "\"a\"") -> StoredResponse {
    var headers = headers
    headers.add(HTTPHeader("ETag", etag))
    return StoredResponse(
      key: ResponseKey(resource: "r", requester: "a"), vary: [], selection: "",
      head: HTTPResponseHead(status: 200, headers: headers), body: [], requestTime: Moment.start,
      responseTime: Moment.start)
  }

  private static let roleCases: [(HTTPMethod, HTTPHeaders, CacheRole)] = [
    ("GET", [:], .reads), ("HEAD", [:], .reads), ("OPTIONS", [:], .none), ("TRACE", [:], .none),
    ("POST", [:], .changes), ("PUT", [:], .changes), ("DELETE", [:], .changes),
    ("M-SEARCH", [:], .changes), ("GET", ["Cache-Control": "no-store"], .none),
    ("GET", ["Range": "bytes=0-1"], .none), ("GET", ["If-None-Match": "\"a\""], .none),
    ("GET", ["If-Modified-Since": Moment.text()], .none), ("GET", ["Accept": "x"], .reads),
  ]

  @Test("§4: in which requests a cache has a part", arguments: roleCases)
  func cacheTakesPartOnlyInSuitableRequests(
    method: HTTPMethod, headers: HTTPHeaders, expected: CacheRole
  ) throws {
    #expect(CacheRole(of: try wire(method, headers)) == expected)
  }

  @Test func bypassingRequestStillInvalidates() throws {
    #expect(CacheRole(of: try wire { $0.caching.isAllowed = false }) == .none)
    #expect(CacheRole(of: try wire(.put) { $0.caching.isAllowed = false }) == .changes)
  }

  private enum Way: Hashable { case fresh, stale, ask, unanswerable }

  private func way(_ request: String, _ answer: String, age: Int64) throws -> Way {
    let headers: HTTPHeaders = request.isEmpty ? [:] : ["Cache-Control": request]
    let decision = CacheDecision(
      for: try wire(.get, headers), among: [stored(["Cache-Control": answer])],
      at: Moment.start + age)
    return switch decision {
    case .serve(_, let isStale): isStale ? .stale : .fresh
    case .ask: .ask
    case .unanswerable: .unanswerable
    }
  }

  @Test("§4.2, §5.2: what the server and the request say, together")
  func requestAndResponseDirectivesCombine() throws {
    let cases: [(request: String, answer: String, age: Int64, expected: Way)] = [
      ("", "max-age=10", 0, .fresh), ("", "max-age=10", 9, .fresh), ("", "max-age=10", 10, .ask),
      ("", "no-cache, max-age=10", 0, .ask), ("", "max-age=10, must-revalidate", 5, .fresh),
      ("no-cache", "max-age=10", 0, .ask), ("max-age=0", "max-age=10", 1, .ask),
      ("max-age=5", "max-age=10", 5, .fresh), ("max-age=5", "max-age=10", 6, .ask),
      ("max-age=x", "max-age=10", 1, .ask), ("min-fresh=5", "max-age=10", 5, .fresh),
      ("min-fresh=6", "max-age=10", 5, .ask), ("max-stale", "max-age=10", 9999, .stale),
      ("max-stale=5", "max-age=10", 15, .stale), ("max-stale=5", "max-age=10", 16, .ask),
      ("max-stale=x", "max-age=10", 11, .ask), ("max-stale", "max-age=10", 5, .fresh),
      ("max-stale", "max-age=10, must-revalidate", 11, .ask),
      ("max-stale", "max-age=10, no-cache", 11, .ask),
      ("only-if-cached", "max-age=10", 5, .fresh),
      ("only-if-cached", "max-age=10", 11, .unanswerable),
      ("only-if-cached, max-stale", "max-age=10", 11, .stale), ("", "", 0, .ask),
    ]
    for (request, answer, age, expected) in cases {
      #expect(try way(request, answer, age: age) == expected, "\(request) | \(answer) | \(age)")
    }
  }

  private static let pragmaCases: [(HTTPHeaders, Bool)] = [
    (["Pragma": "no-cache"], false), (["Pragma": "x"], true),
    (["Pragma": "no-cache", "Cache-Control": "max-age=5"], true),
  ]

  @Test("§5.4: Pragma stands in for Cache-Control where there is none", arguments: pragmaCases)
  func pragmaReplacesAMissingCacheControl(headers: HTTPHeaders, isServed: Bool) throws {
    let answer = stored(["Cache-Control": "max-age=10"])
    let decision = CacheDecision(
      for: try wire(.get, headers), among: [answer], at: Moment.start)
    #expect(decision == (isServed ? .serve(answer, isStale: false) : .ask(answer)))
  }

  @Test("§4.1: of several answers that fit the newest is given")
  func newestMatchingResponseIsServed() throws {
    let old = stored(["Cache-Control": "max-age=10"])
    let new = old.freshened(
      by: old.head, requestTime: Moment.start + 1, responseTime: Moment.start + 1)
    let decision = CacheDecision(for: try wire(), among: [new, old], at: Moment.start + 3)
    #expect(decision == .serve(new, isStale: false))
  }

  @Test("§4.2.4 and RFC 5861 §4: when a stored answer stands in for a failed server")
  func standingIn() throws {
    let cases: [(StaleOnError, answer: String, request: String, age: Int64, expected: Bool)] = [
      (.never, "max-age=10, stale-if-error=99", "", 11, false),
      (.asServerAllows, "max-age=10", "", 11, false),
      (.asServerAllows, "max-age=10, stale-if-error=5", "", 15, true),
      (.asServerAllows, "max-age=10, stale-if-error=5", "", 16, false),
      (.asServerAllows, "max-age=10, stale-if-error=5, must-revalidate", "", 11, false),
      (.upTo(.seconds(5)), "max-age=10", "", 15, true),
      (.upTo(.seconds(5)), "max-age=10", "", 16, false),
      (.upTo(.seconds(5)), "max-age=10, stale-if-error=8", "", 18, true),
      (.always, "max-age=10", "", 99_999, true), (.always, "", "", 99_999, true),
      (.always, "max-age=10, must-revalidate", "", 11, false),
      (.always, "max-age=10, no-cache", "", 5, false),
      (.always, "max-age=10", "no-cache", 11, false),
      (.always, "max-age=10", "max-age=0", 5, true),
    ]
    for (rule, answer, request, age, expected) in cases {
      let headers: HTTPHeaders = request.isEmpty ? [:] : ["Cache-Control": request]
      let allowed = rule.allows(
        stored(["Cache-Control": answer]), for: headers, at: Moment.start + age)
      #expect(allowed == expected, "\(rule) | \(answer) | \(request) | \(age)")
    }
  }

  private static let invalidationCases: [(Int, HTTPHeaders, [String])] = [
    (200, [:], ["/x"]), (302, ["Location": "/y"], ["/x", "/y"]), (404, [:], []), (500, [:], []),
    (201, ["Location": "y", "Content-Location": "/z"], ["/x", "/y", "/z"]),
    (201, ["Location": "https://b.test/y"], ["/x"]),
    (201, ["Location": "http://a.test/y"], ["/x"]),
    (201, ["Location": "https://"], ["/x"]), (201, ["Location": "/x"], ["/x"]),
  ]

  @Test("§4.4: what a change makes wrong", arguments: invalidationCases)
  func unsafeRequestInvalidatesItsURLs(status: Int, headers: HTTPHeaders, paths: [String]) throws {
    let urls = CacheInvalidation.urls(
      changedBy: try wire(.post),
      answeredBy: HTTPResponseHead(status: status, headers: headers))
    #expect(urls.map(\.description) == paths.map { "https://a.test" + $0 })
  }
}
