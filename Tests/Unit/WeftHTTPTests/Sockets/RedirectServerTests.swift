import Synchronization
import Testing
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

/// Redirects over the wire.
struct RedirectServerTests {
  /// A server whose `/NUMBER` redirects to `/NUMBER-1`, and whose `/0` answers; it keeps the heads it received.
  private struct Maze {
    let log: Log
    let server: HostileServer

    init(_ status: Int = 302, to target: String? = nil) {
      let log = Log()
      self.log = log
      server = HostileServer { connection in
        while let (head, body) = connection.readRequest() {
          log.add(head + String(decoding: body, as: UTF8.self))
          let number = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
          if number > 0 {
            connection.answer("\(status) Go", ["Location: \(target ?? "/\(number - 1)")"])
          } else {
            connection.answer(body: "arrived")
          }
        }
      }
    }

    var seen: [String] { log.all }
  }

  @Test("H06: ten redirects are followed, and of eleven the chain is told")
  func redirectChainIsLimited() async throws {
    let maze = Maze()
    defer { maze.server.close() }
    let ten = await ask(try request(maze.server.url("/10")))
    #expect(ten.text == "arrived")
    #expect(ten.response?.redirects.count == 10)
    #expect(ten.response?.figures.requests == 11)
    #expect(ten.response?.url.description == maze.server.url("/0"))
    let eleven = await ask(try request(maze.server.url("/11")))
    #expect(eleven.failure?.errorClass == "redirect")
    #expect(eleven.failure?.message.contains(maze.server.url("/0")) == true)
  }

  @Test("H06: a redirect to itself ends")
  func redirectLoopEnds() async throws {
    let maze = Maze(to: "/1")
    defer { maze.server.close() }
    let outcome = await ask(try request(maze.server.url("/1")))
    #expect(outcome.failure?.errorClass == "redirect")
    #expect(maze.seen.count == 11)
  }

  @Test(
    "H07: nothing but http is followed to",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "data:,x"])
  func otherSchemesAreRefused(target: String) async throws {
    let maze = Maze(to: target)
    defer { maze.server.close() }
    let failure = await ask(try request(maze.server.url("/1"))).failure
    #expect(failure?.errorClass == "redirect")
    #expect(failure?.message.contains(String(target.prefix { $0 != ":" })) == true)
  }

  @Test("H03: another port is another origin, and gets no credentials")
  func otherPortReceivesNoCredentials() async throws {
    let other = Maze()
    defer { other.server.close() }
    let maze = Maze(to: other.server.url("/0"))
    defer { maze.server.close() }
    let asked = try request(maze.server.url("/1")) {
      $0.headers = ["Cookie": "c=1", "X-Plain": "p"]
      $0.headers.add(HTTPHeader("X-Api-Key", "k", isSecret: true))
      $0.auth = .basic(user: "u", password: "p")
    }
    let response = try await ask(asked).get()
    #expect(response.redirects.first?.withheld == ["Cookie", "X-Api-Key", "Authorization"])
    #expect(maze.seen[0].contains("Authorization: Basic dTpw\r\n"))
    #expect(maze.seen[0].contains("X-Api-Key: k\r\n"))
    let head = other.seen[0].lowercased()
    #expect(head.contains("x-plain: p\r\n"))
    for name in ["authorization", "cookie", "x-api-key"] { #expect(!head.contains(name)) }
  }

  @Test("H05: a body is sent again to the same origin, whole", arguments: [307, 308])
  func bodyIsResentWholeToTheSameOrigin(status: Int) async throws {
    let maze = Maze(status)
    defer { maze.server.close() }
    let asked = try request(maze.server.url("/1"), .post) { $0.body = .text("hello") }
    #expect(await ask(asked).text == "arrived")
    #expect(maze.seen.allSatisfy { $0.hasPrefix("POST") && $0.hasSuffix("\r\n\r\nhello") })
    #expect(maze.seen.count == 2)
  }

  @Test func aPostThatIsRedirectedToSeeSomethingBecomesAGet() async throws {
    let maze = Maze(303)
    defer { maze.server.close() }
    let asked = try request(maze.server.url("/1"), .post) { $0.body = .text("hello") }
    #expect(await ask(asked).response?.method == .get)
    #expect(maze.seen[1].hasPrefix("GET /0 "))
    #expect(!maze.seen[1].lowercased().contains("content-"))
  }

  @Test("H08: the body of a redirect is not waited for")
  func endlessBody() async throws {
    let server = HostileServer { connection in
      guard let head = connection.readHead() else { return }
      if head.hasPrefix("GET /0 ") {
        connection.answer(body: "arrived")
        return
      }
      connection.send("HTTP/1.1 302 Go\r\nLocation: /0\r\n\r\n")
      while connection.send(String(repeating: "x", count: 65_536)) {}
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url("/1")))
    #expect(outcome.text == "arrived")
    // Chunks that were in flight when it was cut off count.
    #expect((outcome.response?.figures.bodyBytesReceived ?? .max) < 1024 * 1024)
  }

  @Test func theDeadlineIsForAllRedirectsTogether() async throws {
    let server = HostileServer { connection in
      while connection.readHead() != nil {
        connection.answer("302 Go", ["Location: /again"], body: "")
      }
    }
    defer { server.close() }
    let time = Mutex(Duration.zero)
    let slow = HTTPClient(transport: CurlTransport()) {
      time.withLock { time in
        time += .seconds(3)
        return time
      }
    }
    let outcome = await ask(
      try request(server.url()) { $0.deadlines.total = .seconds(10) }, by: slow)
    #expect(outcome.kind == .timeout(.total, after: .seconds(10)))
    #expect(outcome.failure?.redirects.count == 3)
  }
}
