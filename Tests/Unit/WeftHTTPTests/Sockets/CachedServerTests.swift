import Testing
import WeftFutures
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

/// A cache in front of libcurl and a real connection.
struct CachedServerTests {
  private func client() -> HTTPClient {
    HTTPClient(transport: CachingTransport(CurlTransport(), cache: .inMemory()))
  }

  private func contents(_ path: String) -> String? {
    (try? FileReading.bytes(of: path)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A server that gives these responses, one per connection, so that the number of connections is that of requests.
  private func server(_ answers: [String]) -> HostileServer {
    HostileServer { connection in
      // One request per connection, so that the index of the response is the connection's number.
      guard connection.readRequest() != nil else { return }
      connection.send(answers[min(connection.number, answers.count) - 1])
    }
  }

  private let fresh =
    "HTTP/1.1 200 OK\r\nCache-Control: max-age=86400\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"

  @Test("H40: what was saved into a file is saved into the next one without asking")
  func savedResponseIsReusedWithoutARequest() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let server = server([fresh])
    defer { server.close() }
    let client = client()
    for (name, expected) in [("one", "miss"), ("two", "hit")] {
      let path = scratch.path + "/" + name
      let request = try request(server.url()) { $0.saveTo = SaveTarget(path) }
      let answer = await ask(request, by: client)
      #expect(answer.cacheStatus == expected)
      #expect(answer.response?.savedTo == path)
      #expect(contents(path) == "hello")
    }
    #expect(server.accepted == 1)
    #expect(scratch.names == ["one", "two"])
  }

  @Test func aSavedAnswerThatIsTooLongLeavesNothing() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let server = server([fresh])
    defer { server.close() }
    let client = client()
    #expect(
      await ask(try request(server.url()) { $0.wantsCompression = false }, by: client).text
        == "hello")
    let limited = try request(server.url()) {
      $0.saveTo = SaveTarget(scratch.path + "/out")
      $0.maxBytes = 4
    }
    #expect(await ask(limited, by: client).kind == .limit(.body, 4))
    #expect(scratch.names == [])
    #expect(server.accepted == 1)
  }

  @Test func unsavableCachedResponseFailsLikeAnyOther() async throws {
    let server = server([fresh])
    defer { server.close() }
    let client = client()
    _ = await ask(try request(server.url()) { $0.wantsCompression = false }, by: client)
    let lost = try request(server.url()) { $0.saveTo = SaveTarget("/nowhere/at/all") }
    guard case .file(let path, _) = await ask(lost, by: client).kind else {
      Issue.record("saved into a directory that is not there")
      return
    }
    #expect(path == "/nowhere/at/all")
  }

  @Test("RFC 5861 §4: a body that breaks off is a failed answer too", arguments: [true, false])
  func brokenOff(isSaved: Bool) async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let broken = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nbro"
    let stale =
      "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
    let server = server([stale, broken])
    defer { server.close() }
    let client = client()
    let path = scratch.path + "/out"
    let question = try request(server.url()) {
      $0.caching.staleOnError = .always
      if isSaved { $0.saveTo = SaveTarget(path) }
    }
    _ = await ask(question, by: client)
    let answer = await ask(question, by: client)
    guard case .failure(let failure) = answer.response?.staleReason else {
      Issue.record("\(answer)")
      return
    }
    #expect(failure.kind == .partial(received: 3, expected: 9))
    #expect(isSaved ? contents(path) == "hello" : answer.text == "hello")
    #expect(scratch.names == (isSaved ? ["out"] : []))
  }

  @Test func requestInFlightIsCancelled() async throws {
    let server = HostileServer { connection in
      _ = connection.readRequest()
      connection.waitForClient()
    }
    defer { server.close() }
    let future = client().send(try request(server.url()))
    server.waits(forConnections: 1)
    future.cancel()
    #expect(await future.result.kind == .cancelled)
  }
}
