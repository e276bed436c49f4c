import Glibc
import Testing
import WeftFutures
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

/// Requests that are cancelled.
struct CancelTests {
  /// A server that is slow in everything, and counts the connected clients.
  private static func slowServer(_ connected: Watched<Int>) -> HostileServer {
    HostileServer { connection in
      connected.change { $0 += 1 }
      defer { connected.change { $0 -= 1 } }
      guard let head = connection.readHead() else { return }
      if head.hasPrefix("GET /redirect") {
        connection.answer("302 Go", ["Location: /body"])
        guard connection.readHead() != nil else { return }
      }
      for byte in "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" {
        guard connection.send(String(byte)) else { return }
        usleep(50)
      }
      while connection.send(String(repeating: "x", count: 10)) { usleep(50) }
    }
  }

  /// The other end of the descriptors is in this process: the server's side sees every one that is left open.
  @Test("H24: a request can be cancelled at any moment, and leaves no connection")
  func requestIsCancelledAtAnyMoment() async throws {
    let connected = Watched(0)
    let server = Self.slowServer(connected)
    defer { server.close() }
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("body", Array(repeating: 0x61, count: 300_000))
    let transport = CurlTransport()
    let own = HTTPClient(transport: transport)
    var random = SystemRandomNumberGenerator()
    for index in 0..<600 {
      let asked = try request(server.url(index % 3 == 0 ? "/redirect" : "/body")) {
        if index % 4 == 0 { $0.saveTo = SaveTarget(scratch.path + "/out") }
        if index % 4 == 1 {
          $0.method = .put
          $0.body = .file(path, contentType: nil)
        }
      }
      let future = own.send(asked)
      let pause = UInt32.random(in: 0..<4000, using: &random)
      if pause > 100 { usleep(pause) }
      let began = MonotonicClock.now
      future.cancel()
      let (outcome, took) = awaited(future, since: began)
      #expect(outcome.kind == .cancelled || outcome.response != nil, "\(outcome)")
      #expect(took < .seconds(20), "50 ms are meant; others use this machine too")
    }
    transport.close()
    #expect(connected.waits { $0 == 0 })
    #expect(scratch.names.filter { $0 != "out" } == ["body"])
  }

  @Test("H25: cancelling does not block whoever cancels, however much comes in")
  func cancellingNeverBlocksTheCaller() async throws {
    let server = HostileServer { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send([UInt8](repeating: 0x61, count: 1 << 20)) {}
    }
    defer { server.close() }
    let own = HTTPClient(transport: CurlTransport())
    let asked = try request(server.url()) { $0.maxBytes = .max }
    let futures = (0..<8).map { _ in own.send(asked) }
    server.waits(forConnections: 8)
    for future in futures {
      let began = MonotonicClock.now
      future.cancel()
      #expect(MonotonicClock.now - began < .seconds(20), "1 ms is meant; the flood has no end")
    }
    for future in futures { #expect(await future.result.kind == .cancelled) }
  }

  /// Uses a name server that never answers, in a process whose resolver asks it, within a namespace of its own; with a
  /// libcurl that can abandon a lookup, and with one that cannot.
  @Test(
    "H26: a request is cancelled at once while its name is looked up", arguments: [true, false])
  func requestIsCancelledDuringNameLookup(abandonsLookups: Bool) async throws {
    await #expect(processExitsWith: .success) { [abandonsLookups] in
      let placeholder = BlackHole.enter()
      let transport = CurlTransport(threads: ThreadPool(), abandonsLookups: abandonsLookups)
      let own = HTTPClient(transport: transport)
      let futures = try (0..<8).map { own.send(try request("http://name\($0).test/")) }
      placeholder?.waitForQuestion()
      let began = MonotonicClock.now
      for future in futures { future.cancel() }
      for future in futures { if !isExpected(await future.result, .cancelled) { exit(1) } }
      let limited = await ask(
        try request("http://name.test/") { $0.deadlines.connect = .milliseconds(100) }, by: own)
      if !isExpected(limited, .timeout(.connect, after: .milliseconds(100))) { exit(2) }
      // The resolver waits for ten seconds.
      if MonotonicClock.now - began > .seconds(5) { exit(3) }

      /// Without the namespace, the lookup may fail before it is cancelled.
      func isExpected(
        _ outcome: Result<HTTPResponse, HTTPFailure>, _ kind: HTTPFailure.Kind
      ) -> Bool {
        if placeholder == nil, case .dns? = outcome.kind { return true }
        return outcome.kind == kind
      }
    }
  }
}
