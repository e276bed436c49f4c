import Testing
import WeftDefinition
import WeftFutures
import WeftHTTP
import WeftJSON

@testable import WeftEvents
@testable import WeftExecution

/// The requests that are sent; a value never becomes a different part of the request than the one it is written in.
@Suite struct RequestTests {
  private static func sent(
    _ http: String, secrets: [SecretName: Secret] = [:], directory: String? = nil
  ) async throws -> WireRequest {
    let declared = secrets.keys.map { #""\#($0)": {"env": "\#($0)"}"# }.joined(separator: ",")
    let harness = try RequestHarness(
      #"{"secrets": {\#(declared)}, "steps": [{"id": "a", "http": \#(http)}]}"#,
      ScriptedTransport([.head(200, [:], "")]), secrets: secrets, directory: directory)
    let end = try await harness.end()
    #expect(end.outcome == .success, "\(end.failure?.message ?? "")")
    return try #require(harness.transport.requests.first)
  }

  private static func failure(_ http: String) async throws -> String {
    let harness = try RequestHarness(
      #"{"steps": [{"id": "a", "http": \#(http)}]}"#, ScriptedTransport([.head(200, [:], "")]))
    let failure = try #require(try await harness.end().failure)
    #expect(harness.transport.requests.isEmpty)
    #expect(failure.classes == [.expression])
    return failure.message
  }

  static let urls: [(written: String, sent: String)] = [
    ("http://h/a/${{ 'b/c?d#e' }}/f", "http://h/a/b%2Fc%3Fd%23e/f"),
    ("http://h/a/x${{ '..' }}/${{ '...' }}", "http://h/a/x%2E%2E/..."),
    ("http://h/a?q=${{ '..' }}", "http://h/a?q=.."),
    ("http://h/a?q=${{ 'x&y=z#w' }}", "http://h/a?q=x%26y%3Dz%23w"),
    ("http://h/v${{ '' }}/a", "http://h/v/a"),
    ("http://${{ 'api.example' }}:${{ 8080 }}/a", "http://api.example:8080/a"),
    ("${{ 'http://h/a?b=c' }}", "http://h/a?b=c"),
    ("${{ 'http://h/base/' }}/x/${{ 'a b' }}", "http://h/base/x/a%20b"),
    ("${{ 'http://h' }}?q=1", "http://h/?q=1"),
  ]

  @Test(
    "H23: what a value says is escaped for the part of the URL in which it stands", arguments: urls)
  func aValueStaysWhereItStands(written: String, sent: String) async throws {
    let request = try await Self.sent(#"{"url": "\#(written)"}"#)
    #expect(request.url.description == sent)
  }

  static let proxies: [(written: String, sent: String)] = [
    (
      "http://${{ 'm@e' }}:${{ 'p@ss:w/rd%20?#' }}@proxy:3128",
      "http://m%40e:p%40ss%3Aw%2Frd%2520%3F%23@proxy:3128"
    ),
    ("http://me:a${{ '@' }}b@proxy", "http://me:a%40b@proxy"),
    ("http://${{ 'proxy' }}:${{ 3128 }}", "http://proxy:3128"),
    ("http://${{ 'me:pass@proxy' }}:3128", "http://me:pass@proxy:3128"),
    ("http://proxy/${{ 'a@b' }}@", "http://proxy/a@b@"),
    ("${{ 'socks5h://me:p%40ss@proxy' }}", "socks5h://me:p%40ss@proxy"),
  ]

  @Test("H23: a user and a password of a proxy are no other part of its URL", arguments: proxies)
  func aPasswordOfAProxyStaysOne(written: String, sent: String) async throws {
    let request = try await Self.sent(#"{"url": "http://h/", "proxy": "\#(written)"}"#)
    #expect(request.proxy == .url(sent))
  }

  @Test func emptyProxyIsNone() async throws {
    let request = try await Self.sent(#"{"url": "http://h/", "proxy": "${{ null }}"}"#)
    #expect(request.proxy == .none)
  }

  static let wrongURLs: [(url: String, message: String)] = [
    ("http://${{ 'h/evil' }}/a", "not valid in a host name"),
    ("http://${{ '' }}/a", "not valid in a host name"),
    ("${{ 'http://h?q' }}/a", "has a query"),
    ("${{ 'ftp://h' }}/a", "has the scheme \"ftp\""),
    ("${{ 'nothing' }}", "does not begin with http:// or https://"),
    ("http://h/items/${{ '' }}", "a part of the path would be missing"),
    ("http://h/items/${{ '' }}/x", "a part of the path would be missing"),
    ("http://h/a/${{ '..' }}", #"the part ".." of the path would lead to another path"#),
    ("http://h/a/%2e${{ '.' }}/x", "would lead to another path"),
    ("${{ 'http://h' }}/${{ '.' }}${{ '.' }}?q", "would lead to another path"),
    ("http://h/a/${{ '.' }}/x", "would lead to another path"),
    ("http://h/a/x${{ '/../..' }}", #"the part "x/../..""#),
    (#"http://h/a/${{ 'b\\..' }}/x"#, "would lead to another path"),
  ]

  @Test(arguments: wrongURLs)
  func aValueThatCannotStandThereFailsTheStep(url: String, message: String) async throws {
    let reported = try await Self.failure(#"{"url": "\#(url)"}"#)
    #expect(reported.contains(message), "\(reported)")
  }

  @Test func queriesAndFormsHaveSeveralValuesOfOneNameOrNone() async throws {
    let request = try await Self.sent(
      #"""
      {"url": "http://h/?a=1",
       "query": {"n": 3, "t": ["x", "y z"], "list": "${{ fromJSON('[1,\"&\"]') }}",
                 "none": "${{ null }}", "flag": true},
       "form": {"a b": "${{ 'c=d&e f' }}", "none": "${{ null }}"}}
      """#)
    #expect(
      request.url.description == "http://h/?a=1&n=3&t=x&t=y%20z&list=1&list=%26&flag=true")
    #expect(request.bodyText == "a+b=c%3Dd%26e+f")
    #expect(request.value(of: "Content-Type") == "application/x-www-form-urlencoded")
    #expect(request.method == .post)
  }

  @Test func anExpressionInJSONIsATypedValueAndTextInALongerText() async throws {
    let request = try await Self.sent(
      #"""
      {"url": "http://h/", "method": "PUT",
       "json": {"n": "${{ length('abc') }}", "text": "n=${{ length('abc') }}\"",
                "all": ["${{ fromJSON('{\"a\": [true, null]}') }}", 1e3], "as is": "x"}}
      """#)
    #expect(
      request.bodyText
        == #"{"n":3,"text":"n=3\"","all":[{"a":[true,null]},1e3],"as is":"x"}"#)
    #expect(request.value(of: "Content-Type") == "application/json")
    #expect(request.method == .put)
  }

  @Test func headersMayBeOmittedOrRepeated() async throws {
    let request = try await Self.sent(
      #"""
      {"url": "http://h/", "headers": {"X-A": "${{ null }}", "X-B": ["1", "2"], "X-C": "c${{ 1 }}"}}
      """#)
    #expect(request.value(of: "X-A") == nil)
    #expect(request.value(of: "X-B") == "1, 2")
    #expect(request.value(of: "X-C") == "c1")
  }

  @Test("H23: a line break in a computed header fails the step before anything is sent")
  func aLineBreakInAHeaderIsNotSent() async throws {
    let reported = try await Self.failure(
      #"{"url": "http://h/", "headers": {"X-A": "${{ fromJSON('\"a\\r\\nX-B: c\"') }}"}}"#)
    #expect(reported.contains("header \"X-A\" has a line break"), "\(reported)")
  }

  @Test func headerBuiltFromSecretsIsSecret() async throws {
    let secrets: [SecretName: Secret] = ["TOKEN": try Secret(Array("s3cret-token".utf8))]
    let request = try await Self.sent(
      #"""
      {"url": "http://h/bot${{ secrets.TOKEN }}/x", "headers": {"X-Key": "key ${{ secrets.TOKEN }}"},
       "auth": {"bearer": "${{ secrets.TOKEN }}"}, "json": {"k": "${{ secrets.TOKEN }}"}}
      """#, secrets: secrets)
    #expect(request.headers.first { $0.name == "X-Key" }?.isSecret == true)
    #expect(request.headers.first { $0.name == "Authorization" }?.isSecret == true)
    #expect(request.bodyText == #"{"k":"s3cret-token"}"#)
  }

  @Test func filesAreInTheStepsDirectoryAndItsCwd() async throws {
    let harness = try RequestHarness(
      #"""
      {"cwd": "web", "steps": [
        {"id": "a", "http": {"url": "http://h/", "bodyFile": "dist/${{ 'a.txt' }}"}},
        {"id": "b", "cwd": "/abs", "http": {"url": "http://h/", "multipart": {
          "f": {"file": "p.png", "contentType": "image/png"}, "t": "text"}}}]}
      """#, ScriptedTransport([.head(200, [:], "")]), directory: "/start")
    _ = try await harness.end()
    let requests = harness.transport.requests
    #expect(requests[0].bodyText == "</start/web/dist/a.txt>")
    #expect(requests[1].bodyText.contains("</abs/p.png>"))
    #expect(requests[1].bodyText.contains(#"name="f"; filename="p.png""#))
  }

  @Test(arguments: [
    "dist/${{ '../../etc/passwd' }}", "${{ '/etc/passwd' }}", "${{ '../x' }}", "a/${{ '..' }}",
    "a/${{ 'b/../..' }}/c",
  ])
  func aValueDoesNotLeadOutOfTheDirectoryThatIsWritten(path: String) async throws {
    for key in ["saveTo", "bodyFile"] {
      let reported = try await Self.failure(#"{"url": "http://h/", "\#(key)": "\#(path)"}"#)
      #expect(reported.contains("leads out of the literal directory"), "\(reported)")
    }
  }

  @Test func theKeyOfARequestIsTheSameForAllItsAttempts() async throws {
    let harness = try RequestHarness(
      #"""
      {"steps": [{"id": "a", "http": {"method": "POST", "url": "http://h/", "idempotencyKey": true},
                  "retry": {"max": 1, "delay": "0s"}},
                 {"id": "b", "http": {"method": "POST", "url": "http://h/", "idempotencyKey": true}}]}
      """#, ScriptedTransport([.head(503, [:], ""), .head(200, [:], "")]))
    _ = await harness.endedInTime()
    let keys = harness.transport.requests.map { $0.value(of: "Idempotency-Key") }
    #expect(keys.count == 3)
    #expect(keys[0] == keys[1] && keys[0] != keys[2] && keys[0]?.utf8.count == 64)
  }
}
