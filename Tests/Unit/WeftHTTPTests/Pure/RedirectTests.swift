import Testing

@testable import WeftHTTP

struct RedirectTests {
  private static let start = "https://a.test/one?q"

  private func course(
    _ method: HTTPMethod = .get, body: RequestBody = .none,
    _ change: (inout HTTPRequest) -> Void = { _ in }
  ) throws -> RedirectPolicy {
    var request = HTTPRequest(try HTTPURL(Self.start), method: method, body: body)
    change(&request)
    return RedirectPolicy(request)
  }

  private func head(_ status: Int, _ location: String?) -> HTTPResponseHead {
    HTTPResponseHead(
      status: status, headers: HTTPHeaders(location.map { [HTTPHeader("Location", $0)] } ?? []))
  }

  /// RFC 9110 §15.4; `nil` if the response is delivered as it is.
  @Test(arguments: [
    (301, "GET", "GET"), (302, "GET", "GET"), (303, "GET", "GET"), (307, "GET", "GET"),
    (308, "GET", "GET"), (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"),
    (307, "POST", "POST"), (308, "POST", "POST"), (301, "PUT", "PUT"), (302, "PUT", "PUT"),
    (303, "PUT", "GET"), (303, "DELETE", "GET"), (303, "HEAD", "HEAD"), (301, "HEAD", "HEAD"),
    (300, "GET", nil), (304, "GET", nil), (305, "GET", nil), (200, "GET", nil), (404, "GET", nil),
  ])
  func theMethodFollowsFromTheStatus(status: Int, method: String, expected: String?) throws {
    var course = try course(HTTPMethod(method))
    switch course.decision(at: head(status, "/two")) {
    case .finished: #expect(expected == nil)
    case .follow:
      #expect(course.request.method.name == expected)
      #expect(course.request.url.description == "https://a.test/two")
    case .fails(let fault): Issue.record("\(fault)")
    }
  }

  @Test func aRedirectWithoutATargetIsAnAnswer() throws {
    var course = try course()
    guard case .finished = course.decision(at: head(302, nil)) else {
      Issue.record("it was followed")
      return
    }
  }

  @Test func noLimitMeansNoFollowing() throws {
    var course = try course { $0.redirects.limit = 0 }
    #expect(!course.follows(head(302, "/two")))
    guard case .finished = course.decision(at: head(302, "/two")) else {
      Issue.record("it was followed")
      return
    }
  }

  private func fault(_ course: RedirectPolicy, _ status: Int, _ location: String) -> RedirectError?
  {
    var course = course
    guard case .fails(let fault) = course.decision(at: head(status, location)) else { return nil }
    return fault
  }

  @Test("H05: a body is sent again to the same origin only", arguments: [307, 308])
  func bodyIsResentToTheSameOriginOnly(status: Int) throws {
    let body = RequestBody.json("{}")
    var course = try course(.post, body: body) { $0.idempotencyKey = "k" }
    let other = try HTTPURL("https://b.test/")
    #expect(
      fault(course, status, "https://b.test/")
        == .bodyToOtherOrigin(from: try HTTPURL(Self.start), to: other))
    guard case .follow = course.decision(at: head(status, "/two")) else {
      Issue.record("it was not followed")
      return
    }
    #expect(course.request.body == body)
    #expect(course.request.idempotencyKey == "k")
  }

  @Test(
    "H05: a request that becomes a GET has no body, nor what describes it", arguments: 301...303)
  func droppedBodies(status: Int) throws {
    var course = try course(.post, body: .text("x")) {
      $0.headers = ["Content-Type": "text/x", "content-language": "en", "X": "1"]
      $0.idempotencyKey = "k"
    }
    guard case .follow = course.decision(at: head(status, "https://b.test/")) else {
      Issue.record("it was not followed")
      return
    }
    #expect(course.request.body == .none)
    #expect(course.request.headers == ["X": "1"])
    #expect(course.request.idempotencyKey == nil)
  }

