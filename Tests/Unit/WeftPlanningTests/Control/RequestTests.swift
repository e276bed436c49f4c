import Testing
import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftTestKit

@testable import WeftPlanning

/// Diagnostics about requests before anything is sent.
@Suite struct RequestTests {
  private static func found(_ json: String) throws -> [String] {
    let workflow = try WorkflowFiles(["main.json": json]).workflow("main.json")
    let (plan, diagnostics) = Planner.plan(workflow)
    #expect((plan == nil) == diagnostics.contains(where: \.isError))
    return diagnostics.map { diagnostic in
      let column = diagnostic.place.map { place in
        "\(place.file.position(of: Int(place.range.start)).column) "
      }
      return "\(column ?? "")\(diagnostic.code) \(diagnostic.message)"
        + (diagnostic.help.map { "; \($0)" } ?? "")
    }
  }

  private static func found(request: String, rest: String = "") throws -> [String] {
    try found(
      #"{"secrets": {"T": {"env": "T"}}, "inputs": {"i": {"type": "string", "default": "x"}}, "steps": [{"id": "a", "http": \#(request)}\#(rest)]}"#
    ).map { String($0.drop { $0.isNumber }.drop { $0 == " " }) }
  }

  static let requests: [(request: String, reported: String)] = [
    (
      #"{"url": "example.org"}"#,
      "W0426 http.url: the URL does not begin with http:// or https://"
    ),
    (
      #"{"url": "ftp://h/"}"#,
      "W0426 http.url: the URL has the scheme \"ftp\", expected http or https"
    ),
    (
      #"{"url": "http://h:99999/"}"#,
      "W0426 http.url: \"99999\" is not a port, expected a number from 1 to 65535"
    ),
    (
      #"{"url": "http://bücher.example/"}"#,
      "W0426 http.url: \"bücher.example\" is not a valid host name; write an international name in "
        + "its ASCII form, which begins with \"xn--\""
    ),
    (
      #"{"url": "http://u:p@h/"}"#,
      "W0514 http.url contains a user or a password, which anyone who reads the file can see; "
        + "write \"auth\": { \"basic\": { \"user\": …, \"password\": \"${{ secrets.… }}\" } }"
    ),
    (
      #"{"url": "http://u:p@ss@h/"}"#,
      "W0426 http.url: the text before the last \"@\" of the URL's host is not a valid user and "
        + "password; percent-encode its characters: \"@\" is written %40"
    ),
    (
      #"{"url": "http://h/", "proxy": "socks5h://u:p@proxy:1080"}"#,
      "W0514 http.proxy contains a user or a password, which anyone who reads the file can see; "
        + "write \"http://${{ secrets.… }}:${{ secrets.… }}@…\""
    ),
    (
      #"{"method": "GE T", "url": "http://h/"}"#,
      "W0426 http.method: \"GE T\" is not a valid method"
    ),
    (
      #"{"method": "CONNECT", "url": "http://h/"}"#,
      "W0426 http.method: \"CONNECT\" is not a valid method"
    ),
    (
      #"{"method": "HEAD", "url": "http://h/", "body": "x"}"#,
      "W0426 http.method: a HEAD request has no body"
    ),
    (
      #"{"url": "http://h/", "headers": {"X Y": "z"}}"#,
      "W0426 http.headers.X Y: \"X Y\" is not a valid header name"
    ),
    (
      #"{"url": "http://h/", "headers": {"X": "a\r\nb"}}"#,
      "W0426 http.headers.X: the value of header \"X\" has a line break or another control character"
    ),
    (
      #"{"url": "http://h/", "headers": {"content-length": "${{ inputs.i }}"}}"#,
      "W0426 http.headers.content-length: header \"content-length\" cannot be set: it is "
        + "derived from the request"
    ),
    (
      #"{"url": "http://h/", "proxy": "none"}"#,
      "W0426 http.proxy: \"none\" is not a proxy, expected a URL with http, https, socks4, "
        + "socks4a, socks5 or socks5h"
    ),
    (
      #"{"url": "ht${{ inputs.i }}://h/"}"#,
      "W0301 http.url: the scheme of the URL contains an expression; write \"https://\" literally, "
        + "or let the expression produce the whole base URL"
    ),
    (
      #"{"url": "${{ inputs.i }}.example/"}"#,
      "W0301 http.url: the text after the first expression would extend the host of the URL; write "
        + "a slash after it: \"${{ inputs.server }}/path\""
    ),
    (
      #"{"url": "http://u:${{ secrets.T }}@h/"}"#,
      "W0301 http.url: the URL has an expression for a user or a password; write \"auth\": { "
        + "\"basic\": { \"user\": …, \"password\": … } }"
    ),
    (
      #"{"url": "http://h/", "saveTo": "${{ secrets.T }}"}"#,
      "W0318 a secret cannot be used in http.saveTo; in a request, use secrets in \"url\", "
        + "\"query\", \"headers\", \"auth\" and the body"
    ),
    (
      #"{"url": "http://h/${{ self.status }}"}"#,
      "W0317 \"self\" cannot be used in http.url; \"self\" is a step's own result; it is available "
        + "in \"outputs\", in \"when\" of \"retry\" and in the checks of a response"
    ),
    (
      #"{"url": "http://h/", "query": {"a": "${{ fromJSON('{}') }} "}}"#,
      "W0308 \"fromJSON('{}')\" is an object, which cannot be inserted into text; write ${{ "
        + "toJSON(fromJSON('{}')) }} for its JSON text"
    ),
    (
      #"{"url": "http://h/", "timeout": "${{ 5 }}"}"#,
      "W0321 http.timeout.total is given a number, expected a duration like \"30s\"; add the unit: "
        + "\"${{ format('{0}s', 5) }}\""
    ),
    (
      #"{"url": "http://h/", "pages": {"next": "link", "collect": "self.status"}}"#,
      "W0321 http.pages.collect is given a number or null, expected an array"
    ),
    (
      #"{"url": "http://h/", "pages": {"next": "link", "origins": ["http://other/x"]}}"#,
      "W0426 http.pages.origins[0]: it is not an origin, expected https://host or https://host:port"
    ),
    (
      #"{"url": "http://h/", "pages": {"next": "link", "origins": ["http://o", "ftp://o"]}}"#,
      "W0426 http.pages.origins[1]: the URL has the scheme \"ftp\", expected http or https"
    ),
    (
      #"{"url": "http://h/", "poll": {"until": "'yes'"}}"#,
      "W0511 \"http.poll.until\" is always true, because a non-empty string counts as true; "
        + "compare it with the expected value, or write true"
    ),
  ]

