import Testing

@testable import WeftHTTP

/// RFC 9111 §3: the responses that may be stored, and which parts of them.
struct StoringTests {
  private static let statusAndControlDecideCases: [(Int, String, Bool)] = [
    (200, "", true), (200, "no-store", false), (200, "No-Store, max-age=9", false),
    (200, "private", true), (200, "private, max-age=9", true), (200, "no-cache", true),
    (201, "", false), (201, "max-age=9", true), (204, "", true), (206, "max-age=9", false),
    (301, "", true), (302, "", false), (302, "max-age=9", true), (304, "max-age=9", false),
    (404, "", true), (500, "", false), (503, "public", true), (599, "max-age=9", true),
    (101, "max-age=9", false), (200, "no-store, must-understand", true),
    (599, "no-store, must-understand, max-age=9", false),
    (599, "must-understand, max-age=9", false),
  ]

  @Test("§3, §5.2.2: what may be stored", arguments: statusAndControlDecideCases)
  func statusAndControlDecide(status: Int, control: String, expected: Bool) {
    let head = HTTPResponseHead(status: status, headers: ["Cache-Control": control])
    #expect(head.mayBeStored == expected)
  }

  @Test(
    "§4.1: what varies by more than headers can never be found again",
    arguments: [
      "*", "*, *", ", *", "Accept, *", "*, Accept",
    ])
  func variesByEverything(vary: String) {
    let head = HTTPResponseHead(status: 200, headers: ["Vary": vary, "Cache-Control": "max-age=9"])
    #expect(!head.mayBeStored)
  }

  @Test("§3.1: headers of the connection are not stored, nor those that it names")
  func connectionHeadersAreNotStored() {
    let headers: HTTPHeaders = [
      "Connection": "A, b", "A": "1", "B": "2", "C": "3", "Keep-Alive": "x", "TE": "x",
      "Transfer-Encoding": "chunked", "Upgrade": "x", "Proxy-Authenticate": "x", "Trailer": "x",
      "Proxy-Authentication-Info": "x", "Proxy-Authorization": "x", "Proxy-Connection": "x",
      "Set-Cookie": "a=b",
    ]
    #expect(headers.withoutConnection.fields.map(\.name) == ["C", "Set-Cookie"])
  }

  private func stored(_ headers: HTTPHeaders, at time: Int64 = 0) -> StoredResponse {
    StoredResponse(
      key: ResponseKey(resource: "r", requester: "a"), vary: [], selection: "",
      head: HTTPResponseHead(status: 200, headers: headers), body: Array("body".utf8),
      requestTime: time, responseTime: time)
  }

  @Test("§4.3.1: conditions are made of what there is to tell a version by")
  func conditions() {
    #expect(stored([:]).conditions == [])
    #expect(stored(["ETag": "\"a\"\r\nX: y"]).conditions == [])
    let both = stored(["ETag": "W/\"a\"", "Last-Modified": Moment.text()]).conditions
    #expect(
      both == [
        HTTPHeader("If-None-Match", "W/\"a\""), HTTPHeader("If-Modified-Since", Moment.text()),
      ])
  }

  @Test("§3.2: a 304 replaces headers, but for those that say what the body is")
  func notModifiedUpdatesHeadersButNotTheBodysOwn() {
    let old = stored(
      [
        "A": "1", "B": "1", "b": "2", "Content-Length": "4", "Content-Encoding": "gzip",
        "Content-Type": "text/plain", "Age": "50", "Date": Moment.text(),
      ], at: Moment.start)
    let newer = HTTPResponseHead(
      status: 304,
      headers: [
        "B": "3", "Content-Length": "0", "Content-Encoding": "br", "Content-Type": "text/html",
        "Connection": "x", "X": "y", "Cache-Control": "max-age=9",
      ])
    let fresh = old.freshened(
      by: newer, requestTime: Moment.start + 100, responseTime: Moment.start + 100)
    #expect(fresh.head.status == 200)
    #expect(fresh.body == old.body)
    #expect(
      fresh.head.headers == [
        "A": "1", "Content-Length": "4", "Content-Encoding": "gzip", "B": "3",
        "Content-Type": "text/html", "Cache-Control": "max-age=9",
      ])
    #expect(fresh.freshness.left(at: Moment.start + 100) == 9)
  }

  private static let agreementCases: [(HTTPHeaders, HTTPHeaders, Bool)] = [
    (["ETag": "\"a\""], ["ETag": "\"a\""], true), (["ETag": "\"a\""], ["ETag": "W/\"a\""], true),
    (["ETag": "\"a\""], ["ETag": "\"b\""], false), (["ETag": "\"a\""], [:], true),
    ([:], ["ETag": "\"b\""], false),
    (["Last-Modified": Moment.text()], ["Last-Modified": Moment.text(1)], false),
  ]

  @Test("§4.3.4: a 304 with another validator is about another answer", arguments: agreementCases)
  func notModifiedWithAnotherValidatorIsNotApplied(
    mine: HTTPHeaders, its: HTTPHeaders, expected: Bool
  ) {
    #expect(stored(mine).agrees(with: HTTPResponseHead(status: 304, headers: its)) == expected)
  }

  @Test("§5.1: what is answered says how old it is, whatever it said before")
  func servedResponseStatesItsAge() {
    let head = stored(["Age": "30", "A": "1"], at: 1000).head(at: 1012)
    #expect(head.headers == ["A": "1", "Age": "42"])
  }
}