  @Test(
    "H03: what is secret stays with its origin, and the hop says so",
    arguments: [
      ("/two", false), ("//a.test:443/two", false), ("https://A.TEST/", false),
      ("https://a.test:8443/", true), ("https://b.test/", true), ("https://www.a.test/", true),
      ("https://a.test./", true),
    ])
  func secretsStayWithTheirOrigin(location: String, isWithheld: Bool) throws {
    var course = try course {
      $0.headers = ["Cookie": "c", "X-Plain": "p"]
      $0.headers.add(HTTPHeader("X-Api-Key", "k", isSecret: true))
      $0.auth = .bearer("t")
    }
    guard case .follow = course.decision(at: head(302, location)) else {
      Issue.record("it was not followed")
      return
    }
    let names = course.request.headers.fields.map(\.name)
    #expect(names == (isWithheld ? ["X-Plain"] : ["Cookie", "X-Plain", "X-Api-Key"]))
    #expect((course.request.auth == nil) == isWithheld)
    #expect(
      course.hops[0].withheld == (isWithheld ? ["Cookie", "X-Api-Key", "Authorization"] : []))
    // They do not return later, either.
    guard case .follow = course.decision(at: head(302, Self.start)) else {
      Issue.record("it was not followed")
      return
    }
    #expect((course.request.auth == nil) == isWithheld)
  }

  private static let other = "https://b.test/"

  /// The effect of a redirect to a different origin on each part of a request. A part that is missing here fails the
  /// test: its author must decide.
  private typealias Part = (change: (inout HTTPRequest) -> Void, isRight: (HTTPRequest) -> Bool)
  private let parts: [String: Part] = [
    "method": ({ $0.method = .head }, { $0.method == .head }),
    "url": ({ _ in }, { $0.url.description == other }),
    "headers": (
      {
        $0.headers = [
          "Idempotency-Key": "k", "X-Api-Key": "k", "Proxy-Authorization": "p", "X": "1",
        ]
        $0.headers.add(HTTPHeader("X-Other", "k", isSecret: true))
      }, { $0.headers == ["X": "1"] }
    ),
    // A redirect of a request with a body is refused.
    "body": ({ _ in }, { $0.body == .none }),
    "auth": ({ $0.auth = .bearer("t") }, { $0.auth == nil }),
    "deadlines": ({ $0.deadlines.idle = .seconds(5) }, { $0.deadlines.idle == .seconds(5) }),
    "redirects": ({ $0.redirects.limit = 3 }, { $0.redirects.limit == 3 }),
    "expectedStatus": ({ _ in }, { $0.expectedStatus == .success }),
    "maxBytes": ({ $0.maxBytes = 7 }, { $0.maxBytes == 7 }),
    "maxHeaderBytes": ({ $0.maxHeaderBytes = 7 }, { $0.maxHeaderBytes == 7 }),
    "saveTo": ({ $0.saveTo = SaveTarget("f") }, { $0.saveTo?.path == "f" }),
    "wantsCompression": ({ $0.wantsCompression = false }, { !$0.wantsCompression }),
    "proxy": ({ $0.proxy = .url("http://p:1") }, { $0.proxy == .url("http://p:1") }),
    "tls": (
      { $0.tls = TLSFiles(authorities: "ca", certificate: "cert", key: "key") },
      { $0.tls == TLSFiles(authorities: "ca") }
    ),
    "idempotencyKey": ({ $0.idempotencyKey = "k" }, { $0.idempotencyKey == nil }),
    "declaredRepeatability": (
      { $0.declaredRepeatability = false },
      { $0.declaredRepeatability == false && !$0.isRepeatable }
    ),
    "bodyOrigins": ({ _ in }, { $0.bodyOrigins == [] }),
    "isSecret": ({ $0.isSecret = { $0 == "s" } }, { $0.isSecret("s") && !$0.isSecret("t") }),
    "caching": ({ $0.caching.isAllowed = true }, { $0.caching.isAllowed }),
  ]

  @Test("X11: each part of a request has its rule for another origin, and a new one needs one")
  func everyPart() throws {
    let plain = HTTPRequest(try HTTPURL(Self.start))
    let labels = Mirror(reflecting: plain).children.map { $0.label ?? "" }
    #expect(Set(labels) == Set(parts.keys))
    var request = plain
    for part in parts.values { part.change(&request) }
    _ = try request.follow(to: try HTTPURL(Self.other), namedBy: request.url)
    for (name, part) in parts { #expect(part.isRight(request), "\(name)") }
    // A redirect back restores nothing.
    _ = try request.follow(to: try HTTPURL(Self.start), namedBy: request.url)
    #expect(request.auth == nil && request.tls == TLSFiles(authorities: "ca"))
  }

  @Test(
    "X11: a body, and a method that may change something, go to named origins only",
    arguments: ["POST", "PUT", "PATCH", "DELETE", "BREW"])
  func bodiesElsewhere(method: String) throws {
    let (from, to) = (try HTTPURL(Self.start), try HTTPURL(Self.other))
    var request = HTTPRequest(from, method: HTTPMethod(method))
    #expect(throws: RedirectError.methodToOtherOrigin(HTTPMethod(method), from: from, to: to)) {
      _ = try request.follow(to: to, namedBy: from)
    }
    request.body = .json("{}")
    #expect(throws: RedirectError.bodyToOtherOrigin(from: from, to: to)) {
      _ = try request.follow(to: to, namedBy: from)
    }
    request.auth = .bearer("t")
    request.bodyOrigins = [to.origin]
    _ = try request.follow(to: to, namedBy: from)
    #expect(request.body == .json("{}") && request.url == to && request.auth == nil)
  }

  @Test("X11: no other origin gets a secret in the URL, and the failure does not name it")
  func secretsInURLs() throws {
    for target in [
      "https://b.test/?k=s3cret", "https://s3cret:x@b.test/", "https://x:s3cret@b.test/",
    ] {
      var request = HTTPRequest(try HTTPURL(Self.start))
      request.isSecret = { $0.contains("s3cret") }
      request.bodyOrigins = [try HTTPURL(Self.other).origin]
      let (url, from) = (try HTTPURL(target), request.url)
      do throws(RedirectError) {
        _ = try request.follow(to: url, namedBy: from)
        Issue.record("it was followed: \(target)")
      } catch {
        #expect(error.isOfSecret && !error.message.contains("s3cret"))
      }
      _ = try request.follow(to: try HTTPURL("https://a.test/?k=s3cret"), namedBy: request.url)
    }
  }

  @Test("X11: what another origin names is not trusted, even if it leads back")
  func namedElsewhere() throws {
    var request = HTTPRequest(try HTTPURL(Self.start))
    request.auth = .bearer("t")
    let names = try request.follow(
      to: try HTTPURL("https://a.test/admin"), namedBy: try HTTPURL(Self.other))
    #expect(request.auth == nil && names == ["Authorization"])
  }

  @Test("H30: user and password of a URL are treated as any others")
  func credentialsOfTheURL() throws {
    var request = HTTPRequest(try HTTPURL("http://u:p@a.test/"))
    #expect(RedirectPolicy(request).request.auth == .basic(user: "u", password: "p"))
    request.auth = .bearer("t")
    #expect(RedirectPolicy(request).request.auth == .bearer("t"))
  }

  @Test("H04: https does not become http unless that is allowed")
  func downgrade() throws {
    let to = try HTTPURL("http://a.test/")
    #expect(
      fault(try course(), 302, "http://a.test/")
        == .downgrade(from: try HTTPURL(Self.start), to: to))
    var allowed = try course { $0.redirects.allowsDowngrade = true }
    guard case .follow = allowed.decision(at: head(302, "http://a.test/")) else {
      Issue.record("it was not followed")
      return
    }
  }

  @Test(
    "H07: another scheme is not followed, and named",
    arguments: ["file:///etc/passwd", "ftp://h/", "gopher://h/", "data:text/plain,x", "dict://h"])
  func otherSchemesAreRefused(location: String) throws {
    let scheme = String(location.prefix { $0 != ":" })
    let fault = fault(try course(), 302, location)
    #expect(fault == .badTarget(.otherScheme(scheme), from: try HTTPURL(Self.start)))
    #expect(fault?.message.contains(scheme) == true)
  }

  @Test(
    "H06: a target that is none fails",
    arguments: ["http://", "http://a b/", "http://h:0/", "\u{1}"])
  func badTargets(location: String) throws {
    guard case .badTarget? = fault(try course(), 302, location) else {
      Issue.record("it was followed")
      return
    }
  }

  @Test("H06: an empty target fails", arguments: ["", "  "])
  func emptyTargets(location: String) throws {
    #expect(
      fault(try course(), 302, location)
        == .noTarget(status: 302, from: try HTTPURL(Self.start)))
  }

  @Test("H06: the eleventh redirect fails, with the chain")
  func tooMany() throws {
    var course = try course()
    for index in 1...10 {
      guard case .follow = course.decision(at: head(302, "/\(index)")) else {
        Issue.record("\(index) was not followed")
        return
      }
    }
    guard case .fails(.tooMany(let hops, limit: 10)) = course.decision(at: head(307, "/11")) else {
      Issue.record("it was followed")
      return
    }
    #expect(hops.count == 11)
    let message = RedirectError.tooMany(hops, limit: 10).message
    #expect(message.contains("https://a.test/one?q → 302 https://a.test/1 → 302"))
    #expect(message.hasSuffix("→ 307 https://a.test/11"))
  }
}
