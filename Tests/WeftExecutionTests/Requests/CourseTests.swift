import Testing
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftTestKit

@testable import WeftExecution

/// Pages, and asking again until it is so.
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

  private static func page(_ body: String, next: String? = nil) -> ScriptedTransport.Answer {
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    if let next { headers.add(HTTPHeader("Link", "<\(next)>; rel=\"next\"")) }
    return .head(200, headers, body)
  }

  // MARK: Pages

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

  static let troubles: [(pages: String, next: String, failure: String, errorClass: ErrorClass)] = [
    (#"{"next": "link", "max": 2}"#, "?n=", "there are more than 2 pages", .limit),
    (#"{"next": "link"}"#, "http://h/1", "which has been read already", .protocol),
    (#"{"next": "self.json"}"#, "?n=", "http.pages.next comes to no URL: self.json", .expression),
    (#"{"next": "'ftp://h/'"}"#, "?n=", "expected http or https", .expression),
    (
      #"{"next": "link", "collect": "self.json[0]"}"#, "?n=", "expected an array: self.json[0]",
      .decode
    ),
  ]

  @Test(arguments: troubles)
  func whatIsWrongWithPagesIsTold(
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

  // MARK: Asking again

  @Test func itAsksUntilTheConditionHolds() async throws {
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

  @Test func betweenTwoRequestsItHoldsNoSlot() async throws {
    let transport = ScriptedTransport(json: [#"{"a": 0}"#, "[]", #"{"a": 1}"#])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.a == 1", "every": "1h"}}"#, transport,
      maxParallel: 1, others: #", {"id": "b", "http": {"url": "http://h/other"}}"#)
    // The other step ends while the first one waits: nobody moves the clock meanwhile.
    while !harness.transport.requests.contains(where: { $0.url.path == "/other" }) {
      await Task.yield()
    }
    harness.time.advance(by: .seconds(3600))
    #expect(await harness.run.ended().succeeded)
    #expect(transport.requests.map(\.url.path) == ["/", "/other", "/"])
  }

  @Test func itGivesUpAfterSoManyRequests() async throws {
    let transport = ScriptedTransport(json: ["{}"])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "1s", "max": 3}}"#,
      transport)
    _ = await harness.endedInTime()
    let end = try await harness.end()
    #expect(
      end.failure?.message == "asked 3 times, and \"poll.until\" does not hold: self.json.ok")
    #expect(end.failure?.classes == [.limit])
    #expect(transport.requests.count == 3)
  }

  @Test func theStepsTimeLimitCoversAllRequests() async throws {
    let transport = ScriptedTransport(json: ["{}"])
    let harness = try Self.harness(
      #"{"url": "http://h/", "poll": {"until": "self.json.ok", "every": "10s"}}"#, transport,
      keys: #", "timeout": "25s""#)
    _ = await harness.endedInTime()
    #expect(try await harness.end().failure?.classes == [.timeout])
    #expect((2...3).contains(transport.requests.count))
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
    while transport.requests.isEmpty { await Task.yield() }
    harness.run.cancel(.requested)
    let end = try await harness.end()
    #expect(end.outcome == .cancelled)
    #expect(transport.requests.count == 1)
  }

  @Test func afterAFailureElsewhereItDoesNotGoOnWaiting() async throws {
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
