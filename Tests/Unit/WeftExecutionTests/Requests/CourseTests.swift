import TestSupport
import Testing
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Pagination and polling.
@Suite struct CourseTests {
  private static func harness(
    _ http: String, _ transport: ScriptedTransport, keys: String = "",
    output: String = "${{ toJSON(self.json) }}", maxParallel: Int = 100, others: String = ""
  ) throws -> RequestHarness {
    try RequestHarness(
      """
      {"parallel": [{"id": "a", "http": \(http), "outputs": {"x": "\(output)"}\(keys)}\(others)]}
      """, transport, maxParallel: maxParallel)
  }

  private static func page(_ body: String, next: String? = nil) -> ScriptedTransport.Response {
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    if let next { headers.add(HTTPHeader("Link", "<\(next)>; rel=\"next\"")) }
    return .head(200, headers, body)
  }

  // MARK: Pagination

  @Test func pagesAreReadByLinkUntilThereIsNone() async throws {
    let transport = ScriptedTransport([
      Self.page("[1,2]", next: "/i?page=2"), Self.page("[3]", next: "?page=3"), Self.page("[4]"),
    ])
    let harness = try Self.harness(
      #"{"url": "http://h/i", "pages": {"next": "link"}}"#, transport, output: "${{ self.json }}")
    #expect(try await harness.output() == .array([1, 2, 3, 4]))
    #expect(
      transport.requests.map(\.url.description)
        == ["http://h/i", "http://h/i?page=2", "http://h/i?page=3"])
    #expect(try await harness.end().http?.figures.requests == 3)
  }