  @Test("H17 H23 H30 H39: what cannot be sent is told before anything is", arguments: requests)
  func unsendableRequestIsReported(request: String, reported: String) throws {
    #expect(try Self.found(request: request) == [reported])
  }

  @Test func aProblemStandsAtItsText() throws {
    let found = try Self.found(
      #"{"steps": [{"http": {"url": "http://h/", "headers": {"X": "\n"}}}]}"#)
    #expect(found.map { $0.split(separator: " ").prefix(2) } == [["59", "W0426"]])
  }

  @Test func requestsThatWereBuiltInSwiftAreLookedAtToo() {
    #expect(
      problems(of: Workflow(steps: [Step(http: HTTPCall("nowhere"))])) == [
        "W0426 http.url: the URL does not begin with http:// or https://"
      ])
  }

  @Test func responseHasItsFields() throws {
    let found = try Self.found(
      request: #"{"url": "http://h/"}"#,
      rest: #"""
        , {"run": ["echo", "${{ steps.a.status }}", "${{ steps.a.headers['content-type'] }}"]},
        {"run": ["echo", "${{ steps.a.body }}", "${{ steps.a.json.x }}", "${{ steps.a.stale }}"]},
        {"id": "b", "forEach": {"in": [1]}, "http": {"url": "http://h/${{ item }}"}},
        {"run": ["echo", "${{ steps.b.results[0].json.x }}", "${{ toJSON(steps.b.results.*.status) }}"]}
        """#)
    #expect(found == [])
  }

  @Test func headersAreNamedInSmallLetters() throws {
    let found = try Self.found(
      request: #"{"url": "http://h/"}"#,
      rest: #", {"run": ["echo", "${{ steps.a.headers['Content-Type'] }}"]}"#)
    #expect(
      found == [
        "W0312 header \"Content-Type\" is never found: header names are in lower case; write "
          + "headers['content-type']"
      ])
  }

  @Test(arguments: ["stdout", "stderr", "exitCode", "signal"])
  func responseHasNoProgramFields(field: String) throws {
    let found = try Self.found(
      request: #"{"url": "http://h/"}"#,
      rest: #", {"run": ["echo", "${{ steps.a.\#(field) }}"]}"#)
    #expect(found.count == 1)
    #expect(
      found[0].contains("the result of a step that sends a request has no"), "\(found)")
  }

  @Test(arguments: ["body", "json"])
  func savedBodyCannotBeRead(field: String) throws {
    let found = try Self.found(
      request: #"{"url": "http://h/", "saveTo": "f"}"#,
      rest: #", {"run": ["echo", "${{ steps.a.\#(field) }}"]}"#)
    #expect(
      found == [
        "W0320 step \"a\" saves the response body to a file, so it has no \(field); remove "
          + "\"saveTo\" from \"a\", or read the file in another step"
      ])
  }

  @Test func requestWaitsForItsReferences() throws {
    let workflow = try WorkflowFiles([
      "main.json": """
      {"parallel": [{"id": "b", "http": {"url": "http://h/", "json": {"a": ["${{ steps.a.stdout }}"]}}},
                    {"id": "a", "run": "a"}]}
      """
    ]).workflow("main.json")
    #expect(try planned(workflow).waits == ["b: a", "a:"])
  }

  @Test(
    "H30 H31: what is printed of a request says where it goes, and no password",
    arguments: [
      (
        PlanFormat.tree,
        "PUT http://***@h/x  # query q; headers X-A; sends json; with a token; through the proxy of th"
      ),
      (
        .json,
        #""http":{"method":"PUT","url":"http://***@h/x","query":["q"],"headers":["X-A"],"body":"json","proxy":"of the environment"}"#
      ),
    ])
  func isPrinted(format: PlanFormat, text: String) throws {
    var call = HTTPCall("http://user:password@h/x", method: "PUT", body: .json(["a": 1]))
    call.query = [HTTPCall.Field("q", "value")]
    call.headers = [HTTPCall.Field("X-A", "value")]
    call.auth = .bearer("token")
    call.proxy = "env"
    let printed = String(
      decoding: try planned(Workflow(steps: [Step("a", http: call)])).rendered(as: format),
      as: UTF8.self)
    #expect(printed.contains(text), "\(printed)")
    #expect(!printed.contains("password@") && !printed.contains("value"))
  }
}
