import Synchronization
import Testing

@testable import WeftHTTP

/// A cache as the client sees it, and a client with a cache as the server sees it.
struct CachingTransportTests {
  private typealias Answer = Origin.Answer

  private static let reset = Answer.failure(HTTPFailure(.reset(why: "gone")))

  @Test("H40: what is fresh is not asked for again, and says how old it is")
  func freshResponseIsServedWithItsAge() async throws {
    let world = CachedWorld(.ok(["Cache-Control": "max-age=60"], "one"), .ok([:], "two"))
    #expect(try await world.ask().cacheStatus == "miss")
    world.clock.advance(by: 59)
    let again = try await world.ask().get()
    #expect(again.cacheStatus.name == "hit")
    #expect(try again.text() == "one")
    #expect(again.headers["age"] == "59")
    #expect(again.figures.requests == 0)
    #expect(world.origin.requests.count == 1)
    world.clock.advance(by: 1)
    #expect(try await world.ask().text == "two")
  }

  @Test("H40: no-store, in an answer or a request, keeps nothing", arguments: [true, false])
  func noStore(inAnswer: Bool) async throws {
    let world = CachedWorld(
      inAnswer
        ? .ok(["Cache-Control": "no-store, max-age=60"]) : .ok(["Cache-Control": "max-age=60"]))
    let headers: HTTPHeaders = inAnswer ? [:] : ["Cache-Control": "no-store"]
    for _ in 1...2 { _ = try await world.ask("https://a.test/x", .get, headers) }
    #expect(try await world.ask().cacheStatus == "miss")
    #expect(world.origin.requests.count == 3)
  }

  @Test("H40: what one has been told with his credentials is not told to another")
  func responseIsNotSharedAcrossCredentials() async throws {
    let world = CachedWorld(
      Origin { request in
        .ok(
          ["Cache-Control": "max-age=60"],
          HTTPHeaders(request.headers)["authorization"] ?? "nobody")
      })
    for _ in 1...2 {
      #expect(try await world.ask { $0.auth = .bearer("one") }.text == "Bearer one")
      #expect(try await world.ask { $0.auth = .bearer("two") }.text == "Bearer two")
      #expect(try await world.ask().text == "nobody")
    }
    #expect(world.origin.requests.count == 3)
  }

  @Test("H40, RFC 9111 §4.3: what is stale is asked about, and a 304 makes it fresh")
  func staleResponseIsRevalidated() async throws {
    let world = CachedWorld(
      .ok(["Cache-Control": "max-age=5", "ETag": "\"v1\"", "A": "1"], "one"),
      .status(304, ["ETag": "\"v1\"", "Cache-Control": "max-age=50", "A": "2"]))
    _ = try await world.ask()
    world.clock.advance(by: 6)
    let again = try await world.ask().get()
    #expect(again.cacheStatus.name == "revalidated")
    #expect(again.status == 200)
    #expect(try again.text() == "one")
    #expect(again.headers["a"] == "2")
    #expect(HTTPHeaders(world.origin.requests[1].headers)["if-none-match"] == "\"v1\"")
    world.clock.advance(by: 49)
    #expect(try await world.ask().cacheStatus == "hit")
  }

  @Test("§4.3.3: another answer takes the place of the stored one")
  func newResponseReplacesTheStoredOne() async throws {
    let world = CachedWorld(
      .ok(["ETag": "\"v1\""], "one"), .ok(["ETag": "\"v2\"", "Cache-Control": "max-age=9"], "two"))
    _ = try await world.ask()
    #expect(try await world.ask().text == "two")
    let third = try await world.ask()
    #expect(third.text == "two")
    #expect(third.cacheStatus == "hit")
  }

  @Test("§4.3.4: a 304 about something else is not believed, and the answer asked for anew")
  func strangeNotModified() async throws {
    let world = CachedWorld(
      .ok(["ETag": "\"v1\""], "one"), .status(304, ["ETag": "\"v9\""]), .ok([:], "two"))
    _ = try await world.ask()
    #expect(try await world.ask().text == "two")
    let last = try #require(world.origin.requests.last)
    #expect(world.origin.requests.count == 3)
    #expect(!HTTPHeaders(last.headers).contains("if-none-match"))
  }

