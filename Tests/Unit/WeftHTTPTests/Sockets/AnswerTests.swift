import Glibc
import Synchronization
import Testing
import WeftFutures
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

/// Responses, from exemplary to hostile.
struct AnswerTests {
  /// A server that answers every request with `text`, and closes.
  private func server(_ text: String) -> HostileServer {
    HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.send(text)
    }
  }

  private func outcome(of text: String) async throws -> Result<HTTPResponse, HTTPFailure> {
    let server = server(text)
    defer { server.close() }
    return await ask(try request(server.url()))
  }

  @Test(
    "a body in very small pieces arrives whole, although the exchange waits for others in between")
  func smallPieces() async throws {
    let text = String(repeating: "weft ", count: TurnBudget.pieces)
    let pieces = text.map { "1\r\n\($0)\r\n" }.joined()
    let outcome = try await outcome(
      of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(pieces)0\r\n\r\n")
    #expect(outcome.text == text)
  }

  @Test("H01: trailers after a chunked body do no harm")
  func trailersAfterAChunkedBodyAreIgnored() async throws {
    let outcome = try await outcome(
      of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"
        + "5\r\nhello\r\n0\r\nX: 1\r\nSet-Cookie: a=b\r\n\r\n")
    #expect(try outcome.get().status == 200)
    #expect(outcome.text == "hello")
    #expect(outcome.response?.headers.contains("x") == false)
  }

  @Test(
    "H02: 401 is an answer, at once, whatever it challenges to",
    arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"1\"", "Bearer", "Negotiate", ""])
  func unauthorizedStatusIsAResponse(challenge: String) async throws {
    let server = HostileServer { connection in
      while connection.readRequest() != nil {
        connection.answer("401 Unauthorized", ["WWW-Authenticate: \(challenge)"], body: "no")
      }
    }
    defer { server.close() }
    let own = HTTPClient(transport: CurlTransport())
    let outcome = await ask(
      try request(server.url()) { $0.auth = .basic(user: "u", password: "p") }, by: own)
    #expect(try outcome.get().status == 401)
    #expect(outcome.text == "no")
    #expect(outcome.response?.figures.requests == 1)
    #expect(server.accepted == 1, "nothing was tried again")
  }

  @Test(
    "H19: a body that ends too early is no answer",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhello",
    ])
  func truncatedBodyIsAFailure(text: String) async throws {
    let kind = try await outcome(of: text).kind
    guard case .partial(let received, _)? = kind else {
      Issue.record("\(String(describing: kind))")
      return
    }
    #expect(received == 5)
  }

  @Test(
    "H20: an answer with two ends is refused",
    arguments: [
      "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nTransfer-Encoding: chunked",
      "Content-Length: -1", "Content-Length: 99999999999999999999999",
    ])
  func twoEnds(lines: String) async throws {
    let outcome = try await outcome(of: "HTTP/1.1 200 OK\r\n\(lines)\r\n\r\nhello!")
    #expect(outcome.failure?.errorClass == "protocol")
  }

  @Test(
    "H21: what careless servers write is accepted",
    arguments: [
      "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\ncontent-length:5\r\nX:y\r\n\r\nhello",
      "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
      "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.0 200 OK\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\n\r\nhello",
    ])
  func malformedButCommonHeadersAreAccepted(text: String) async throws {
    let outcome = try await outcome(of: text)
    #expect(try outcome.get().status == 200)
    #expect(outcome.text == "hello")
  }

  @Test(
    "H22: any status is an answer, and those that announce another are none",
    arguments: [
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK", 200),
      ("HTTP/1.1 999 Odd", 999), ("HTTP/1.1 418 Teapot", 418), ("HTTP/1.1 600 Odd", 600),
    ])
  func everyFinalStatusIsAResponse(head: String, status: Int) async throws {
    let outcome = try await outcome(of: head + "\r\nContent-Length: 2\r\n\r\nhi")
    #expect(try outcome.get().status == status)
    #expect(outcome.text == "hi")
  }

  @Test("H22: an answer that has no body ends with its head", arguments: [204, 304])
  func responseWithoutABodyEndsWithItsHead(status: Int) async throws {
    let text = "HTTP/1.1 \(status) X\r\nContent-Length: 5\r\n\r\n"
    #expect(try await outcome(of: text).get().body == [])
  }

  @Test("H22: 101 is refused")
  func switchingProtocolsIsRefused() async throws {
    let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
    #expect(try await outcome(of: text).failure?.errorClass == "protocol")
  }

  @Test("H22: a connection with extra bytes behind the body is not used again")
  func extraBytes() async throws {
    let server = HostileServer { connection in
      while connection.readRequest() != nil {
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"
        let extra = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        if connection.number == 1 {
          connection.send(first + extra)
        } else {
          connection.answer(body: "two")
        }
      }
    }
    defer { server.close() }
    let own = HTTPClient(transport: CurlTransport())
    #expect(await ask(try request(server.url()), by: own).text == "one")
    #expect(await ask(try request(server.url()), by: own).text == "two")
    #expect(server.accepted == 2)
  }

  @Test("H32: no cookie is kept for the next request")
  func cookieIsNotKeptForTheNextRequest() async throws {
    let server = HostileServer { connection in
      while let head = connection.readHead() {
        connection.answer(headers(head, "cookie") ?? "200 OK", ["Set-Cookie: a=b; Path=/"])
      }
    }
    defer { server.close() }
    for _ in 0..<2 { #expect(try await ask(try request(server.url())).get().status == 200) }
  }

  private func headers(_ head: String, _ name: String) -> String? {
    head.lowercased().contains(name + ":") ? "500 Cookie" : nil
  }

  @Test("H12: bytes that are not what they are said to be packed as are refused")
  func badGzip() async throws {
    let failure = try await outcome(
      of: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
    ).failure
    #expect(failure?.errorClass == "protocol")
  }

  private enum Framing: String, CaseIterable {
    case length, chunks, close

    func answer(_ coding: String, _ body: ArraySlice<UInt8>) -> [UInt8] {
      let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
      switch self {
      case .length: return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
      case .close: return Array("\(head)Connection: close\r\n\r\n".utf8) + body
      case .chunks:
        // Two chunks, if there is enough for that: an empty chunk would be the last.
        let halves = [body.prefix(body.count / 2), body.dropFirst(body.count / 2)]
        let chunks = halves.filter { !$0.isEmpty }.flatMap { half in
          Array("\(String(half.count, radix: 16))\r\n".utf8) + half + Array("\r\n".utf8)
        }
        return Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8) + chunks
          + Array("0\r\n\r\n".utf8)
      }
    }
  }

  @Test(
    "X12: a packed body that is cut is no answer, wherever and whatever the framing",
    arguments: PackedSample.allCases)
  func cutWhilePacked(sample: PackedSample) async throws {
    let cuts = Mutex<[(Framing, Int)]>([])
    let server = HostileServer { connection in
      guard connection.readRequest() != nil,
        let (framing, count) = cuts.withLock({ $0.popLast() })
      else { return }
      connection.send(framing.answer(sample.coding, sample.bytes.prefix(count)))
    }
    defer { server.close() }
    for framing in Framing.allCases {
      for count in 0...sample.bytes.count {
        cuts.withLock { $0 = [(framing, count)] }
        let outcome = await ask(try request(server.url()))
        let place = "\(count) of \(sample.bytes.count) bytes by \(framing)"
        if count == sample.bytes.count {
          #expect(outcome.text == PackedSample.text, "\(place)")
        } else if count == 0, framing == .length {
          // The head says that there is no body.
          #expect(outcome.text == "", "\(place)")
        } else if !sample.ends.contains(count) {
          #expect(outcome.kind == .partial(received: count, expected: nil), "\(place)")
        }
      }
    }
  }

  @Test(
    "X12: a body that is packed as nobody asked for is refused", arguments: ["br", "gzip, gzip"])
  func unknownPacking(coding: String) async throws {
    let outcome = try await outcome(
      of: "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nhello")
    #expect(outcome.failure?.errorClass == "protocol")
  }

  @Test("X12: only what is unpacked is offered")
  func onlySupportedEncodingsAreOffered() async throws {
    let heads = Mutex<[String]>([])
    let server = HostileServer { connection in
      while let head = connection.readHead() {
        heads.withLock { $0.append(head.lowercased()) }
        connection.answer(body: "x")
      }
    }
    defer { server.close() }
    _ = await ask(try request(server.url()))
    _ = await ask(try request(server.url()) { $0.headers = ["Accept-Encoding": "br"] })
    _ = await ask(try request(server.url()) { $0.wantsCompression = false })
    let lines = heads.withLock { $0 }.map { head in
      head.split(separator: "\r\n").filter { $0.hasPrefix("accept-encoding") }
    }
    #expect(lines == [["accept-encoding: gzip, deflate"], ["accept-encoding: br"], []])
  }

  @Test("X12: an answer without a body may say how the body would be packed")
  func bodilessPacked() async throws {
    for head in ["204 No Content", "304 Not Modified\r\nContent-Length: 9"] {
      let outcome = try await outcome(
        of: "HTTP/1.1 \(head)\r\nContent-Encoding: gzip\r\n\r\n")
      #expect(try outcome.get().body == [], "\(head)")
    }
    let server = server(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n")
    defer { server.close() }
    #expect(try await ask(try request(server.url()) { $0.method = .head }).get().status == 200)
  }

  @Test("X12: a packed body goes to a slow writer, piece by piece and whole")
  func slowWriter() async throws {
    final class Writer: BodyWriter {
      let count = Mutex(0)
      let end = Mutex<BodyEnd?>(nil)
      func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
        usleep(1000)
        count.withLock { $0 += bytes.count }
      }
      func end(_ end: BodyEnd) throws(HTTPFailure.Kind) { self.end.withLock { $0 = end } }
    }
    let bytes = Gzip.zeros(8_000_000)
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.send(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
      connection.send(bytes)
    }
    defer { server.close() }
    let wire = try WireRequest(try request(server.url()), boundary: "", total: nil)
    let writer = Writer()
    _ = try await CurlTransport().exchange(wire) { _ in .write(writer, limit: nil) }.get()
    #expect(writer.count.withLock { $0 } == 8_000_000)
    #expect(writer.end.withLock { $0 } == .complete)
  }

  @Test("H11: what a packed body becomes counts against the limit")
  func unpackedBytesCountAgainstTheLimit() async throws {
    // 10 MB of zeros, compressed with gzip -9: 9.7 KB.
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      let bytes = Gzip.zeros(10_000_000)
      connection.send(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
      connection.send(bytes)
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()) { $0.maxBytes = 1_000_000 })
    #expect(outcome.kind == .limit(.body, 1_000_000))
    let whole = await ask(try request(server.url()) { $0.maxBytes = 10_000_000 })
    #expect(try whole.get().body.count == 10_000_000)
  }

  @Test(
    "H09: a body is received to the byte of its limit, and no further", arguments: [true, false])
  func bodyIsReceivedUpToItsLimit(isChunked: Bool) async throws {
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      let piece = String(repeating: "x", count: 65_536)
      connection.send(
        "HTTP/1.1 200 OK\r\n" + (isChunked ? "Transfer-Encoding: chunked\r\n" : "") + "\r\n")
      while connection.send(isChunked ? "10000\r\n\(piece)\r\n" : piece) {}
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()) { $0.maxBytes = 3_000_001 })
    #expect(outcome.kind == .limit(.body, 3_000_001))
    #expect(outcome.failure?.isTransient == false)
  }

  @Test("H09: a body that announces too much need not begin", arguments: [(10, true), (11, false)])
  func bodyThatAnnouncesTooMuchIsNotRead(length: Int, fits: Bool) async throws {
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
      if fits { connection.send("0123456789") } else { connection.waitForClient() }
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()) { $0.maxBytes = 10 })
    #expect(outcome.kind == (fits ? nil : .limit(.body, 10)))
  }

  @Test("H09: of an answer that was not expected, the start is enough")
  func unexpectedEndless() async throws {
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.send("HTTP/1.1 500 Oops\r\n\r\n")
      while connection.send(String(repeating: "x", count: 65_536)) {}
    }
    defer { server.close() }
    let response = try await ask(try request(server.url())).get()
    #expect(response.status == 500)
    #expect(response.body.count == 64 * 1024)
    #expect(response.isBodyCut)
  }

  @Test(
    "H16: headers without end are refused",
    arguments: [
      "X-Header: \(String(repeating: "y", count: 100))\r\n", "HTTP/1.1 103 Early\r\n\r\n", "y",
    ])
  func endlessHeaders(piece: String) async throws {
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nX: y")
      if piece != "y" { connection.send("\r\n") }
      if piece.hasPrefix("HTTP") { connection.send("\r\n") }
      while connection.send(String(repeating: piece, count: 100)) {}
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()))
    if piece.hasPrefix("HTTP") {
      // The first piece ended its own head: the rest is its body.
      #expect(outcome.kind == .limit(.body, HTTPRequest.defaultMaxBytes))
    } else {
      #expect(outcome.failure?.errorClass == "limit", "\(String(describing: outcome.kind))")
    }
  }

  @Test("H16: answers that only announce another, without end, are refused")
  func endlessAnnouncements() async throws {
    let server = HostileServer { connection in
      guard connection.readRequest() != nil else { return }
      while connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") {}
    }
    defer { server.close() }
    #expect(await ask(try request(server.url())).kind == .limit(.headers, 256 * 1024))
  }

  @Test(
    "H18: what is not HTTP is told as such",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.example.com ESMTP\r\n", "\r\n\r\n",
      "HTTP/1.1 abc\r\n\r\n",
      "HTTP/1.1 99\r\n\r\n", "<html></html>",
    ])
  func notHTTP(text: String) async throws {
    let outcome = try await outcome(of: text)
    #expect(outcome.failure?.errorClass == "protocol", "\(String(describing: outcome.kind))")
  }

  @Test(
    "H18: chunks that are none are told as such",
    arguments: ["zz\r\nhello\r\n", "-5\r\nhello\r\n", "5\r\nhelloworld\r\n0\r\n\r\n"])
  func badChunks(text: String) async throws {
    let outcome = try await outcome(
      of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(text)")
    guard case .malformed? = outcome.kind else {
      Issue.record("\(String(describing: outcome.kind))")
      return
    }
  }
}
