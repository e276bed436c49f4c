import Testing
import WeftEncoding
import WeftPlatform

@testable import WeftHTTP

struct WireTests {
  private func wire(_ change: (inout HTTPRequest) -> Void) throws -> WireRequest {
    var request = HTTPRequest(try HTTPURL("http://h/"))
    change(&request)
    return try WireRequest(request, boundary: "BOUNDARY", total: request.deadlines.total)
  }

  private func value(_ name: String, _ change: (inout HTTPRequest) -> Void) throws -> String? {
    HTTPHeaders(try wire(change).headers)[name]
  }

  @Test(
    "H23: what would not stay one header is never sent",
    arguments: [
      (HTTPHeader("X", "a\r\nEvil: 1"), RequestError.headerValue(name: "X")),
      (HTTPHeader("X", "a\nb"), .headerValue(name: "X")),
      (HTTPHeader("X", "a\rb"), .headerValue(name: "X")),
      (HTTPHeader("X", "a\0b"), .headerValue(name: "X")),
      (HTTPHeader("X\r\nEvil", "1"), .headerName("X\r\nEvil")),
      (HTTPHeader("X Y", "1"), .headerName("X Y")),
      (HTTPHeader("X:", "1"), .headerName("X:")),
      (HTTPHeader("", "1"), .headerName("")),
      (HTTPHeader("Ü", "1"), .headerName("Ü")),
      (HTTPHeader("Content-Length", "1"), .reservedHeader("Content-Length")),
      (HTTPHeader("transfer-encoding", "chunked"), .reservedHeader("transfer-encoding")),
      (HTTPHeader("Connection", "close"), .reservedHeader("Connection")),
    ])
  func badHeaders(header: HTTPHeader, fault: RequestError) throws {
    #expect(throws: fault) { try wire { $0.headers.add(header) } }
  }

  @Test(
    "H23: what is no method is never sent", arguments: ["", "GE T", "GET\r\n", "GET /x", "CONNECT"])
  func badMethods(name: String) throws {
    #expect(throws: RequestError.method(name)) { try wire { $0.method = HTTPMethod(name) } }
  }

  @Test("H23: a token or password cannot begin another header")
  func badCredentials() {
    let bad: [(HTTPAuth, String)] = [
      (.bearer("a\r\nb"), "the token has"), (.bearer(""), "the token is empty"),
      (.bearer("a b"), "the token has a space"),
      (.basic(user: "a:b", password: ""), "the user has a colon"),
      (.basic(user: "a", password: "b\n"), "the user or the password has a line break"),
    ]
    for (auth, fault) in bad {
      let error = #expect(throws: RequestError.self) { try wire { $0.auth = auth } }
      #expect(error?.message.hasPrefix(fault) == true)
    }
  }

  @Test(
    "H17: a deadline that is none is refused",
    arguments: [
      Duration.zero, .seconds(-1), .seconds(1_000_000_000), .seconds(Int64.max),
    ])
  func badDeadlines(duration: Duration) {
    #expect(throws: RequestError.deadline(.total, duration)) {
      try wire { $0.deadlines.total = duration }
    }
    #expect(throws: RequestError.deadline(.idle, duration)) {
      try wire { $0.deadlines.idle = duration }
    }
    #expect(throws: RequestError.deadline(.connect, duration)) {
      try wire { $0.deadlines.connect = duration }
    }
  }

  @Test func aLimitThatLetsNothingThroughIsRefused() {
    #expect(throws: RequestError.limit(0)) { try wire { $0.maxBytes = 0 } }
    #expect(throws: RequestError.limit(-1)) { try wire { $0.maxHeaderBytes = -1 } }
  }

  @Test func aHeaderOfTheCallersGoesBeforeOnesOwn() throws {
    #expect(
      try value("authorization") {
        $0.headers = ["Authorization": "Mine"]
        $0.auth = .bearer("x")
      } == "Mine")
    #expect(try value("user-agent") { $0.headers = ["user-agent": "me"] } == "me")
    #expect(
      try value("content-type") {
        $0.headers = ["Content-Type": "text/x"]
        $0.body = .json("1")
      } == "text/x")
  }

  /// RFC 4648 §10, and the example of RFC 7617 §2.
  @Test func basicCredentialsAreEncoded() throws {
    let words = ["", "f", "fo", "foo", "foob", "fooba", "foobar"]
    #expect(
      words.map { Base64.text(of: $0.utf8) } == [
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
      ])
    let auth = HTTPAuth.basic(user: "Aladdin", password: "open sesame")
    #expect(try value("authorization") { $0.auth = auth } == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    #expect(try wire { $0.auth = auth }.headers.first { $0.name == "Authorization" }!.isSecret)
  }

  @Test func anIdempotencyKeyMakesAPostRepeatable() throws {
    #expect(try !wire { $0.method = .post }.isRepeatable)
    let keyed = try wire {
      $0.method = .post
      $0.idempotencyKey = "k"
    }
    #expect(keyed.isRepeatable)
    #expect(HTTPHeaders(keyed.headers)["Idempotency-Key"] == "k")
    #expect(try wire { $0.method = .put }.isRepeatable)
    #expect(try !wire { $0.method = "PURGE" }.isRepeatable)
  }

  @Test func savedResponseIsRequestedUncompressed() throws {
    #expect(try wire { _ in }.wantsCompression)
    #expect(try !wire { $0.saveTo = SaveTarget("x") }.wantsCompression)
    #expect(try !wire { $0.headers = ["Accept-Encoding": "identity"] }.wantsCompression)
  }

  @Test func aFormIsWrittenAsBrowsersDo() throws {
    let wire = try wire {
      $0.body = .form([FormField("a b", "c&d"), FormField("é", "~*")])
    }
    #expect(wire.body?.segments == [.bytes(Array("a+b=c%26d&%C3%A9=~%2A".utf8))])
    #expect(HTTPHeaders(wire.headers)["content-type"] == "application/x-www-form-urlencoded")
  }

  @Test func aMultipartFormHasEachPartBetweenBoundaries() throws {
    let wire = try wire {
      $0.body = .multipart([
        .text("a", "1"), .file("f", path: "/tmp/x\"y", contentType: "text/plain"),
      ])
    }
    let text = try #require(wire.body).segments.map { segment in
      switch segment {
      case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
      case .file(let path): "<\(path)>"
      }
    }.joined()
    #expect(
      text == """
        --BOUNDARY\r
        Content-Disposition: form-data; name="a"\r
        \r
        1\r
        --BOUNDARY\r
        Content-Disposition: form-data; name="f"; filename="x%22y"\r
        Content-Type: text/plain\r
        \r
        </tmp/x"y>\r
        --BOUNDARY--\r

        """)
    #expect(
      HTTPHeaders(wire.headers)["content-type"] == "multipart/form-data; boundary=BOUNDARY")
  }

  @Test func aQuoteInAPartsNameIsEscapedWhateverFollowsIt() throws {
    let wire = try wire { $0.body = .multipart([.text("a\"\u{301}", "")]) }
    guard case .bytes(let head)? = wire.body?.segments.first else { return }
    #expect(String(decoding: head, as: UTF8.self).contains("name=\"a%22\u{301}\""))
  }

  @Test("H23: the name of a part cannot begin another header")
  func badParts() {
    #expect(throws: RequestError.multipartName("a\r\nb")) {
      try wire { $0.body = .multipart([.text("a\r\nb", "")]) }
    }
    #expect(throws: RequestError.headerValue(name: "Content-Type")) {
      try wire { $0.body = .multipart([MultipartPart("a", .bytes([]), contentType: "x\ny")]) }
    }
  }
}
