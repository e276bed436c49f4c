import CWeftCurl
import Testing

@testable import WeftCurl
@testable import WeftHTTP

/// The state machines of an exchange.
struct StateTests {
  private func read(
    _ text: String, limit: Int = 1000
  ) -> (head: HTTPResponseHead?, fault: HTTPFailure.Kind?) {
    var reader = HeadReader(limit: limit)
    var head: HTTPResponseHead?
    for line in text.utf8.split(separator: 10, omittingEmptySubsequences: false).dropLast() {
      switch (Array(line) + [10]).withUnsafeBytes({ reader.take($0) }) {
      case .more: break
      case .complete(let complete): head = complete
      case .fault(let kind): return (head, kind)
      }
    }
    return (head, nil)
  }

  @Test(
    "H21: what careless servers write is understood",
    arguments: [
      ("HTTP/1.1 200\r\n\r\n", nil), ("HTTP/1.1 200 \r\nA:1\r\n\r\n", "1"),
      ("HTTP/1.1 200 OK\na: 1\n\n", "1"), ("HTTP/1.1 200 OK\r\nA:  1\t\r\n\r\n", "1"),
      ("HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\t3\r\n\r\n", "1 2 3"),
      ("HTTP/1.1 200 OK\r\nA:\r\n 2\r\n\r\n", "2"), ("HTTP/2 200\r\na: 1\r\n\r\n", "1"),
    ])
  func carelessHeads(text: String, value: String?) {
    let (head, fault) = read(text)
    #expect(fault == nil)
    #expect(head?.status == 200)
    #expect(head?.headers["a"] == value)
  }

  @Test("H21: a value that is not UTF-8 is Latin-1")
  func invalidUTF8HeaderIsReadAsLatin1() {
    var reader = HeadReader(limit: 1000)
    var head: HTTPResponseHead?
    for line in [
      Array("HTTP/1.1 200 OK\r\n".utf8), Array("A: ".utf8) + [0xE4, 0x0A], [0x0D, 0x0A],
    ] {
      if case .complete(let complete) = line.withUnsafeBytes({ reader.take($0) }) {
        head = complete
      }
    }
    #expect(head?.headers["a"] == "ä")
  }

