import Testing

@testable import WeftCurl
@testable import WeftHTTP

struct RuleTests {
  private static let now: Int64 = 784_111_777

  /// The three spellings of RFC 9110 §5.6.7 for one time.
  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", now), ("Sunday, 06-Nov-94 08:49:37 GMT", now),
    ("Sun Nov  6 08:49:37 1994", now), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Tue, 29 Feb 2000 23:59:60 GMT", 951_868_800),
    ("Thu, 01 Jan 2099 00:00:00 GMT", 4_070_908_800),
    ("Sunday, 06-Nov-44 08:49:37 GMT", 2_362_034_977),
    ("Sunday, 06-Nov-45 08:49:37 GMT", -762_189_023),
  ])
  func aDateIsReadInEachSpelling(text: String, seconds: Int64) {
    #expect(HTTPDate.seconds(text, now: Self.now) == seconds)
  }

  @Test(arguments: [
    "", "soon", "Sun, 06 Nov 1994", "Sun, 32 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nix 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 199 08:49:37 GMT",
  ])
  func malformedDateIsRejected(text: String) {
    #expect(HTTPDate.seconds(text, now: Self.now) == nil)
  }

  private func advice(
    _ status: Int, retryAfter: String? = nil, method: HTTPMethod = .get, key: String? = nil
  ) throws -> RetryAdvice {
    var request = HTTPRequest(try HTTPURL("http://h/"), method: method)
    request.idempotencyKey = key
    let headers = retryAfter.map { [HTTPHeader("Retry-After", $0)] } ?? []
    let head = HTTPResponseHead(status: status, headers: HTTPHeaders(headers))
    return request.adviceOnRetry(
      after: head, isTransient: head.isTransient, maxDelay: .seconds(60), now: Self.now)
  }

  @Test(
    "H28: a server's wait is kept, refused when it is too long, and ignored when it is none",
    arguments: [
      (nil, RetryAdvice.retry(noSoonerThan: nil)),
      ("0", .retry(noSoonerThan: .zero)), (" 60 ", .retry(noSoonerThan: .seconds(60))),
      ("61", .giveUp(.asksForTooLong(.seconds(61), limit: .seconds(60)))),
      ("999999999", .giveUp(.asksForTooLong(.seconds(999_999_999), limit: .seconds(60)))),
      (
        "99999999999999999999999",
        .giveUp(.asksForTooLong(.seconds(1000 * 366 * 86_400), limit: .seconds(60)))
      ),
      ("-1", .retry(noSoonerThan: nil)), ("1.5", .retry(noSoonerThan: nil)),
      ("soon", .retry(noSoonerThan: nil)), ("", .retry(noSoonerThan: nil)),
      ("Sun, 06 Nov 1994 08:50:07 GMT", .retry(noSoonerThan: .seconds(30))),
      ("Sun, 06 Nov 1994 08:49:00 GMT", .retry(noSoonerThan: .zero)),
      (
        "Thu, 01 Jan 2099 00:00:00 GMT",
        .giveUp(.asksForTooLong(.seconds(4_070_908_800 - now), limit: .seconds(60)))
      ),
    ])
  func retryAfter(text: String?, expected: RetryAdvice) throws {
    #expect(try advice(503, retryAfter: text) == expected)
  }

  @Test("H28: what a server asks for is named")
  func tooLongIsNamed() {
    let reason = RetryAdvice.Reason.asksForTooLong(.seconds(3600), limit: .seconds(60))
    #expect(reason.message?.contains("3600") == true)
    #expect(reason.message?.contains("60") == true)
    #expect(reason.help?.contains("maxDelay") == true)
  }

  @Test func onlySomeStatusesPass() {
    let transient = (100...999).filter { HTTPResponseHead(status: $0).isTransient }
    #expect(transient == [408, 425, 429] + (500...599).filter { $0 != 501 })
  }

  @Test func aPostThatAGatewayLostIsNotSentAgainWithoutAKey() throws {
    #expect(try advice(502, method: .post) == .giveUp(.mayHaveBeenDone(.post)))
    #expect(try advice(504, method: .patch) == .giveUp(.mayHaveBeenDone(.patch)))
    #expect(try advice(503, method: .post) == .retry(noSoonerThan: nil))
    #expect(try advice(504, method: .post, key: "k") == .retry(noSoonerThan: nil))
    #expect(try advice(504, method: .put) == .retry(noSoonerThan: nil))
    #expect(try advice(404, method: .post) == .giveUp(.permanent))
  }

  @Test func anExpectationIsACodeOrAHundred() {
    #expect(StatusExpectation.Element("404") == .code(404))
    #expect(StatusExpectation.Element("2xx") == .hundreds(2))
    for text in ["", "2", "2XX", "0xx", "099", "1000", "20x", "+20", "²xx"] {
      #expect(StatusExpectation.Element(text) == nil, "\(text)")
    }
    let expectation = StatusExpectation([.code(404), .hundreds(2)])
    #expect((100...999).filter(expectation.accepts) == Array(200...299) + [404])
  }

  @Test func linksAreReadWithTheirCommasAndQuotes() {
    let headers = HTTPHeaders([
      HTTPHeader(
        "Link", #"<https://a/?p=2,3>; rel="next"; title="a, \"b\"; c", </last>; rel=last"#),
      HTTPHeader("link", #"<x>; rel="NEXT prev", <y>; anchor="/other"; rel=next, nonsense, <z"#),
    ])
    let links = WebLink.all(in: headers)
    #expect(links.map(\.target) == ["https://a/?p=2,3", "/last", "x"])
    #expect(links.map(\.relations) == [["next"], ["last"], ["next", "prev"]])
    #expect(links[0].parameters["title"] == #"a, "b"; c"#)
  }

  @Test func theNextPageIsRelativeToTheAnswer() throws {
    let url = try HTTPURL("https://h/api/items?page=1")
    let head = { (link: String) in HTTPResponseHead(status: 200, headers: ["Link": link]) }
    let next = HTTPResponse(head: head("<?page=2>; rel=next"), url: url).nextPage
    #expect(next?.description == "https://h/api/items?page=2")
    #expect(HTTPResponse(head: head("<?page=9>; rel=last"), url: url).nextPage == nil)
    #expect(HTTPResponse(head: head("<ftp://x>; rel=next"), url: url).nextPage == nil)
  }

  @Test(arguments: [
    ("application/json", true), ("Application/JSON; charset=utf-8", true), ("text/json", true),
    ("application/problem+json", true), ("text/plain", false), ("application/jsonp", false),
    ("image/json", false),
  ])
  func jsonIsKnownByItsType(text: String, isJSON: Bool) {
    #expect(MediaType(text)?.isJSON == isJSON)
  }

  @Test func theParametersOfATypeAreRead() {
    let type = MediaType(#"Text/HTML; Charset="ISO-8859-1" ;x=a;x=b; =; y"#)
    #expect(type?.type == "text")
    #expect(type?.subtype == "html")
    #expect(type?.parameters == ["charset": "ISO-8859-1", "x": "a"])
    #expect(MediaType("json") == nil)
    #expect(MediaType("a/b/c") == nil)
    #expect(MediaType("") == nil)
  }

  @Test func textIsReadInTheCharsetThatIsNamed() throws {
    #expect(try BodyText.decode([0xEF, 0xBB, 0xBF, 0x61], charset: nil) == "a")
    #expect(try BodyText.decode([0xE4], charset: "ISO-8859-1") == "ä")
    #expect(try BodyText.decode([0x80, 0x41], charset: "windows-1252") == "€A")
    #expect(try BodyText.decode([0xFF, 0xFE, 0x61, 0], charset: "utf-16") == "a")
    #expect(try BodyText.decode([0, 0x61], charset: "UTF-16BE") == "a")
    #expect(try BodyText.decode([0x3D, 0xD8, 0x00, 0xDE], charset: "utf-16le") == "😀")
    #expect(try BodyText.decode([], charset: nil) == "")
  }

  @Test(
    "H36: bytes that are not the text they are said to be fail with their place",
    arguments: [
      ([0x61, 0xFF], nil, BodyTextError.invalid(charset: "UTF-8", offset: 1)),
      ([0x61, 0xC3], nil, .invalid(charset: "UTF-8", offset: 1)),
      ([0xEF, 0xBB, 0xBF, 0xC0, 0xAF], nil, .invalid(charset: "UTF-8", offset: 3)),
      ([0xC3, 0xA4, 0xED, 0xA0, 0x80], "utf-8", .invalid(charset: "UTF-8", offset: 2)),
      ([0x61, 0x80], "us-ascii", .invalid(charset: "ASCII", offset: 1)),
      ([0x61], "utf-16", .invalid(charset: "UTF-16", offset: 0)),
      ([0x61, 0, 0, 0xD8], "utf-16le", .invalid(charset: "UTF-16", offset: 2)),
      ([0x61], "ebcdic", .unknownCharset("ebcdic")),
    ] as [([UInt8], String?, BodyTextError)])
  func notText(bytes: [UInt8], charset: String?, expected: BodyTextError) {
    #expect(throws: expected) { try BodyText.decode(bytes, charset: charset) }
  }

  @Test(arguments: [
    ("bytes 0-499/1234", 0, 499, 1234), ("bytes 500-1233/1234", 500, 1233, 1234),
    ("BYTES 5-9/*", 5, 9, nil),
  ])
  func aRangeIsRead(text: String, first: Int, last: Int, whole: Int?) throws {
    let range = try #require(ContentRange(text))
    #expect((range.first, range.last, range.whole) == (first, last, whole))
  }

  @Test(arguments: [
    "", "bytes */1234", "bytes 5-4/10", "bytes 0-10/10", "items 0-1/2", "bytes 0-1",
  ])
  func malformedRangeIsRejected(text: String) { #expect(ContentRange(text) == nil) }

  @Test(
    "H33: only addresses of the public network are public",
    arguments: [
      ([127, 0, 0, 1], false), ([0, 0, 0, 0], false), ([10, 1, 2, 3], false),
      ([100, 64, 0, 1], false), ([100, 128, 0, 1], true), ([169, 254, 169, 254], false),
      ([172, 15, 0, 1], true), ([172, 16, 0, 1], false), ([172, 31, 255, 255], false),
      ([172, 32, 0, 1], true), ([192, 168, 1, 1], false), ([198, 18, 0, 1], false),
      ([224, 0, 0, 1], false), ([255, 255, 255, 255], false), ([8, 8, 8, 8], true),
      ([1, 1, 1, 1], true), ([192, 0, 2, 1], false), ([203, 0, 113, 7], false),
    ] as [([UInt8], Bool)])
  func publicAddressesOfFour(bytes: [UInt8], expected: Bool) {
    #expect(PublicAddress.isPublic(bytes) == expected)
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes
    #expect(PublicAddress.isPublic(mapped) == expected)
  }

  @Test(
    "H33: only global addresses of sixteen bytes are public",
    arguments: [
      ([0x20, 0x01, 0x48, 0x60], true), ([0x2A, 0x00, 0x14, 0x50], true),
      ([0x20, 0x01, 0x0D, 0xB8], false), ([0x20, 0x01, 0x00, 0x00], false),
      ([0xFE, 0x80, 0, 0], false), ([0xFC, 0, 0, 0], false), ([0xFF, 0x02, 0, 0], false),
      ([0, 0, 0, 0], false), ([0x20, 0x02, 0x7F, 0], false), ([0x20, 0x02, 8, 8], true),
      ([0x3F, 0xFF, 0, 0], false),
    ] as [([UInt8], Bool)])
  func publicAddressesOfSixteen(start: [UInt8], expected: Bool) {
    let bytes = start + [UInt8](repeating: 0, count: 11) + [1]
    #expect(PublicAddress.isPublic(bytes) == expected)
  }
}