  @Test("§4.1: answers that vary are kept beside each other")
  func varyingResponsesAreStoredSideBySide() async throws {
    let world = CachedWorld(
      Origin { request in
        .ok(
          ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
          HTTPHeaders(request.headers)["accept-language"] ?? "none")
      })
    let url = "https://a.test/x"
    for _ in 1...2 {
      for language in ["de", "en"] {
        #expect(try await world.ask(url, .get, ["Accept-Language": language]).text == language)
      }
      #expect(try await world.ask().text == "none")
    }
    #expect(world.origin.requests.count == 3)
  }

  @Test("§4.4: a change at the server is a change in the cache, for every asker")
  func unsafeRequestInvalidatesForEveryClient() async throws {
    let world = CachedWorld(.ok(["Cache-Control": "max-age=60"]))
    _ = try await world.ask()
    _ = try await world.ask { $0.auth = .bearer("t") }
    _ = try await world.ask("https://a.test/x", .put) { $0.caching.isAllowed = false }
    #expect(try await world.ask().cacheStatus == "miss")
    #expect(try await world.ask { $0.auth = .bearer("t") }.cacheStatus == "miss")
  }

  private static let failedChangeCases: [(Origin.Answer, String)] = [
    (Origin.Answer.status(500), "hit"),
    (.failure(HTTPFailure(.reset(why: "gone"), isInDoubt: true)), "miss"),
    (.failure(HTTPFailure(.connect(to: "a.test:443", why: "refused"))), "hit"),
  ]

  @Test(
    "§4.4: a change that failed changes nothing, and one in doubt may have",
    arguments: failedChangeCases)
  func failedChange(answer: Origin.Answer, expected: String) async throws {
    let fresh = Answer.ok(["Cache-Control": "max-age=60"])
    let world = CachedWorld(fresh, answer, fresh)
    _ = try await world.ask()
    _ = try await world.ask("https://a.test/x", .post)
    #expect(try await world.ask().cacheStatus == expected)
  }

  private static let headCases: [(HTTPHeaders, String)] = [
    (["Cache-Control": "max-age=60", "ETag": "\"v1\""], "hit"),
    (["Cache-Control": "max-age=60", "ETag": "\"v2\""], "miss"),
    (["Cache-Control": "max-age=60", "Content-Length": "99"], "miss"),
  ]

  @Test(
    "§4.3.5: an answer to HEAD makes the stored one fresh, or shows that it is not right",
    arguments: headCases)
  func head(headers: HTTPHeaders, expected: String) async throws {
    let world = CachedWorld(
      .ok(["Cache-Control": "max-age=5", "ETag": "\"v1\"", "Content-Length": "4"]),
      .status(200, headers), .ok())
    _ = try await world.ask()
    let fresh = try await world.ask("https://a.test/x", .head).get()
    #expect(fresh.cacheStatus.name == "hit")
    #expect(fresh.body == [])
    world.clock.advance(by: 6)
    #expect(try await world.ask("https://a.test/x", .head).cacheStatus == "miss")
    #expect(world.origin.requests.count == 2)
    #expect(try await world.ask().cacheStatus == expected)
  }

  @Test("§5.2.1.7: what may only come from the cache, and is not there, is a 504")
  func onlyIfCached() async throws {
    let world = CachedWorld(.ok())
    let answer = try await world.ask("https://a.test/x", .get, ["Cache-Control": "only-if-cached"])
    #expect(answer.response?.status == 504)
    #expect(world.origin.requests.isEmpty)
  }

  private static let staleOnErrorCases: [Origin.Answer] = [
    reset, .status(503, [:], "down"), .status(500),
  ]

