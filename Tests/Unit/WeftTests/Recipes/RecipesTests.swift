import Synchronization
import Testing
import Weft
import WeftPlatform

/// The recipes of Requests.md, over a transport that answers from a table.
struct RecipesTests {
  private static let latest = #"{"version": "1.2", "files": ["files/weft.tar"]}"#

  private func releases(_ answers: [String: (status: Int, body: String)]) throws -> Releases {
    Releases(
      client: HTTPClient(transport: CannedTransport(answers: answers)),
      base: try HTTPURL("https://releases.test/v1"))
  }

  private func failure<Value, Failure>(_ future: Future<Value, Failure>) async -> Failure? {
    if case .failure(let failure) = await future.result { failure } else { nil }
  }

  @Test func anAnswerBecomesAValueOfATypeOfOnesOwn() async throws {
    let releases = try releases(["/v1/weft/latest": (200, Self.latest)])
    let release = try await releases.latest(of: "weft").value
    #expect(release == Release(version: "1.2", files: ["files/weft.tar"]))
  }

  @Test func undecodableValueFailsWithItsLocation() async throws {
    let releases = try releases([
      "/v1/a/latest": (200, "{\n  \"version\": }"),
      "/v1/b/latest": (200, #"{"version": "1", "files": ["x", 2]}"#),
      "/v1/c/latest": (200, #"{"version": "1"}"#),
    ])
    var messages: [String] = []
    for tool in ["a", "b", "c"] {
      messages.append(await failure(releases.latest(of: tool))?.message ?? "none")
    }
    #expect(messages[0].contains("the body is not JSON: line 2, column 13: "))
    #expect(messages[1].hasSuffix("files[1]: expected a string, found a number"))
    #expect(messages[2].hasSuffix("there is no member \"files\""))
  }

  @Test(arguments: [(204, true), (404, false), (200, nil), (500, nil)] as [(Int, Bool?)])
  func onlyTheStatusesThatAreNamedPass(status: Int, expected: Bool?) async throws {
    let client = HTTPClient(transport: CannedTransport(answers: ["/x": (status, "")]))
    let outcome = await remove(try HTTPURL("https://a.test/x"), by: client).result
    #expect((try? outcome.get()) == expected)
    if expected == nil, case .failure(let failure) = outcome {
      #expect(failure.message == "https://a.test/x returned status \(status)")
      #expect(failure.isTransient == (status == 500))
    }
  }

  @Test func failuresOfEveryKindBecomeOneEnum() async throws {
    let releases = try releases([
      "/v1/unknown/latest": (404, ""), "/v1/busy/latest": (503, ""), "/v1/odd/latest": (200, "[]"),
    ])
    #expect(await failure(releases.newest(of: "unknown")) == .unknownTool)
    #expect(
      await failure(releases.newest(of: "busy"))
        == .tryLater("https://releases.test/v1/busy/latest returned status 503"))
    #expect(
      await failure(releases.newest(of: "away"))
        == .tryLater("cannot connect to releases.test: nobody there"))
    guard case .broken = await failure(releases.newest(of: "odd")) else {
      Issue.record("an array is no release")
      return
    }
  }

  @Test func callsFollowEachOtherAndRunBesideEachOther() async throws {
    let releases = try releases([
      "/v1/a/latest": (200, Self.latest), "/v1/b/latest": (200, Self.latest),
      "/v1/a/1.2/notes": (200, "better"),
    ])
    #expect(try await releases.latestNotes(of: "a").value.text() == "better")
    let both = try await releases.latest(of: "a", and: "b").value
    #expect(both.0 == both.1)
    #expect(await failure(releases.latest(of: "a", and: "away")) != nil)
    #expect(await releases.available(of: ["a", "away", "b"]).value.count == 2)
    let mirrors = try ["https://m.test/gone", "https://m.test/v1/a/1.2/notes"].map {
      try HTTPURL($0)
    }
    #expect(try await fetch(mirrors, by: releases.client).value.text() == "better")
    #expect(await failure(fetch([mirrors[0]], by: releases.client))?.failures.count == 1)
  }

  /// Answers once, and is then unreachable.
  private struct OnceTransport: Transport {
    let asked = Counter()

    final class Counter: Sendable {
      private let count = Mutex(0)
      var isFirst: Bool {
        count.withLock { count in
          count += 1
          return count == 1
        }
      }
    }

    func exchange(
      _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
    ) -> Future<HTTPExchange, HTTPFailure> {
      guard asked.isFirst else { return Future(failure: HTTPFailure(.dns(host: "a.test"))) }
      let head = HTTPResponseHead(status: 200)
      _ = plan(head)
      return Future(value: HTTPExchange(head: head, body: Array(#"{"depth": 3}"#.utf8)))
    }
  }

  @Test func anOlderAnswerStandsInForAServerThatIsAwayAndSaysSo() async throws {
    let client = HTTPClient(
      transport: CachingTransport(OnceTransport(), cache: .inMemory()))
    let url = try HTTPURL("https://a.test/settings")
    let warnings = Mutex<[String]>([])
    for _ in 1...2 {
      let found = try await settings(at: url, by: client) { text in
        warnings.withLock { $0.append(text) }
      }
      #expect(found["depth"] == 3)
    }
    #expect(
      warnings.withLock { $0 }
        == ["these settings are from the cache: cannot resolve host \"a.test\""])
  }

  /// Checks that the article contains the tested code.
  @Test func articleShowsTestedCode() throws {
    let here = #filePath.split(separator: "/").dropLast().map(String.init)
    let root = "/" + here.dropLast(4).joined(separator: "/")
    let code = lines(of: try text("/" + here.joined(separator: "/") + "/Recipes.swift"))
    let article = try text(root + "/Sources/Weft/Documentation.docc/Requests.md")
    let blocks = article.split(separator: "```swift\n").dropFirst()
      .map { lines(of: String($0.prefix(upTo: $0.firstRange(of: "\n```")!.lowerBound))) }
    #expect(blocks.count >= 6)
    for block in blocks where block.first != "// Not a recipe." {
      #expect(code.firstRange(of: block) != nil, "not in Recipes.swift: \(block)")
    }
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try FileReading.bytes(of: path), as: UTF8.self)
  }

  /// The lines without their indentation.
  private func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
      .filter { !$0.isEmpty }
  }
}
