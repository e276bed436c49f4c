import Testing

@testable import WeftHTTP

/// Requests that may share a response.
struct ResponseKeyTests {
  private let secret = CacheSecret([UInt8](repeating: 7, count: CacheSecret.length))

  private func wire(
    _ url: String = "https://a.test/x", _ headers: HTTPHeaders = [:],
    _ change: (inout HTTPRequest) -> Void = { _ in }
  ) throws -> WireRequest {
    var request = HTTPRequest(try HTTPURL(url), headers: headers)
    change(&request)
    return try WireRequest(request, boundary: "b", total: nil)
  }

  @Test func urlsOfOneSpellingAreOneResource() throws {
    let key = secret.key(of: try wire())
    #expect(secret.key(of: try wire("HTTPS://A.test:443/./x")) == key)
    for other in ["http://a.test/x", "https://a.test/x?", "https://a.test/X", "https://b.test/x"] {
      #expect(secret.key(of: try wire(other)).resource != key.resource, "\(other)")
    }
  }

  @Test("H40: whoever has other credentials is another asker")
  func credentials() throws {
    let askers = try [
      wire(), wire { $0.auth = .bearer("one") }, wire { $0.auth = .bearer("two") },
      wire { $0.auth = .basic(user: "u", password: "p") },
      wire("https://a.test/x", ["Cookie": "a=1"]), wire("https://a.test/x", ["Cookie": "a=2"]),
      wire("https://a.test/x", ["Proxy-Authorization": "Basic x"]),
      wire { $0.headers.add(HTTPHeader("X-Api-Key", "one", isSecret: true)) },
      wire { $0.headers.add(HTTPHeader("X-Api-Key", "two", isSecret: true)) },
      wire { $0.tls.certificate = "/one.pem" }, wire { $0.tls.authorities = "/one.pem" },
      wire { $0.wantsCompression = false },
    ].map { secret.key(of: $0).requester }
    #expect(Set(askers).count == askers.count)
  }

  @Test(
    "X21: a header that may say who asks is another asker's, declared to be secret or not",
    arguments: [
      "X-Api-Key", "X-Tenant", "PRIVATE-TOKEN", "X-Unheard-Of", "Authorization", "Cookie",
    ])
  func undeclaredKeys(name: String) throws {
    let url = "https://a.test/x"
    let askers = try [wire(url), wire(url, [name: "one"]), wire(url, [name: "two"])]
      .map { secret.key(of: $0).requester }
    #expect(Set(askers).count == 3)
  }

  @Test(
    "X21: what is negotiated, asked on condition or traced is no other asker's",
    arguments: [
      "Accept", "accept-language", "User-Agent", "If-None-Match", "Range",
      "Cache-Control", "traceparent", "X-Request-Id", "X-B3-TraceId",
    ])
  func sharedHeaders(name: String) throws {
    let url = "https://a.test/x"
    #expect(
      secret.key(of: try wire(url, [name: "x"])).requester
        == secret.key(of: try wire(url)).requester)
  }

  @Test func keyRevealsNothingWithoutItsSecret() throws {
    let other = CacheSecret([UInt8](repeating: 8, count: CacheSecret.length))
    let request = try wire { $0.auth = .bearer("one") }
    #expect(other.key(of: request).resource != secret.key(of: request).resource)
    #expect(other.key(of: request).requester != secret.key(of: request).requester)
  }

  private static let selectionCases: [(String, HTTPHeaders, HTTPHeaders, Bool)] = [
    ("foo", ["Foo": "1, 2"], ["Foo": "1", "foo": "2"], true),
    ("foo", ["Foo": "1,2"], ["Foo": " 1 ,  2 "], true),
    ("foo", ["Foo": "a"], ["Foo": "A"], false),
    ("foo", ["Foo": "1"], ["Foo": "2"], false), ("foo", ["Foo": "1"], [:], false),
    ("foo", ["Foo": ""], [:], false), ("foo", [:], ["Bar": "1"], true),
    ("foo", ["Foo": "absent"], [:], false),
    ("accept-language", ["Accept-Language": "en, DE"], ["Accept-Language": "EN,de"], true),
    ("accept-language", ["Accept-Language": "en, de"], ["Accept-Language": "de, en"], false),
  ]

  @Test("RFC 9111 §4.1: spellings that mean the same select the same", arguments: selectionCases)
  func selection(name: String, one: HTTPHeaders, other: HTTPHeaders, same: Bool) throws {
    let url = "https://a.test/x"
    let first = secret.selection(try wire(url, one), by: [name])
    #expect((secret.selection(try wire(url, other), by: [name]) == first) == same)
  }

  @Test func headerBoundariesAffectTheKey() throws {
    let one = try wire("https://a.test/x", ["A": "1", "B": "2"])
    let other = try wire("https://a.test/x", ["A": "1b:2"])
    #expect(secret.selection(one, by: ["a", "b"]) != secret.selection(other, by: ["a", "b"]))
  }

  @Test func theNamesOfVaryAreASet() {
    let head = HTTPResponseHead(status: 200, headers: ["Vary": "B, a", "vary": "A, , c"])
    #expect(VaryingField.names(in: head) == ["a", "b", "c"])
  }
}