  @Test(
    "RFC 5861 §4: a stored answer stands in for a server that has failed, and says so",
    arguments: staleOnErrorCases)
  func staleOnError(trouble: Origin.Answer) async throws {
    let world = CachedWorld(.ok(["Cache-Control": "max-age=5"], "one"), trouble)
    _ = try await world.ask()
    world.clock.advance(by: 6)
    let answer = try await world.ask { $0.caching.staleOnError = .always }.get()
    #expect(try answer.text() == "one")
    #expect(answer.status == 200)
    #expect(answer.isStale)
    switch (try #require(answer.staleReason), trouble) {
    case (.failure(let failure), .failure): #expect(failure.kind == .reset(why: "gone"))
    case (.status(let status), .head(let head, _)): #expect(status == head.status)
    case (let reason, _): Issue.record("\(reason)")
    }
  }

  @Test func failureWithoutStaleOnErrorIsAFailure() async throws {
    let world = CachedWorld(
      .ok(["Cache-Control": "max-age=5, stale-if-error=99"]), Self.reset, .status(503), .ok())
    _ = try await world.ask()
    world.clock.advance(by: 6)
    #expect(try await world.ask().kind == .reset(why: "gone"))
    #expect(try await world.ask().response?.status == 503)
  }

  private static let ownFailureCases: [HTTPFailure.Kind] = [
    HTTPFailure.Kind.cancelled, .limit(.body, 3), .address("127.0.0.1"),
    .unavailable("no libcurl"),
  ]

  @Test("a failure of this side's own making has no stand-in", arguments: ownFailureCases)
  func ownFailure(kind: HTTPFailure.Kind) async throws {
    let world = CachedWorld(.ok(), .failure(HTTPFailure(kind)))
    _ = try await world.ask()
    #expect(try await world.ask { $0.caching.staleOnError = .always }.kind == kind)
  }

  @Test func anAnswerThatMayNotBeKeptEndsWhatWasStored() async throws {
    let world = CachedWorld(.ok([:], "one"), .ok(["Cache-Control": "no-store"], "two"), Self.reset)
    _ = try await world.ask()
    _ = try await world.ask()
    #expect(try await world.ask { $0.caching.staleOnError = .always }.cacheStatus == "failed")
  }

  @Test func aRedirectIsStoredLikeAnyOtherAnswer() async throws {
    let world = CachedWorld(
      Origin { request in
        request.url.path == "/x"
          ? .status(301, ["Location": "/y", "Cache-Control": "max-age=60"])
          : .ok(["Cache-Control": "max-age=9"])
      })
    _ = try await world.ask()
    let again = try await world.ask().get()
    #expect(again.cacheStatus.name == "hit")
    #expect(again.redirects.map(\.to.path) == ["/y"])
    #expect(world.origin.requests.map(\.url.path) == ["/x", "/y"])
    world.clock.advance(by: 10)
    _ = try await world.ask()
    #expect(world.origin.requests.map(\.url.path) == ["/x", "/y", "/y"])
  }

  @Test func limitsApplyToStoredResponses() async throws {
    let world = CachedWorld(.ok(["Cache-Control": "max-age=60"], "12345"))
    _ = try await world.ask()
    #expect(try await world.ask { $0.maxBytes = 4 }.kind == .limit(.body, 4))
    #expect(try await world.ask { $0.maxBytes = 5 }.cacheStatus == "hit")
  }

  @Test func aBodyThatIsTooLongForTheCacheIsNotKept() async throws {
    let limits = CacheLimits(totalBytes: 1 << 20, bodyBytes: 4)
    let world = CachedWorld(
      Origin { .ok(["Cache-Control": "max-age=60"], $0.url.path == "/long" ? "12345" : "1234") },
      cache: .inMemory(limits: limits))
    for (path, expected) in [("/long", "miss"), ("/short", "hit")] {
      _ = try await world.ask("https://a.test" + path)
      #expect(try await world.ask("https://a.test" + path).cacheStatus == expected)
    }
  }

  @Test func cacheIsSharedByTransports() async throws {
    let cache = HTTPCache.inMemory()
    let answer = Answer.ok(["Cache-Control": "max-age=60"])
    _ = try await CachedWorld(Origin(answer), cache: cache).ask()
    #expect(try await CachedWorld(Origin(answer), cache: cache).ask().cacheStatus == "hit")
  }
}