  @Test func anExpressionSaysWhereTheNextPageIsAndWhatOfItIsKept() async throws {
    let transport = ScriptedTransport(json: [
      #"{"items": [{"id": 1}], "next": "http://h/2"}"#,
      #"{"items": [{"id": 2}, {"id": 3}], "next": null}"#,
    ])
    let harness = try Self.harness(
      #"""
      {"url": "http://h/1",
       "pages": {"next": "self.json.next", "collect": "self.json.items.*.id"}}
      """#,
      transport, output: "${{ self.json }}")
    #expect(try await harness.output() == .array([1, 2, 3]))
  }

  @Test func pagesAreCountedUntilOneIsEmpty() async throws {
    let transport = ScriptedTransport(json: ["[1, 2]", "[3]", "[]"])
    let harness = try RequestHarness(
      #"""
      {"steps": [
        {"id": "a", "http": {"url": "http://h/i?page=1", "pages": {
          "next": "case(length(self.json) > 0, format('?page={0}', add(self.pages, 1)), null)"}},
         "outputs": {"x": "${{ self.pages }} ${{ length(self.json) }}"}},
        {"id": "b", "outputs": {"x": "${{ steps.a.pages }}"}}]}
      """#, transport)
    #expect(try await harness.output() == .string("3 3"))
    #expect(try await harness.output(of: "b") == .number(3))
    #expect(
      transport.requests.map(\.url.description)
        == ["http://h/i?page=1", "http://h/i?page=2", "http://h/i?page=3"])
    #expect(try await harness.end().http?.pages == 3)
  }

  @Test func aRequestWithoutPagesHasOne() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, ScriptedTransport(json: ["{}"]), output: "${{ self.pages }}")
    #expect(try await harness.output() == .number(1))
    #expect(try await harness.end().http?.pages == nil)
  }

  @Test func credentialsDoNotGoToAnotherOriginsPage() async throws {
    let transport = ScriptedTransport([
      Self.page("[]", next: "http://h/2"), Self.page("[]", next: "http://other/3"), Self.page("[]"),
    ])
    let harness = try Self.harness(
      #"""
      {"url": "http://h/1", "pages": {"next": "link"}, "auth": {"bearer": "token"},
       "headers": {"Cookie": "c=d", "X-A": "b"}}
      """#, transport)
    _ = try await harness.output()
    #expect(
      transport.requests.map { $0.value(of: "Authorization") }
        == ["Bearer token", "Bearer token", nil])
    #expect(transport.requests.map { $0.value(of: "Cookie") } == ["c=d", "c=d", nil])
    #expect(transport.requests.map { $0.value(of: "X-A") } == ["b", "b", "b"])
  }

  private static func trip(
    _ keys: String, to next: String, secrets: [SecretName: Secret] = [:]
  ) throws -> (RequestHarness, ScriptedTransport) {
    let transport = ScriptedTransport([Self.page("[]", next: next), Self.page("[]")])
    let harness = try RequestHarness(
      """
      {"secrets": {"T": {"env": "T"}},
       "steps": [{"id": "a", "http": {"url": "https://h/1", \(keys)}}]}
      """, transport, secrets: secrets)
    return (harness, transport)
  }

  @Test(
    "X11: a page of another origin gets no body and no method that may change something",
    arguments: [
      #""json": {"t": "${{ secrets.T }}"}, "pages": {"next": "link"}"#,
      #""method": "DELETE", "idempotencyKey": true, "pages": {"next": "link"}"#,
      #""method": "POST", "pages": {"next": "link", "origins": ["https://third"]}"#,
    ])
  func bodiesOfPages(keys: String) async throws {
    let secrets = ["T": try Secret(Array("s3cret-canary".utf8))] as [SecretName: Secret]
    let (harness, transport) = try Self.trip(keys, to: "https://other/2", secrets: secrets)
    let failure = try await harness.end().failure
    #expect(failure?.classes == [.redirect] && failure?.help?.contains("pages.origins") == true)
    #expect(transport.requests.map(\.url.host) == ["h"])
  }

  @Test("X11: an origin that is named gets the body, and none of what says who asks")
  func namedOrigins() async throws {
    let (harness, transport) = try Self.trip(
      """
      "json": {"t": 1}, "idempotencyKey": true, "auth": {"bearer": "${{ secrets.T }}"},
      "tls": {"caFile": "ca", "certFile": "c", "keyFile": "k"},
      "pages": {"next": "link", "origins": ["https://other"]}
      """, to: "https://other/2", secrets: ["T": try Secret(Array("s3cret-canary".utf8))])
    #expect(await harness.run.ended().succeeded)
    let requests = transport.requests
    #expect(requests.map(\.bodyText) == [#"{"t":1}"#, #"{"t":1}"#])
    #expect(requests.map { $0.value(of: "Authorization") } == ["Bearer s3cret-canary", nil])
    #expect(requests.map { $0.value(of: "Idempotency-Key") == nil } == [false, true])
    #expect(requests.map(\.tls.certificate) == ["c", nil] && requests[1].tls.key == nil)
    #expect(requests.map(\.tls.authorities) == ["ca", "ca"])
  }

  @Test("X11: a page whose URL has a secret is asked of the first origin only")
  func secretsInPages() async throws {
    let secrets = ["T": try Secret(Array("s3cret/canary".utf8))] as [SecretName: Secret]
    let keys = #""query": {"t": "${{ secrets.T }}"}, "pages": {"next": "link"}"#
    for (next, count) in [("https://other/2?t=s3cret%2Fcanary", 1), ("/2?t=s3cret%2Fcanary", 2)] {
      let (harness, transport) = try Self.trip(keys, to: next, secrets: secrets)
      let end = try await harness.end()
      #expect(transport.requests.count == count, "\(next)")
      #expect(end.failure?.message.contains("canary") != true)
      #expect(end.outcome == (count == 1 ? .failure : .success))
    }
  }

  @Test("X25: a pool's rate holds for every page")
  func ratesOfPages() async throws {
    let pages = (2...6).map { Self.page("[]", next: "?n=\($0)") } + [Self.page("[]")]
    let transport = ScriptedTransport(pages)
    let harness = try RequestHarness(
      """
      {"pools": {"api": {"slots": 2, "rate": "2/10s"}},
       "steps": [{"id": "a", "pool": "api",
                  "http": {"url": "http://h/", "pages": {"next": "link"}}}]}
      """, transport)
    // Two at once, and one more for every five seconds.
    for (seconds, count) in [(0, 2), (4, 2), (1, 3), (5, 4), (5, 5), (5, 6)] {
      harness.time.advance(by: .seconds(seconds))
      await until { transport.requests.count >= count }
      #expect(transport.requests.count == count)
    }
    #expect(await harness.run.ended().succeeded)
    #expect(harness.time.scheduledCount == 0)
  }

  @Test(
    "X25: a step that waits for its next page ends at once when it is to", arguments: [false, true])
  func waitsForPages(isCancelled: Bool) async throws {
    let transport = ScriptedTransport([Self.page("[]", next: "?n=2")])
    let harness = try RequestHarness(
      """
      {"pools": {"api": {"slots": 1, "rate": "1/1h"}},
       "steps": [{"id": "a", "pool": "api", "timeout": "1m",
                  "http": {"url": "http://h/", "pages": {"next": "link"}}}]}
      """, transport)
    // Its own limit, and that of the pool.
    await until { harness.time.scheduledCount == 2 }
    if isCancelled {
      harness.run.cancel(.requested)
    } else {
      harness.time.advance(by: .seconds(60))
    }
    let end = try await harness.end()
    #expect(isCancelled ? end.outcome == .cancelled : end.failure?.classes == [.timeout])
    #expect(transport.requests.count == 1)
    #expect(harness.time.scheduledCount == 0)
  }

  // MARK: Transports that ignore cancellation

  static let endings: [(String, Duration)] = [
    // The limit plus the grace period; the grace period alone; for a killed run, half a second.
    ("timeout", .seconds(13)), ("cancel", .seconds(10)), ("kill", .milliseconds(500)),
  ]

  @Test(
    "E04: a step ends within its grace though its transport ignores cancellation",
    arguments: endings)
  func deafTransport(ending: String, after: Duration) async throws {
    let transport = ScriptedTransport([.deafness])
    let harness = try Self.harness(
      #"{"url": "http://h/", "method": "POST"}"#, transport,
      keys: #", "timeout": "\#(ending == "timeout" ? 3 : 100)s", "retry": {"max": 3}"#)
    await until { transport.requests.count == 1 }
    switch ending {
    case "cancel": harness.run.cancel(.requested)
    case "kill": harness.run.killNow()
    default: break
    }
    harness.time.advance(by: after - .milliseconds(1))
    #expect(!harness.run.completion.isSettled)
    harness.time.advance(by: .milliseconds(1))
    let end = try await harness.end()
    #expect(ending == "timeout" ? end.failure?.classes == [.timeout] : end.outcome == .cancelled)
    #expect(end.attempts == 1, "what may have been done was done again")
    let warnings = (harness.subscription.takeAll() ?? []).compactMap { event in
      if case .runWarning(let warning) = event.kind { warning } else { nil }
    }
    #expect(warnings.map(\.kind) == [.actionLeftBehind])
    // This response comes too late.
    transport.answerDeaf()
    #expect(harness.time.scheduledCount == 0)
  }

  @Test("E04: an answer that comes after the time limit does not count")
  func lateAnswer() async throws {
    let transport = ScriptedTransport([.deafness])
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, transport, keys: #", "timeout": "3s""#)
    await until { transport.requests.count == 1 }
    harness.time.advance(by: .seconds(3))
    transport.answerDeaf()
    #expect(try await harness.end().failure?.classes == [.timeout])
  }

  static let troubles: [(pages: String, next: String, failure: String, errorClass: ErrorClass)] = [
    (#"{"next": "link", "max": 2}"#, "?n=", "there are more than 2 pages", .limit),
    (#"{"next": "link"}"#, "http://h/1", "which was already read", .protocol),
    (#"{"next": "self.json"}"#, "?n=", "http.pages.next is not a URL: self.json", .expression),
    (#"{"next": "'ftp://h/'"}"#, "?n=", "expected http or https", .expression),
    (
      #"{"next": "link", "collect": "self.json[0]"}"#, "?n=", "expected an array: self.json[0]",
      .decode
    ),
  ]

  @Test(arguments: troubles)
  func paginationErrorsAreReported(
    pages: String, next: String, failure: String, errorClass: ErrorClass
  ) async throws {
    let answers = (1...5).map { page in
      Self.page("[0]", next: next.hasSuffix("=") ? next + "\(page)" : next)
    }
    let harness = try Self.harness(
      #"{"url": "http://h/1", "pages": \#(pages)}"#, ScriptedTransport(answers))
    let end = try await harness.end()
    #expect(end.failure?.message.contains(failure) == true, "\(end.failure?.message ?? "")")
    #expect(end.failure?.classes.first == errorClass)
  }

  @Test func aPageIsNotReadWithoutEncryptionAfterOneThatWas() async throws {
    let transport = ScriptedTransport([Self.page("[]", next: "http://h/2")])
    let harness = try Self.harness(
      #"{"url": "https://h/1", "pages": {"next": "link"}}"#, transport)
    #expect(try await harness.end().failure?.classes == [.redirect])
    #expect(transport.requests.count == 1)
  }

  // MARK: Polling

  @Test func pollingEndsWhenTheConditionHolds() async throws {
    let transport = ScriptedTransport(json: [
      #"{"state": "queued"}"#, #"{"state": "running"}"#, #"{"state": "done", "n": 5}"#,
    ])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.state == 'done'", "every": "10s"}}"#,
      transport, output: "${{ self.json.n }}")
    let report = await harness.endedInTime()
    #expect(report.succeeded)
    #expect(try await harness.output() == 5)
    #expect(transport.requests.count == 3)
    let end = try await harness.end()
    #expect(end.attempts == 1)
    #expect(end.duration >= .seconds(20))
    let events = (harness.subscription.takeAll() ?? []).map(\.kind)
    let starts = events.filter { if case .stepStarted = $0 { true } else { false } }
    #expect(starts.count == 1)
  }

  @Test(
    "a server that asks for a longer pause between polls gets it, within a limit",
    arguments: [("30", 30), ("1", 10), ("86400", 600), ("soon", 10)])
  func pausesThatServersAskFor(asked: String, seconds: Int) async throws {
    let headers: HTTPHeaders = ["Content-Type": "application/json", "Retry-After": asked]
    let transport = ScriptedTransport([
      .head(202, headers, "{}"), .head(200, headers, #"{"ok": true}"#),
    ])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "10s"}}"#, transport)
    await until { harness.time.scheduledCount == 1 }
    harness.time.advance(by: .seconds(seconds - 1))
    #expect(harness.time.scheduledCount == 1 && transport.requests.count == 1)
    harness.time.advance(by: .seconds(1))
    #expect(await harness.run.ended().succeeded)
    #expect(transport.requests.count == 2)
  }

  @Test func betweenTwoRequestsItHoldsNoSlot() async throws {
    let transport = ScriptedTransport(json: [#"{"a": 0}"#, "[]", #"{"a": 1}"#])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.a == 1", "every": "1h"}}"#, transport,
      maxParallel: 1, others: #", {"id": "b", "http": {"url": "http://h/other"}}"#)
    // The other step ends while the first one waits: the clock does not move meanwhile.
    await until { harness.transport.requests.contains { $0.url.path == "/other" } }
    harness.time.advance(by: .seconds(3600))
    #expect(await harness.run.ended().succeeded)
    #expect(transport.requests.map(\.url.path) == ["/", "/other", "/"])
  }

  @Test func pollingEndsAtItsLimit() async throws {
    let transport = ScriptedTransport(json: ["{}"])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "1s", "max": 3}}"#,
      transport)
    _ = await harness.endedInTime()
    let end = try await harness.end()
    #expect(
      end.failure?.message
        == "gave up after 3 requests; \"poll.until\" is still false: self.json.ok")
    #expect(end.failure?.classes == [.limit])
    #expect(transport.requests.count == 3)
  }

  @Test func theStepsTimeLimitCoversAllRequests() async throws {
    let transport = ScriptedTransport(json: ["{}"])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "10s"}}"#, transport,
      keys: #", "timeout": "25s""#)
    for next in [10, 20] {
      await until { harness.time.nextDue == .seconds(next) }
      harness.time.advance(by: .seconds(10))
    }
    // The fourth request would come too late.
    #expect(try await harness.end().failure?.classes == [.timeout])
    #expect(transport.requests.count == 3)
  }

  @Test func anAnswerThatIsNotExpectedEndsTheAsking() async throws {
    let transport = ScriptedTransport([Self.page("{}"), .head(404, [:], "gone")])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "1s"}}"#, transport)
    _ = await harness.endedInTime()
    #expect(try await harness.end().failure?.classes.first == .http(404))
  }

  @Test func aCancelledRunDoesNotAskAgain() async throws {
    let transport = ScriptedTransport(json: ["{}"])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "1h"}}"#, transport)
    await until { !transport.requests.isEmpty }
    harness.run.cancel(.requested)
    let end = try await harness.end()
    #expect(end.outcome == .cancelled)
    #expect(transport.requests.count == 1)
  }

  @Test func pollingEndsAfterAFailureElsewhere() async throws {
    let transport = ScriptedTransport([Self.page("{}"), .head(500, [:], "")])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "1h"}}"#, transport,
      maxParallel: 1, others: #", {"id": "b", "http": {"url": "http://h/other"}}"#)
    #expect(!(await harness.run.ended().succeeded))
    #expect(try await harness.end().outcome == .cancelled)
  }

  @Test func aFailedAskingIsTriedAgainFromTheBeginning() async throws {
    let transport = ScriptedTransport([
      Self.page("{}"), .head(503, [:], ""), Self.page("{}"), Self.page(#"{"ok": true}"#),
    ])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "1s", "max": 2}}"#,
      transport, keys: #", "retry": {"max": 1, "delay": "0s"}"#)
    _ = await harness.endedInTime()
    let end = try await harness.end()
    #expect(end.outcome == .success && end.attempts == 2, "\(end)")
  }
}
