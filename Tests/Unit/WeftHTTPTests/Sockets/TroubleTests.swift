import Glibc
import Synchronization
import TestSupport
import Testing
import WeftFutures
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

/// Connections that fail, stall and break.
struct TroubleTests {
  private func mute() -> HostileServer { HostileServer { $0.waitForClient() } }

  @Test("H18: a refused connection is told as such")
  func refusedConnectionIsReported() async throws {
    let server = mute()
    defer { server.close() }
    server.close()
    let outcome = await ask(try request(server.url()))
    guard case .connect(let to, let why)? = outcome.kind else {
      Issue.record("\(String(describing: outcome.kind))")
      return
    }
    #expect(to == "http://127.0.0.1:\(server.port)")
    #expect(why.contains("refused"))
    #expect(outcome.failure?.isTransient == true)
    #expect(outcome.failure?.isInDoubt == false)
  }

  @Test("H18: a name without an address is told as such")
  func noSuchName() async throws {
    let outcome = await ask(try request("http://no-such-name.invalid/"))
    #expect(outcome.kind == .dns(host: "no-such-name.invalid"))
    #expect(outcome.failure?.errorClass == "network:dns")
  }

  @Test("H18: a connection that is closed without a word is told as such")
  func empty() async throws {
    let server = HostileServer { _ = $0.readHead() }
    defer { server.close() }
    #expect(await ask(try request(server.url())).kind == .empty)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 102 Processing\r\n\r\n",
  ])
  func aHeadThatBreaksOffMayBeTriedAgain(start: String) async throws {
    let server = HostileServer { connection in
      if connection.readHead() != nil { connection.send(start) }
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()))
    #expect(outcome.kind == .empty)
    #expect(outcome.failure?.errorClass == "network:read")
    #expect(outcome.failure?.isTransient == true)
  }

  @Test("H18: a connection that is reset is told as such")
  func reset() async throws {
    let server = HostileServer { connection in
      connection.resetAtEnd()
      _ = connection.readHead()
    }
    defer { server.close() }
    guard case .reset? = await ask(try request(server.url())).kind else {
      Issue.record("not a reset")
      return
    }
  }

  @Test("H18: a server without TLS is told as such")
  func noTLS() async throws {
    let server = HostileServer { connection in
      _ = connection.read(5)
      connection.answer()
    }
    defer { server.close() }
    let outcome = await ask(try request("https://127.0.0.1:\(server.port)/"))
    guard case .tls(.handshake, _)? = outcome.kind else {
      Issue.record("\(String(describing: outcome.kind))")
      return
    }
  }

  @Test("H18: whatever byte an answer breaks off at, it is no answer, and nothing hangs")
  func resetAtEveryByte() async throws {
    let answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"
    let bytes = Array(answer.utf8)
    let next = Mutex(0)
    let server = HostileServer { connection in
      let count = next.withLock { count in
        defer { count += 1 }
        return count
      }
      guard connection.readHead() != nil else { return }
      if count % 2 == 1 { connection.resetAtEnd() }
      connection.send(Array(bytes.prefix(count / 2)))
    }
    defer { server.close() }
    var wholes = 0
    for _ in 0..<2 * bytes.count {
      // libcurl would also resend a PUT, but on a new connection it resends nothing.
      let outcome = await ask(try request(server.url()))
      // libcurl accepts a last line end that lacks one byte or two: the length of the body is known.
      if outcome.text == "helloworld" {
        wholes += 1
      } else {
        #expect(
          ["network:reset", "network:read", "protocol"].contains(outcome.failure?.errorClass))
      }
    }
    #expect(wholes <= 4)
    #expect(server.accepted == 2 * bytes.count)
  }

  @Test("H13: a connection that does not come about is given up in time")
  func connectDeadline() async throws {
    // A listener whose queue is full accepts no connection.
    let server = FullListener()
    let (outcome, took) = try timed(
      request("http://127.0.0.1:\(server.port)/") {
        $0.deadlines.connect = .milliseconds(250)
      })
    #expect(outcome.kind == .timeout(.connect, after: .milliseconds(250)))
    #expect(took >= .milliseconds(245) && took < .seconds(10), "\(took)")
    server.close()
  }

  @Test("H14: a trickle does not keep a request beyond its deadline")
  func tricklingBodyEndsAtItsDeadline() async throws {
    let server = HostileServer { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send("x") { usleep(30_000) }
    }
    defer { server.close() }
    let (outcome, took) = try timed(
      request(server.url()) {
        $0.deadlines = HTTPDeadlines(idle: .milliseconds(800), total: .milliseconds(400))
      })
    #expect(outcome.kind == .timeout(.total, after: .milliseconds(400)))
    #expect(took >= .milliseconds(400) && took < .seconds(10), "\(took)")
  }

  @Test(
    "H15: silence is not waited for longer than its deadline",
    arguments: ["", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nx"])
  func silentServerEndsAtItsDeadline(text: String) async throws {
    let server = HostileServer { connection in
      guard connection.readHead() != nil else { return }
      connection.send(text)
      connection.waitForClient()
    }
    defer { server.close() }
    let (outcome, took) = try timed(
      request(server.url()) { $0.deadlines.idle = .milliseconds(200) })
    #expect(outcome.kind == .timeout(.idle, after: .milliseconds(200)))
    #expect(took >= .milliseconds(200) && took < .seconds(10), "\(took)")
  }

  @Test("H16: headers that trickle are given up at the deadline")
  func headerTrickle() async throws {
    let server = HostileServer { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n")
      while connection.send("X: y\r\n") { usleep(20_000) }
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()) { $0.deadlines.total = .milliseconds(300) })
    #expect(outcome.kind == .timeout(.total, after: .milliseconds(300)))
  }

  @Test(
    "H27: a POST whose connection breaks is in doubt, and is not sent again",
    arguments: [true, false])
  func postInDoubt(isReset: Bool) async throws {
    let server = HostileServer { connection in
      if isReset { connection.resetAtEnd() }
      _ = connection.readRequest()
    }
    defer { server.close() }
    let post = try request(server.url(), .post) { $0.body = .text("x") }
    let failure = try #require(await ask(post).failure)
    #expect(failure.isInDoubt)
    #expect(failure.adviceOnRetry(of: post) == .giveUp(.mayHaveBeenDone(.post)))
    #expect(server.accepted == 1)
    var keyed = post
    keyed.idempotencyKey = "k"
    let other = try #require(await ask(keyed).failure)
    #expect(other.adviceOnRetry(of: keyed) == .retry(noSoonerThan: nil))
  }

  /// libcurl does so by itself if the connection has been used before.
  @Test(
    "H27: a POST is not sent again behind one's back when a used connection breaks",
    arguments: [true, false])
  func usedConnection(hasBody: Bool) async throws {
    let requests = Mutex<[String]>([])
    let server = HostileServer { connection in
      guard let first = connection.readRequest() else { return }
      requests.withLock { $0.append(first.head) }
      connection.answer(body: "first")
      guard let second = connection.readRequest() else { return }
      requests.withLock { $0.append(second.head) }
    }
    defer { server.close() }
    let own = HTTPClient(transport: CurlTransport())
    // One right after the other: libcurl keeps an idle connection for two minutes.
    #expect(answer(to: try request(server.url()), by: own).text == "first")
    let post = try request(server.url(), .post) { $0.body = hasBody ? .text("x") : .none }
    let failure = try #require(answer(to: post, by: own).failure)
    #expect(failure.errorClass == "network:reset")
    #expect(!failure.message.contains("seek"), "\(failure.message)")
    #expect(failure.isInDoubt)
    #expect(requests.withLock { $0.count(where: { $0.hasPrefix("POST") }) } == 1)
  }

  @Test func aGetIsSentAgainWhenAUsedConnectionBreaks() async throws {
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.answer(body: "\(connection.number)")
      _ = connection.readRequest()
    }
    defer { server.close() }
    let own = HTTPClient(transport: CurlTransport())
    #expect(await ask(try request(server.url()), by: own).text == "1")
    #expect(await ask(try request(server.url()), by: own).text == "2")
  }

  @Test(
    "H33: by its policy the transport connects to no address of this machine",
    arguments: ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "0"])
  func policyBlocksLocalAddresses(host: String) async throws {
    let server = HostileServer { connection in
      guard connection.readHead() != nil else { return }
      connection.answer()
    }
    defer { server.close() }
    let strict = HTTPClient(transport: CurlTransport(network: .publicOnly))
    let outcome = await ask(try request(server.url("/", host: host)), by: strict)
    guard case .address? = outcome.kind else {
      Issue.record("\(String(describing: outcome.kind))")
      return
    }
    #expect(server.accepted == 0)
  }

  /// Runs in a process of its own, whose environment no other test reads.
  @Test("H31: a proxy of the environment is used only on request")
  func environmentProxyIsUsedOnlyOnRequest() async {
    await #expect(processExitsWith: .success) {
      let proxy = HostileServer { connection in
        guard let head = connection.readHead() else { return }
        connection.answer(body: String(head.prefix { $0 != "\r\n" }))
      }
      let server = HostileServer { connection in
        guard connection.readHead() != nil else { return }
        connection.answer(body: "direct")
      }
      let answer = { (proxy: HTTPProxy) in
        await ask(try! request(server.url("/x")) { $0.proxy = proxy }).text
      }
      setenv("http_proxy", proxy.url(), 1)
      let viaProxy = "GET \(server.url("/x")) HTTP/1.1"
      #expect(await answer(.none) == "direct")
      #expect(await answer(.environment) == viaProxy)
      setenv("no_proxy", "127.0.0.1", 1)
      #expect(await answer(.environment) == "direct")
      #expect(await answer(.url(proxy.url())) == viaProxy)
      server.close()
      proxy.close()
    }
  }

  @Test func aProxyThatCannotBeReachedIsNamed() async throws {
    let proxy = mute()
    proxy.close()
    let outcome = await ask(
      try request("http://127.0.0.1:9/") { $0.proxy = .url("http://127.0.0.1:\(proxy.port)") })
    guard case .connect(let place, let why)? = outcome.kind else {
      Issue.record("\(String(describing: outcome.kind))")
      return
    }
    #expect(place == "the proxy 127.0.0.1:\(proxy.port)")
    #expect(why.contains("refused"))
  }

  @Test("H35: many requests to one host go on at the same time")
  func requestsToOneHostRunInParallel() async throws {
    let together = Watched(0)
    let server = HostileServer { connection in
      guard connection.readHead() != nil else { return }
      together.change { $0 += 1 }
      // The server answers only when all requests have arrived.
      together.wait { $0 >= 300 }
      connection.answer()
    }
    defer { server.close() }
    let futures = try (0..<300).map { _ in client.send(try request(server.url())) }
    for future in futures { #expect(try await future.result.get().status == 200) }
  }

  /// With `WEFT_LONG=1`, as many requests as an hour's polling.
  @Test("H37: thousands of requests need one connection and leave nothing")
  func manyRequestsReuseOneConnection() async throws {
    let server = HostileServer { connection in
      while connection.readHead() != nil { connection.answer(body: "x") }
    }
    defer { server.close() }
    let threads = ThreadPool()
    defer { threads.close() }
    let own = HTTPClient(transport: CurlTransport(threads: threads))
    let asked = try request(server.url())
    for _ in 0..<(isLong ? 10_000 : 1_000) {
      #expect(answer(to: asked, by: own).text == "x")
    }
    #expect(server.accepted == 1)
    #expect(threads.threadCount == 1)
  }

  @Test func aClosedTransportAnswersAtOnce() async throws {
    let server = mute()
    defer { server.close() }
    let transport = CurlTransport()
    let own = HTTPClient(transport: transport)
    let pending = own.send(try request(server.url()))
    transport.close()
    #expect(await pending.result.kind == .cancelled)
    #expect(await ask(try request(server.url()), by: own).kind == .cancelled)
  }
}

/// A listening socket whose queue is full: further connections are neither accepted nor refused.
final class FullListener: Sendable {
  let port: Int
  private let descriptors: [Int32]

  init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    var all = [listener]
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(listener, address, size) == 0, listen(listener, 0) == 0,
          getsockname(listener, address, &size) == 0
        else { fatalError("no listening socket: errno \(errno)") }
        for _ in 0..<4 {
          let client = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
          _ = connect(client, address, size)
          all.append(client)
        }
      }
    }
    descriptors = all
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  func close() { for descriptor in descriptors { Glibc.close(descriptor) } }
}
