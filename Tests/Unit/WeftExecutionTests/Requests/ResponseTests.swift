import Testing
import WeftDefinition
import WeftFutures
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Responses: values, failures, further attempts.
@Suite struct ResponseTests {
  private static func harness(
    _ http: String, _ answers: ScriptedTransport.Response..., keys: String = ""
  ) throws -> RequestHarness {
    try RequestHarness(
      #"{"steps": [{"id": "a", "http": \#(http)\#(keys)}]}"#, ScriptedTransport(answers))
  }

  private static let json: HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]

  @Test func anAnswerIsReadByItsStepAndByOthers() async throws {
    let harness = try RequestHarness(
      #"""
      {"steps": [
        {"id": "a", "http": {"url": "http://h/"}, "outputs": {"x": "${{ self.json.list[1] }}"}},
        {"id": "b", "outputs": {
          "x": "${{ steps.a.status }} ${{ steps.a.headers['x-two'] }} ${{ steps.a.body }}",
          "y": "${{ steps.a.stale }} ${{ steps.a.json.list[0] }}"}}]}
      """#,
      ScriptedTransport([
        .head(
          201, ["Content-Type": "a/b+json", "X-Two": "1", "x-two": "2"], #"{"list": [7, "y"]}"#)
      ]))
    #expect(try await harness.output() == .string("y"))
    #expect(
      try await harness.output(of: "b") == .string(#"201 1, 2 {"list": [7, "y"]}"#))
    #expect(try await harness.output("y", of: "b") == .string("false 7"))
  }

  @Test(arguments: [
    ("", "add credentials"), (#", "auth": {"bearer": "abc"}"#, "check the credentials"),
    (#", "headers": {"X-Api-Key": "abc"}"#, "check the credentials"),
    (#", "headers": {"X-Other": "abc"}"#, "add credentials"),
  ])
  func theHelpOfARefusalKnowsTheRequest(keys: String, help: String) async throws {
    let harness = try Self.harness(#"{"url": "http://h/"\#(keys)}"#, .head(401, [:], ""))
    let failure = try #require(try await harness.end().failure)
    #expect(failure.help?.hasPrefix(help) == true, "\(failure.help ?? "")")
  }

  static let kinds: [(form: String, type: String, body: String, failure: String?)] = [
    ("auto", "application/json", "{}", nil),
    ("auto", "text/html", "{}", "\"text/html\", not JSON"),
    ("auto", "application/json", "<p>", "is not JSON: found \"<\""),
    ("json", "text/plain", "{}", nil),
    ("json", "text/plain", "<p>", "is not JSON: found \"<\""),
    ("text", "application/json", "{}", "not JSON"),
  ]

  @Test("H36: what is no JSON is told when it is read as JSON", arguments: kinds)
  func anAnswerIsWhatItSaysOrWhatItIsTakenFor(
    form: String, type: String, body: String, failure: String?
  ) async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/", "response": "\#(form)"}"#, .head(200, ["Content-Type": type], body),
      keys: #", "outputs": {"x": "${{ toJSON(self.json) }}"}"#)
    let end = try await harness.end()
    #expect(end.failure?.help?.contains("print") != true, "the help is for programs")
    #expect((end.failure == nil) == (failure == nil))
    if let failure { #expect(end.failure?.message.contains(failure) == true, "\(end)") }
  }

  @Test func anEmptyAnswerIsNullAsJSON() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .head(204, Self.json, ""),
      keys: #", "outputs": {"x": "${{ self.json }}"}"#)
    #expect(try await harness.output() == .null)
  }

  static let statuses: [(expect: String, status: Int, isSuccess: Bool)] = [
    (#"{}"#, 200, true), (#"{}"#, 299, true), (#"{}"#, 304, false), (#"{}"#, 404, false),
    (#"{"status": 404}"#, 404, true), (#"{"status": 404}"#, 200, false),
    (#"{"status": ["2xx", 404]}"#, 404, true), (#"{"status": "4xx"}"#, 410, true),
    (#"{"when": "self.status == 200"}"#, 200, true),
    (#"{"when": "self.json.ok"}"#, 200, false),
  ]

  @Test(arguments: statuses)
  func unexpectedResponseIsAFailure(
    expect: String, status: Int, isSuccess: Bool
  ) async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/", "expect": \#(expect)}"#, .head(status, Self.json, "{}"))
    let end = try await harness.end()
    #expect((end.outcome == .success) == isSuccess)
    if !isSuccess {
      #expect(
        end.failure?.classes == [.http(status), .http(hundreds: status / 100), .http], "\(end)")
    }
    #expect(end.http?.status == status)
  }

  @Test(
    "a redirect that is not followed is explained",
    arguments: [
      (302, nil, 10, [.redirect, .http(302)], nil), (308, nil, 0, [.http(308)], nil),
      (302, "/two", 0, [.http(302)], "redirects are followed if \"redirects\" is greater than 0"),
      (304, nil, 10, [.http(304)], nil), (300, "/two", 10, [.http(300)], nil),
    ] as [(Int, String?, Int, [ErrorClass], String?)])
  func redirectsThatAreNotFollowed(
    status: Int, target: String?, limit: Int, classes: [ErrorClass], help: String?
  ) async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/", "redirects": \#(limit)}"#,
      .head(status, HTTPHeaders(target.map { [HTTPHeader("Location", $0)] } ?? []), ""))
    let end = try await harness.end()
    #expect(end.failure?.classes == classes + [.http(hundreds: 3), .http])
    #expect(end.failure?.help == help)
    #expect(
      end.failure?.message.hasSuffix("without a location") == classes.contains(.redirect))
  }

  @Test func logOfARedirectBeginsWithTheFirstRequest() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/", "body": "x"}"#, .head(302, ["Location": "/two"], ""),
      .head(200, [:], "ok"))
    _ = try await harness.end()
    #expect(
      harness.log()
        == "POST http://h/\n302 http://h/ -> http://h/two\nGET http://h/two\nHTTP 200\n\nok\n")
  }

  @Test func serverErrorTextIsReported() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .head(422, Self.json, #"{"error": "name is taken"}"#))
    let end = try await harness.end()
    #expect(end.failure?.message == "GET http://h/ returned 422 Unprocessable Content")
    let lines = (harness.subscription.takeAll() ?? []).compactMap { event in
      if case .stepOutput(_, let output) = event.kind { output.text } else { nil }
    }
    #expect(lines == [#"{"error": "name is taken"}"#])
    #expect(harness.log().hasPrefix("GET http://h/\nHTTP 422\nContent-Type: application/json"))
    #expect(harness.log().hasSuffix("\n\n{\"error\": \"name is taken\"}\n"))
  }

  @Test func logOfASuccessHasTheHeadAndTheStartOfTheBody() async throws {
    let body = String(repeating: "0123456789abcde\n", count: 8192)
    let harness = try Self.harness(#"{"url": "http://h/"}"#, .head(200, ["X": "y"], body))
    _ = try await harness.end()
    #expect(harness.log().hasPrefix("GET http://h/\nHTTP 200\nX: y\n\n0123"))
    #expect(harness.log().hasSuffix("abcde\n[body truncated]\n"))
    #expect(harness.log().utf8.count < 66_000)
    let outputs = (harness.subscription.takeAll() ?? []).filter { event in
      if case .stepOutput = event.kind { true } else { false }
    }
    #expect(outputs.isEmpty)
  }

  // MARK: A cache

  private static func cached(
    _ keys: String, _ answers: ScriptedTransport.Response...
  ) throws -> RequestHarness {
    try RequestHarness(
      #"""
      {"steps": [
        {"id": "a", "http": {"url": "http://h/"\#(keys)}},
        {"id": "b", "http": {"url": "http://h/"\#(keys)},
         "outputs": {"x": "${{ self.stale }} ${{ self.body }}"}}]}
      """#, ScriptedTransport(answers))
  }

  @Test(
    "H40: an answer is kept for the run if the step says so and the server allows it",
    arguments: [
      (#", "cache": true"#, "max-age=60", 1), (#", "cache": true"#, "no-store", 2),
      (#", "cache": false"#, "max-age=60", 2), ("", "max-age=60", 2),
    ])
  func anAnswerIsKeptForTheRun(keys: String, control: String, requests: Int) async throws {
    let harness = try Self.cached(keys, .head(200, ["Cache-Control": control], "body"))
    #expect(try await harness.output(of: "b") == .string("false body"))
    #expect(harness.transport.requests.count == requests)
    #expect(
      try await harness.end(of: "b").http?.cache
        == (requests == 1 ? "hit" : keys == #", "cache": true"# ? "miss" : nil))
  }

  @Test("H40: an old answer stands in for a failed request if the step says so, and says so itself")
  func anOldAnswerStandsInForAFailedRequest() async throws {
    let answer = ScriptedTransport.Response.head(
      200, ["ETag": "\"1\"", "Cache-Control": "max-age=0"], "old")
    let failure = ScriptedTransport.Response.failure(HTTPFailure(.dns(host: "h")))
    let harness = try Self.cached(#", "cache": true, "staleOnError": true"#, answer, failure)
    #expect(try await harness.output(of: "b") == .string("true old"))
    let end = try await harness.end(of: "b")
    #expect(end.http?.cache == "stale")
    #expect(end.http?.staleReason == "cannot resolve host \"h\"")
    let strict = try Self.cached(#", "cache": true"#, answer, failure)
    #expect(try await strict.end(of: "b").failure?.classes.first == .network(.dns))
  }

  // MARK: Further attempts

  static let classes: [(kind: HTTPFailure.Kind, classes: [String], isTriedAgain: Bool)] = [
    (.dns(host: "h"), ["network:dns", "network"], true),
    (.connect(to: "h", why: "refused"), ["network:connect", "network"], true),
    (.tls(.expired, why: ""), ["network:tls", "network"], false),
    (.reset(why: "reset"), ["network:reset", "network"], true),
    (.partial(received: 1, expected: 2), ["network:read", "network"], true),
    (.timeout(.idle, after: .seconds(1)), ["timeout"], true),
    (.limit(.body, 5), ["limit"], false),
    (.malformed("x"), ["protocol"], false),
    (.redirect(.noTarget(status: 302, from: try! HTTPURL("http://h/"))), ["redirect"], false),
    (.unavailable("x"), ["spawn"], false),
    (.file(path: "f", why: "x"), ["output"], false),
  ]

  @Test("H18: each kind of failure has a class, by which it is tried again", arguments: classes)
  func aFailureHasAClass(
    kind: HTTPFailure.Kind, classes: [String], isTriedAgain: Bool
  ) async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .failure(HTTPFailure(kind)),
      keys: #", "retry": {"max": 1, "delay": "0s"}"#)
    _ = await harness.endedInTime()
    let end = try await harness.end()
    #expect(end.failure?.classes.map(\.name) == classes)
    #expect(end.attempts == (isTriedAgain ? 2 : 1))
  }

  @Test(arguments: [(408, 2), (425, 2), (429, 2), (500, 2), (503, 2), (501, 1), (404, 1), (400, 1)])
  func aStatusThatMayPassIsTriedAgain(status: Int, attempts: Int) async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .head(status, [:], ""),
      keys: #", "retry": {"max": 1, "delay": "0s"}"#)
    _ = await harness.endedInTime()
    #expect(try await harness.end().attempts == attempts)
  }

  @Test("H28: a server that asks for a longer wait than maxDelay is not asked again")
  func aServerThatAsksForTooLongIsNotAskedAgain() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .head(503, ["Retry-After": "999999999"], ""),
      keys: #", "retry": 3"#)
    let end = try await harness.end()
    #expect(end.attempts == 1)
    #expect(end.notRetried?.contains("\"maxDelay\" is 1m") == true, "\(end.notRetried ?? "")")
  }

  @Test("H28: Retry-After is waited for, and nonsense ignored", arguments: [("30", 30), ("x", 0)])
  func aServerIsGivenTheTimeThatItAsksFor(header: String, seconds: Int) async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .head(503, ["Retry-After": header], ""), .head(200, [:], ""),
      keys: #", "retry": {"max": 1, "delay": "0s"}"#)
    _ = await harness.endedInTime()
    let delays = (harness.subscription.takeAll() ?? []).compactMap { event in
      if case .stepRetrying(_, let retry) = event.kind { retry.delay } else { nil }
    }
    #expect(delays == [.seconds(seconds)])
  }

  static let doubtful: [(keys: String, attempts: Int)] = [
    (#""method": "POST""#, 1), (#""method": "PATCH""#, 1), (#""method": "PUT""#, 2),
    (#""method": "POST", "idempotencyKey": true"#, 2),
  ]

  @Test("H27: what may have been processed is not sent again", arguments: doubtful)
  func possiblyExecutedRequestIsNotRepeated(keys: String, attempts: Int) async throws {
    let isInDoubt = attempts == 1
    let harness = try Self.harness(
      #"{"url": "http://h/", \#(keys)}"#,
      .failure(HTTPFailure(.reset(why: "reset"), isInDoubt: isInDoubt)),
      keys: #", "retry": {"max": 1, "delay": "0s"}"#)
    _ = await harness.endedInTime()
    let end = try await harness.end()
    #expect(end.attempts == attempts)
    #expect((end.notRetried?.contains("may have been processed") == true) == isInDoubt)
    #expect(end.hasRequestInDoubt == isInDoubt)
    #expect((end.failure?.help?.contains("--rerun-interrupted") == true) == isInDoubt)
  }

  @Test("H29: retries of many steps share one budget")
  func retriesOfManyStepsShareOneBudget() async throws {
    let harness = try RequestHarness(
      #"""
      {"onFailure": "continue",
       "steps": [{"id": "all", "forEach": {"in": "${{ fromJSON('[1,2,3,4,5,6,7,8,9,10,11,12]') }}"},
                  "http": {"url": "http://h/${{ item }}"}, "retry": {"max": 100, "delay": "1ms"}}]}
      """#, ScriptedTransport([.head(429, [:], "")]))
    let report = await harness.endedInTime()
    #expect(!report.succeeded)
    // Twelve first attempts, a hundred further ones, and a fifth of the steps.
    #expect((112...116).contains(harness.transport.requests.count))
  }

  @Test func aConditionOfRetryReadsTheAnswer() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .head(409, Self.json, #"{"again": true}"#),
      .head(409, Self.json, #"{"again": false}"#),
      keys: #"""
        , "retry": {"max": 9, "delay": "0s", "on": ["http:4xx"],
                    "when": "self.status == 409 && self.json.again"}
        """#)
    _ = await harness.endedInTime()
    let end = try await harness.end()
    #expect(end.attempts == 2)
    #expect(end.notRetried == "the condition \"when\" of \"retry\" is false")
  }

  // MARK: Ending early

  @Test func theStepsTimeLimitEndsARequest() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/"}"#, .silence, keys: #", "timeout": "5s""#)
    harness.time.advance(by: .seconds(5))
    let end = try await harness.end()
    #expect(end.failure?.classes == [.timeout])
  }

  @Test("H27: a POST that ran into the step's time limit is not sent again")
  func aPOSTThatRanIntoTheTimeLimitIsNotSentAgain() async throws {
    let harness = try Self.harness(
      #"{"url": "http://h/", "method": "POST"}"#, .silence,
      keys: #", "timeout": "5s", "retry": 3"#)
    harness.time.advance(by: .seconds(5))
    let end = try await harness.end()
    #expect(end.attempts == 1)
    #expect(end.notRetried?.contains("may have been processed") == true)
  }

  @Test func aCancelledRunEndsItsRequests() async throws {
    let harness = try Self.harness(#"{"url": "http://h/"}"#, .silence)
    harness.run.cancel(.requested)
    #expect(try await harness.end().outcome == .cancelled)
  }

  @Test func secretsAreMaskedInRequestReports() async throws {
    let secret = "s3cret/token"
    let harness = try RequestHarness(
      #"""
      {"secrets": {"T": {"env": "T"}}, "steps": [{"id": "a",
        "http": {"url": "http://h/x", "query": {"key": "${{ secrets.T }}"}}}]}
      """#, ScriptedTransport([.head(500, ["X-Echo": secret], "you sent \(secret)")]),
      secrets: ["T": try Secret(Array(secret.utf8))])
    let end = try await harness.end()
    #expect(end.http?.url == "http://h/x?key=***")
    let everything =
      harness.log() + "\(harness.subscription.takeAll() ?? [])"
    #expect(!everything.contains(secret) && !everything.contains("s3cret"), "\(everything)")
  }
}
