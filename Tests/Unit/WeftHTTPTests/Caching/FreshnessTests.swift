import Testing

@testable import WeftHTTP

/// RFC 9111 §4.2: the freshness lifetime and the age of a response.
struct FreshnessTests {
  private static let now = Moment.start

  private func freshness(_ headers: HTTPHeaders, status: Int = 200, delay: Int64 = 0) -> Freshness {
    Freshness(
      of: HTTPResponseHead(status: status, headers: headers), requestTime: Self.now - delay,
      responseTime: Self.now)
  }

  private static let lifetimeIsTheMaxAgeCases: [(String, Int64)] = [
    ("max-age=60", 60), ("MAX-AGE=60", 60), ("public, max-age=60", 60), ("max-age=\"60\"", 60),
    ("max-age=0060", 60), ("max-age=60, max-age=5", 60), ("s-maxage=60", 0), ("max-age=-60", 0),
    ("max-age=60.5", 0), ("max-age='60'", 0), ("max-age", 0), ("max-age =60", 0),
    ("max-age= 60", 0), ("x=\"max-age=60\"", 0), ("x=\", max-age=60\", max-age=5", 5),
    ("max-age=99999999999", 1 << 31), ("max-age=99999999999999999999999", 1 << 31), ("", 0),
  ]

  @Test("§4.2.1, §5.2.2.1: max-age", arguments: lifetimeIsTheMaxAgeCases)
  func lifetimeIsTheMaxAge(control: String, expected: Int64) {
    #expect(freshness(["Cache-Control": control]).lifetime == expected)
  }

  @Test func linesOfTheSameNameAreOneList() {
    let headers: HTTPHeaders = ["Cache-Control": "public", "cache-control": "max-age=7"]
    #expect(freshness(headers).lifetime == 7)
  }

  private static let lifetimeEndsWithExpiresCases: [(String, String?, Int64)] = [
    (Moment.text(100), Moment.text(), 100), (Moment.text(100), Moment.text(40), 60),
    (Moment.text(100), nil, 100), (Moment.text(100), "soon", 100), (Moment.text(-1), nil, 0),
    ("0", nil, 0), ("-1", nil, 0), ("", nil, 0), ("Fri, 15 Jan 2027 08:01:40 CET", nil, 0),
    ("fri, 15 JAN 2027 08:01:40 gmt", nil, 100), ("Fri Jan 15 08:01:40 2027", nil, 100),
    ("Friday, 15-Jan-27 08:01:40 GMT", nil, 100), ("Fri, 15 Jan 27 08:01:40 GMT", nil, 0),
    ("Fri 15 Jan 2027 08:01:40 GMT", nil, 0), ("Fri, 15  Jan 2027 08:01:40 GMT", nil, 0),
    ("Fri, 15-Jan-2027 08:01:40 GMT", nil, 0), ("Fri, 15 Jan 2027 08.01.40 GMT", nil, 0),
    ("Fri, 15 Jan 2027 8:01:40 GMT", nil, 0),
  ]

  @Test(
    "§5.3: Expires counts from Date, and what is no date is in the past",
    arguments: lifetimeEndsWithExpiresCases)
  func lifetimeEndsWithExpires(expires: String, date: String?, expected: Int64) {
    var headers = HTTPHeaders([HTTPHeader("Expires", expires)])
    if let date { headers.add(HTTPHeader("Date", date)) }
    #expect(freshness(headers).lifetime == expected)
  }

  @Test("§4.2.1: of two Expires neither counts, and max-age goes before them")
  func twoExpires() {
    let two: HTTPHeaders = ["Expires": Moment.text(100), "expires": Moment.text(200)]
    #expect(freshness(two).lifetime == 0)
    let both: HTTPHeaders = ["Expires": Moment.text(100), "Cache-Control": "max-age=5"]
    #expect(freshness(both).lifetime == 5)
  }

  private static let lifetimeIsGuessedCases: [(Int, Int64, String, Int64)] = [
    (200, -1000, "", 100), (404, -1000, "", 100), (201, -1000, "", 0), (503, -1000, "", 0),
    (503, -1000, "public", 100), (200, -1_200_000, "", 86_400), (200, 1000, "", 0),
    (200, -1000, "max-age=1", 1),
  ]

  @Test(
    "§4.2.2: a tenth of the time without a change, at most a day, for statuses that allow it",
    arguments: lifetimeIsGuessedCases)
  func lifetimeIsGuessed(status: Int, modified: Int64, control: String, expected: Int64) {
    var headers: HTTPHeaders = ["Last-Modified": Moment.text(modified), "Date": Moment.text()]
    if !control.isEmpty { headers.add(HTTPHeader("Cache-Control", control)) }
    #expect(freshness(headers, status: status).lifetime == expected)
  }

  private static let ageIsCorrectedCases: [(String?, String?, Int64, Int64)] = [
    (nil, nil, 0, 10), ("30", nil, 0, 40), ("30", nil, 5, 45), (nil, Moment.text(-60), 0, 70),
    ("30", Moment.text(-60), 0, 70), ("90", Moment.text(-60), 0, 100),
    (nil, Moment.text(60), 0, 10), ("7, 90", nil, 0, 17), ("-5", nil, 0, 10), ("x", nil, 0, 10),
    ("7.5", nil, 0, 10), ("2147483649", nil, 0, (1 << 31) + 10),
  ]

  @Test(
    "§4.2.3: the age is what it was told or what its date says, and the time since",
    arguments: ageIsCorrectedCases)
  func ageIsCorrected(age: String?, date: String?, delay: Int64, expected: Int64) {
    var headers = HTTPHeaders()
    if let age { headers.add(HTTPHeader("Age", age)) }
    if let date { headers.add(HTTPHeader("Date", date)) }
    #expect(freshness(headers, delay: delay).age(at: Self.now + 10) == expected)
  }

  @Test func responseFromTheFutureIsStale() {
    let fresh = freshness(["Cache-Control": "max-age=1000"])
    #expect(fresh.left(at: Self.now) == 1000)
    #expect(fresh.left(at: Self.now - 1) < 0)
  }
}