  @Test(
    "H20: a message with two ends is refused",
    arguments: [
      "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 6", "Content-Length: -5",
      "Content-Length: 5x", "Content-Length: 5\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ])
  func twoEnds(lines: String) {
    guard case .malformed? = read("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n").fault else {
      Issue.record("it was taken")
      return
    }
  }

  @Test("H20: the same length twice is one length")
  func sameLengths() {
    let head = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n").head
    #expect(head?.contentLength == 5)
  }

  @Test("H22: heads that announce another are passed over, and 101 is refused")
  func informationalHeadsAreSkipped() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
    let (head, fault) = read(text + "HTTP/1.1 404 No\r\nA: 1\r\n\r\n")
    #expect(head == HTTPResponseHead(status: 404, headers: ["A": "1"]))
    #expect(fault == nil)
    guard case .malformed? = read("HTTP/1.1 101 Switching\r\n\r\n").fault else {
      Issue.record("101 was taken")
      return
    }
  }

  @Test("H16: all lines count against the limit, to the byte")
  func headerLimit() {
    let text = "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
    #expect(read(text, limit: text.utf8.count).head != nil)
    #expect(read(text, limit: text.utf8.count - 1).fault == .limit(.headers, text.utf8.count - 1))
  }

  @Test("H01: trailers are no headers")
  func trailersAreNotHeaders() {
    let (head, fault) = read("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nB: 2\r\n\r\n")
    #expect(head?.headers == ["A": "1"])
    #expect(fault == nil)
  }

  @Test("H09: a body is taken to the byte")
  func bodyIsTakenToTheByte() {
    var budget = BodyBudget(limit: 10)
    let taken = [budget.take(4), budget.take(6), budget.take(1)]
    #expect(taken == [4, 6, 0])
    var other = BodyBudget(limit: 10)
    let some = other.take(11)
    var none = BodyBudget(limit: nil)
    let all = none.take(.max)
    #expect(some == 10)
    #expect(all == .max)
  }

  @Test func aLengthIsJudgedOnlyIfItIsThatOfTheBody() {
    let budget = BodyBudget(limit: 10)
    let plain = HTTPResponseHead(status: 200, headers: ["Content-Length": "11"])
    let packed = HTTPResponseHead(
      status: 200, headers: ["Content-Length": "11", "Content-Encoding": "gzip"])
    #expect(budget.isExceeded(byLengthOf: plain))
    #expect(!budget.isExceeded(byLengthOf: packed))
    #expect(!BodyBudget(limit: 11).isExceeded(byLengthOf: plain))
  }

  private func expectOffer(
    _ count: Int, to state: inout OutletState, _ expected: OutletState.Offer,
    _ place: SourceLocation = #_sourceLocation
  ) {
    let offer = offer(&state, count)
    #expect(offer == expected, sourceLocation: place)
  }

  private func offer(_ state: inout OutletState, _ count: Int) -> OutletState.Offer {
    [UInt8](repeating: 1, count: count).withUnsafeBytes { state.offer($0) }
  }

  @Test("H10: a slow writer is given no more than it has room for")
  func slowWriterReceivesOnlyWhatFits() {
    var state = OutletState(capacity: 10)
    expectOffer(12, to: &state, .taken(startsWork: true))
    expectOffer(1, to: &state, .full)
    guard case .write(let first, frees: true) = state.next() else {
      Issue.record("nothing to write")
      return
    }
    #expect(first.count == 12)
    expectOffer(6, to: &state, .taken(startsWork: false))
    expectOffer(5, to: &state, .full)
    let startsWork = state.finish(.complete)
    #expect(!startsWork)
    guard case .write(let second, frees: true) = state.next(), case .end(.complete) = state.next()
    else {
      Issue.record("it did not end")
      return
    }
    #expect(second.count == 6)
  }

  @Test func failedOrAbandonedOutletStopsWriting() {
    var failed = OutletState(capacity: 10)
    _ = offer(&failed, 5)
    failed.fail(.empty)
    _ = failed.finish(.complete)
    guard case .end(.broken(.empty)) = failed.next() else {
      Issue.record("it went on")
      return
    }
    var cancelled = OutletState(capacity: 10)
    _ = offer(&cancelled, 5)
    let startsWork = cancelled.finish(.broken(.cancelled))
    #expect(!startsWork)
    guard case .end(.broken(.cancelled)) = cancelled.next() else {
      Issue.record("it went on")
      return
    }
  }

  private func expectAdding(
    _ chunk: [UInt8], to state: inout SupplyState, isAwaited: Bool,
    _ place: SourceLocation = #_sourceLocation
  ) {
    let reported = state.add(.success(chunk[...]))
    #expect(reported == isAwaited, sourceLocation: place)
  }

  @Test func aSupplyReadsOneChunkAhead() {
    var state = SupplyState()
    guard case (.later, true) = state.take(atMost: 2) else {
      Issue.record("there was something")
      return
    }
    expectAdding([1, 2, 3], to: &state, isAwaited: true)
    guard case (.bytes([1, 2]), true) = state.take(atMost: 2) else {
      Issue.record("not what was added")
      return
    }
    expectAdding([4], to: &state, isAwaited: false)
    guard case (.bytes([3]), false) = state.take(atMost: 2),
      case (.bytes([4]), true) = state.take(atMost: 2), case (.later, false) = state.take(atMost: 2)
    else {
      Issue.record("not what was added")
      return
    }
    expectAdding([], to: &state, isAwaited: true)
    guard case (.bytes([]), false) = state.take(atMost: 2) else {
      Issue.record("it did not end")
      return
    }
  }

  @Test func deadlinesAreKeptToTheMoment() {
    let deadlines = HTTPDeadlines(idle: .seconds(5), total: .seconds(20))
    var watch = DeadlineWatch(deadlines, now: .seconds(100))
    #expect(watch.nextCheck == .seconds(105))
    #expect(watch.expired(at: .milliseconds(104_999)) == nil)
    #expect(watch.expired(at: .seconds(105)) == .timeout(.idle, after: .seconds(5)))
    watch.sign(at: .seconds(104))
    #expect(watch.nextCheck == .seconds(109))
    watch.hold(at: .seconds(108))
    #expect(watch.nextCheck == .seconds(120), "the server is not idle while it waits")
    #expect(watch.expired(at: .seconds(119)) == nil)
    #expect(watch.expired(at: .seconds(120)) == .timeout(.total, after: .seconds(20)))
    watch.release(at: .seconds(112))
    #expect(watch.nextCheck == .seconds(117))
    #expect(DeadlineWatch(HTTPDeadlines(total: nil), now: .zero).nextCheck == nil)
  }

  @Test func theDeadlineForConnectingEndsWithTheConnection() {
    var watch = DeadlineWatch(HTTPDeadlines(connect: .seconds(3), total: nil), now: .seconds(1))
    #expect(watch.nextCheck == .seconds(4))
    #expect(watch.expired(at: .seconds(4)) == .timeout(.connect, after: .seconds(3)))
    watch.connected()
    #expect(watch.nextCheck == nil)
    #expect(watch.expired(at: .seconds(4)) == nil)
  }

  @Test func anExchangeWithVerySmallPiecesWaitsForTheOthers() {
    var budget = TurnBudget()
    for turn in 1...2 {
      let answers = (0...TurnBudget.pieces).map { _ in budget.take(in: turn) }
      #expect(answers.firstIndex(of: false) == TurnBudget.pieces)
    }
  }

  private func outcome(
    _ code: weft_curl_code, _ message: String = "", error: Int = 0, verify: Int = 0,
    mayUseProxy: Bool = false
  ) throws -> HTTPFailure.Kind {
    CurlOutcome(
      code: Int(code.rawValue), message: message, systemError: error, verifyResult: verify,
      connectLimit: .seconds(3), mayUseProxy: mayUseProxy, url: try HTTPURL("https://h/")
    ).kind
  }

  @Test(
    "a server that refuses the client's certificate is no lost connection",
    arguments: [
      (WEFT_CURLE_RECV_ERROR, "routines::tlsv13 alert certificate required, errno 0"),
      (WEFT_CURLE_SSL_CONNECT_ERROR, "routines::tlsv1 alert unknown ca"),
      (WEFT_CURLE_SEND_ERROR, "routines::sslv3 alert bad certificate, errno 0"),
    ])
  func certificateAlerts(code: weft_curl_code, message: String) throws {
    // 111 is that of an attempt at another address.
    let kind = try outcome(code, message, error: 111)
    #expect(kind == .tls(.clientCertificate, why: message))
    #expect(HTTPFailure(kind).help?.contains("certFile") == true)
    let alert = "routines::sslv3 alert handshake failure"
    #expect(try outcome(WEFT_CURLE_SSL_CONNECT_ERROR, alert) == .tls(.handshake, why: alert))
  }

  @Test func anErrorNumberOfAnEarlierCallIsNoReason() throws {
    let reset = "OpenSSL SSL_read: Connection reset by peer, errno 104"
    #expect(try outcome(WEFT_CURLE_RECV_ERROR, reset, error: 111) == .reset(why: reset))
    let eof = "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0"
    #expect(
      try outcome(WEFT_CURLE_RECV_ERROR, eof, error: 111) == .partial(received: 0, expected: nil))
  }

