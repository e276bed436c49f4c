import Testing

@testable import WeftHTTP

struct URLTests {
  @Test(
    "H39: a URL has one spelling",
    arguments: [
      ("HTTP://Example.COM", "http://example.com/"),
      ("https://example.com:443/a?b", "https://example.com/a?b"),
      ("http://example.com:8080", "http://example.com:8080/"),
      ("http://example.com:/", "http://example.com/"),
      ("http://h/a#fragment", "http://h/a"),
      ("http://h#fragment", "http://h/"),
      ("http://h?q", "http://h/?q"),
      ("http://h?q#f?g", "http://h/?q"),
      ("http://h/a/./b/../c", "http://h/a/c"),
      ("http://h/../../a", "http://h/a"),
      ("http://h/a/..", "http://h/"),
      ("http://h/a b/ä?x y=ö", "http://h/a%20b/%C3%A4?x%20y=%C3%B6"),
      ("http://h/%41%zz%", "http://h/%41%25zz%25"),
      ("http://h/a\"<>\\^`{|}", "http://h/a%22%3C%3E%5C%5E%60%7B%7C%7D"),
      ("http://[::1]:8080/", "http://[::1]:8080/"),
      ("http://[2001:DB8::1]", "http://[2001:db8::1]/"),
      ("http://xn--mnchen-3ya.de/", "http://xn--mnchen-3ya.de/"),
      ("http://a_b.example.", "http://a_b.example./"),
      ("http://127.0.0.1:65535", "http://127.0.0.1:65535/"),
    ])
  func urlHasOneSpelling(text: String, expected: String) throws {
    let url = try HTTPURL(text)
    #expect(url.description == expected)
    #expect(try HTTPURL(expected) == url, "it is stable")
  }

  @Test(
    "H39: what is no URL is refused",
    arguments: [
      ("", HTTPURLError.noScheme), ("example.com", .noScheme), ("//example.com/", .noScheme),
      ("/a", .noScheme), ("localhost:80", .otherScheme("localhost")),
      ("ftp://h/", .otherScheme("ftp")), ("file:///etc/passwd", .otherScheme("file")),
      ("http:", .noHost), ("http://", .noHost), ("http:///a", .noHost), ("http://:80/", .noHost),
      ("http://user@/", .noHost), ("http://h:0/", .badPort("0")),
      ("http://h:99999/", .badPort("99999")), ("http://h:65536/", .badPort("65536")),
      ("http://h:-1/", .badPort("-1")), ("http://h:8o/", .badPort("8o")),
      ("http://münchen.de/", .badHost("münchen.de")), ("http://a b/", .badHost("a b")),
      ("http://a%41/", .badHost("a%41")), ("http://[::1/", .badHost("[")),
      ("http://[1]/", .badHost("[1]")), ("http://[::g]/", .badHost("[::g]")),
      ("http://a..b/", .badHost("a..b")), ("http://h\\@evil/", .badCredentials),
      ("http://a@b@c/", .badCredentials),
    ])
  func malformedURLIsRefused(text: String, fault: HTTPURLError) {
    #expect(throws: fault) { try HTTPURL(text) }
  }

  @Test("H39: the help for an international name says how to write it")
  func internationalName() {
    #expect(HTTPURLError.badHost("münchen.de").help?.contains("xn--") == true)
    #expect(HTTPURLError.badHost("a b").help == nil)
  }

  @Test(
    "H23: a control character in a URL is refused", arguments: ["\r\n", "\n", "\0", "\t", "\u{7F}"])
  func controlCharacters(text: String) {
    #expect(throws: HTTPURLError.controlCharacter(offset: 10)) { try HTTPURL("http://h/a\(text)b") }
  }

  @Test func anEndlessURLIsRefused() {
    let text = "http://h/" + String(repeating: "a", count: 64 * 1024)
    #expect(throws: HTTPURLError.tooLong(limit: 64 * 1024)) { try HTTPURL(text) }
  }

  @Test("H30: user and password are kept apart and never shown")
  func credentials() throws {
    let url = try HTTPURL("http://us%40er:p%3Aw:x@h/a")
    #expect(url.credentials == URLCredentials(user: "us@er", password: "p:w:x"))
    #expect(url.description == "http://h/a")
    #expect(try HTTPURL("http://u@h/").credentials == URLCredentials(user: "u", password: ""))
    #expect(try HTTPURL("http://@h/").credentials == nil)
  }

  /// RFC 3986 §5.4.1 and §5.4.2.
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"),
    (";x", "http://a/b/c/;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
    ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"),
    ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("g.", "http://a/b/c/g."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("g;x=1/../y", "http://a/b/c/y"),
    ("http://x/y", "http://x/y"), (" /g ", "http://a/g"), ("https://u:p@x/", "https://x/"),
  ])
  func aReferenceIsResolvedAsTheStandardSays(reference: String, expected: String) throws {
    let base = try HTTPURL("http://a/b/c/d;p?q")
    #expect(try base.resolving(reference).description == expected)
    #expect(try base.resolving(reference).credentials == nil)
  }

  @Test func aQueryIsAddedToWhatThereIs() throws {
    let fields = [FormField("a b", "c&d"), FormField("e", "ä=+")]
    let added = "a%20b=c%26d&e=%C3%A4%3D%2B"
    #expect(try HTTPURL("http://h/").appending(query: fields).description == "http://h/?\(added)")
    #expect(
      try HTTPURL("http://h/?x=1").appending(query: fields).description == "http://h/?x=1&\(added)")
    #expect(try HTTPURL("http://h/?").appending(query: fields).query == added)
    #expect(try HTTPURL("http://h/").appending(query: []).query == nil)
  }

  @Test(arguments: [
    ("a/b", "a%2Fb"), ("..", "%2E%2E"), (".", "%2E"), ("...", "..."), ("a?b#c%", "a%3Fb%23c%25"),
  ])
  func aSegmentStaysOneSegment(value: String, expected: String) {
    #expect(PercentEncoding.segment(value) == expected)
  }

  @Test(
    arguments: [
      ("https://a.test", ["b", "c"], "https://a.test/b/c"),
      ("https://a.test/x/?q", ["b/c", "..", "ü"], "https://a.test/x/b%2Fc/%2E%2E/%C3%BC"),
      ("https://a.test/x?q", [], "https://a.test/x"),
      ("https://a.test/x", [""], "https://a.test/x/"),
    ] as [(String, [String], String)])
  func segmentsGoBehindThePath(base: String, segments: [String], expected: String) throws {
    #expect(try HTTPURL(base).appending(segments: segments).description == expected)
  }
}