  @Test func aProxyThatRefusesIsNamed() throws {
    let code = WEFT_CURLE_COULDNT_CONNECT
    let message = "Failed to connect to 127.0.0.1 port 3128 after 0 ms: Couldn't connect to server"
    func place(_ message: String, mayUseProxy: Bool) throws -> String? {
      guard case .connect(let place, _) = try outcome(code, message, mayUseProxy: mayUseProxy)
      else {
        return nil
      }
      return place
    }
    #expect(try place(message, mayUseProxy: true) == "the proxy 127.0.0.1:3128")
    #expect(try place(message, mayUseProxy: false) == "https://h")
    // The environment has no proxy for this host.
    #expect(try place("Failed to connect to h port 443: No", mayUseProxy: true) == "https://h")
    #expect(try place("Connection refused", mayUseProxy: true) == "https://h")
  }

  @Test(
    "H18: what TLS was not content with is told apart",
    arguments: [
      (10, "certificate has expired", HTTPFailure.TLSFault.expired), (9, "x", .notYetValid),
      (18, "x", .selfSigned), (19, "x", .unknownAuthority), (20, "x", .unknownAuthority),
      (23, "x", .revoked), (62, "x", .wrongHost),
      (0, "SSL: no alternative certificate subject name matches target host name", .wrongHost),
      (1, "SSL certificate problem: self-signed certificate", .selfSigned),
      (0, "server certificate expired", .expired),
    ])
  func tlsFailuresAreDistinguished(verify: Int, message: String, fault: HTTPFailure.TLSFault) throws
  {
    let kind = try outcome(WEFT_CURLE_PEER_FAILED_VERIFICATION, message, verify: verify)
    #expect(kind == .tls(fault, why: message))
    #expect(HTTPFailure(kind).errorClass == "network:tls")
    #expect(!HTTPFailure(kind).isTransient)
  }

  @Test(
    "H18: a connection that breaks while TLS is agreed on is no judgement of TLS",
    arguments: [
      "OpenSSL SSL_connect: Connection reset by peer in connection to h:443",
      "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443",
      "error:0A000126:SSL routines::unexpected eof while reading",
    ])
  func brokenHandshakes(message: String) throws {
    let kind = try outcome(WEFT_CURLE_SSL_CONNECT_ERROR, message)
    #expect(kind == .reset(why: message))
    let refused = "error:0A00010B:SSL routines::wrong version number"
    #expect(
      try outcome(WEFT_CURLE_SSL_CONNECT_ERROR, refused) == .tls(.handshake, why: refused))
  }

  @Test(
    "H27: a request that must not be done twice shares no connection that may be given up",
    arguments: [
      (true, true, true, false), (true, false, true, false), (true, false, false, false),
      (false, true, true, false), (false, false, true, true), (false, true, false, true),
      (false, false, false, true),
    ])
  func freshConnections(isRepeatable: Bool, isAlone: Bool, tells: Bool, isFresh: Bool) {
    let rule = ConnectionRule(isRepeatable: isRepeatable, isAlone: isAlone, reportsSending: tells)
    #expect(rule.needsFreshConnection == isFresh)
  }

  @Test(
    "a proxy that refuses for good is not asked again",
    arguments: [
      "CONNECT tunnel failed, response 407", "Received HTTP code 407 from proxy after CONNECT",
    ])
  func proxyRefusals(message: String) throws {
    // 11 is that of an earlier call.
    let kind = try outcome(WEFT_CURLE_RECV_ERROR, message, error: 11)
    #expect(kind == .proxy(status: 407))
    let failure = HTTPFailure(kind)
    #expect(failure.errorClass == "http:407" && !failure.isTransient)
    #expect(failure.help?.contains("USER:PASSWORD") == true)
  }

  @Test func ambiguousCurlErrorsAreDistinguished() throws {
    #expect(try outcome(WEFT_CURLE_RECV_ERROR, "Recv failure", error: 104) != .empty)
    guard case .reset = try outcome(WEFT_CURLE_RECV_ERROR, "Recv failure", error: 104),
      case .malformed = try outcome(
        WEFT_CURLE_RECV_ERROR, "Illegal or missing hexadecimal sequence in chunked-encoding"),
      case .connect = try outcome(WEFT_CURLE_RECV_ERROR, "CONNECT tunnel failed, response 503"),
      case .timeout(.connect, .seconds(3)) = try outcome(WEFT_CURLE_OPERATION_TIMEDOUT)
    else {
      Issue.record("confused")
      return
    }
  }
}
