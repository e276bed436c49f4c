package import WeftDiagnostics
public import WeftJSON

/// One HTTP request of a step, and the treatment of its response.
///
/// Texts may contain expressions. Literal texts are checked during planning, computed ones when the step starts.
public struct HTTPCall: Sendable, Hashable {
  /// The method as sent: `GET`.
  public var method: String
  public var url: String
  /// Parameters that are added to the URL's query, in order. A name may occur twice.
  public var query: [Field] = []
  /// Header fields, in order. A name may occur twice.
  public var headers: [Field] = []
  public var body = Body.none
  public var auth: Auth?
  public var timeouts = Timeouts()
  /// The most redirects to follow.
  @Computable public var redirects = WorkflowLimits.defaultRedirects
  /// Whether a redirect may lead from https to http.
  public var allowsDowngrade = false
  public var expectation = Expectation()
  /// The file for the body, relative to the step's directory.
  public var saveTo: String?
  /// The largest body; `nil` for 64 MiB, or for no limit if the body is saved.
  @Computable public var maxBytes: ByteCount? = nil
  /// `http://host:port` or similar, or `env` for the proxy that the environment names; `nil` for none.
  public var proxy: String?
  public var tls = TLS()
  public var polling: Polling?
  public var paging: Paging?
  public var responseForm = ResponseForm.auto
  public var idempotencyKey: IdempotencyKey?
  /// The cache that keeps responses for later requests; `nil` for none.
  public var cache: Cache?
  /// The condition for using a cached response when the server fails; `nil` for never.
  public var staleOnError: StaleOnError?

  /// Creates a request with default settings.
  ///
  /// - Parameter method: `nil` for `POST` if there is a body, else `GET`.
  public init(_ url: String, method: String? = nil, body: Body = .none) {
    self.url = url
    self.body = body
    self.method = method ?? (body == .none ? "GET" : "POST")
  }

  /// A name and a value.
  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The content to send.
  public enum Body: Sendable, Hashable {
    case none
    /// Strings in it may contain expressions; one that is exactly an expression becomes its value.
    case json(JSONValue)
    case text(String)
    case form([Field])
    case multipart([Part])
    /// A file, relative to the step's directory.
    case file(String)
  }

  /// A field of a multipart form.
  public struct Part: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
      case text(String)
      /// A file, relative to the step's directory.
      case file(String)
    }

    public var name: String
    public var content: Content
    /// The name under which the server may store it; `nil` for that of the file.
    public var fileName: String?
    public var contentType: String?

    public init(
      _ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil
    ) {
      self.name = name
      self.content = content
      self.fileName = fileName
      self.contentType = contentType
    }
  }

  public enum Auth: Sendable, Hashable {
    case bearer(String)
    case basic(user: String, password: String)
  }

  /// Timeouts of one request, redirects included; `nil` if it has none of its own.
  public struct Timeouts: Sendable, Hashable {
    @Computable public var connect: Duration?
    @Computable public var idle: Duration?
    @Computable public var total: Duration?

    public init(
      connect: Duration? = nil, idle: Duration? = nil,
      total: Duration? = WorkflowLimits.requestTimeout
    ) {
      self.connect = connect
      self.idle = idle
      self.total = total
    }
  }

  /// The responses that are accepted.
  public struct Expectation: Sendable, Hashable {
    /// Status codes and classes, such as `200` and `2xx`.
    public var statuses: [String]
    /// Evaluated with the response as `self`.
    public var condition: Condition?

    public init(statuses: [String] = ["2xx"], condition: Condition? = nil) {
      self.statuses = statuses
      self.condition = condition
    }
  }

  /// PEM files, relative to the step's directory.
  public struct TLS: Sendable, Hashable {
    /// Authorities to trust instead of the system's.
    public var authorities: String?
    public var certificate: String?
    public var key: String?

    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
      self.authorities = authorities
      self.certificate = certificate
      self.key = key
    }
  }

  /// Repeats a request until the response is the expected one.
  public struct Polling: Sendable, Hashable {
    /// Evaluated with the response as `self`.
    public var until: Condition
    /// The delay from a response to the next request.
    @Computable public var every: Duration
    /// The total number of requests.
    @Computable public var max: Int

    public init(until: Condition, every: Duration = .seconds(5), max: Int = 100) {
      self.until = until
      self.every = every
      self.max = max
    }
  }

  /// Pagination: follows the pages of a response.
  public struct Paging: Sendable, Hashable {
    public enum Next: Sendable, Hashable {
      /// The URL that the response's `Link` header names as `next`.
      case link
      /// A URL, absolute or relative to that of the response; `null`, `false` or empty after the last page.
      case computed(Condition)
    }

    public var next: Next
    /// The most pages to request.
    @Computable public var max: Int
    /// The part of each page to keep: an array, and all are concatenated; `nil` for the JSON of the page.
    public var collect: Condition?
    /// Origins besides that of the URL that may get a request with a body, or one that may change something.
    public var origins: [String]

    public init(
      next: Next = .link, max: Int = 100, collect: Condition? = nil, origins: [String] = []
    ) {
      self.next = next
      self.max = max
      self.collect = collect
      self.origins = origins
    }
  }

  /// The interpretation of a response's body.
  public enum ResponseForm: String, Sendable, Hashable, CaseIterable {
    /// As the response declares it.
    case auto
    /// JSON, whatever the response declares; the step fails if it is not.
    case json
    /// Text, whatever the response declares; the step fails if it is not.
    case text
  }

  /// A private cache as in RFC 9111.
  public enum Cache: Sendable, Hashable {
    /// Lasts as long as the run.
    case ofRun
    /// Is kept in a folder, relative to the step's directory, and shared with later runs.
    case folder(String)
  }

  public enum StaleOnError: Sendable, Hashable {
    /// However old the response is.
    case always
    /// Up to this long after the end of its lifetime.
    case upTo(Duration)
  }

  /// A key that makes it safe to send a request again.
  public enum IdempotencyKey: Sendable, Hashable {
    /// A key unique to this step of this run, and shared by all its attempts.
    case derived
    case text(String)
  }
}

extension HTTPCall: ActionModel {
  static let rules = ActionRules(
    "http", "sends an HTTP request", result: .answer,
    // The paths of its files are relative to the directory.
    settings: ["cwd"],
    remedies: [
      "with": "put it in \"query\", \"headers\" or the body",
      "cache": "to cache responses, put \"cache\" inside \"http\"",
      "env": "put it in the request; its values can contain expressions",
      "stdin": "set the request body with \"json\", \"body\", \"form\" or \"bodyFile\"",
      "successCodes": "set the accepted statuses with \"expect\"",
      "stallTimeout": "write \"timeout\": { \"idle\": … } inside \"http\"",
    ])

  package func check(_ values: inout BuiltValues) {
    if url.isEmpty { values.note("http.url", .empty(path: "http.url", wanted: "a URL")) }
    values.checkKeys(of: timeouts, in: "http.timeout")
    values.checkNumber("http.redirects", redirects, in: ValueRule.redirects)
    for (index, status) in expectation.statuses.enumerated()
    where !HTTPCall.isStatus(status) {
      let key = "http.expect.status[\(index)]"
      values.note(
        key,
        .unknownWord(
          path: key, word: status, wanted: "a status such as 200, or \"2xx\"", nearest: nil,
          help: nil))
    }
    if let polling { values.checkKeys(of: polling, in: "http.poll") }
    if let paging { values.checkKeys(of: paging, in: "http.pages") }
    if case .upTo(let time)? = staleOnError { values.checkTime("http.staleOnError", time) }
  }

  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    visitRequestTexts { visit(.http($0), $1, nil) }
    visitConditions { visit(.http($0), $1.text, $1.place.value) }
    for (index, origin) in (paging?.origins ?? []).enumerated() {
      visit(.http(.origin(index)), origin, nil)
    }
  }

  /// Whether the method guarantees that repeating it has no further effect (RFC 9110, 9.2.2), or there is a key by which
  /// the server recognizes a repetition.
  package var repetition: Repetition {
    let isIdempotent = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
    return idempotencyKey != nil || isIdempotent ? .harmless : .harmful
  }

  package var keepsResults: Bool {
    if case .folder = cache { true } else { false }
  }

  package func obstacle(toReading field: StepField) -> ResultObstacle? {
    saveTo != nil && (field == .body || field == .json) ? .savesBody : nil
  }

  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    "\(method) \(shownURL)"
  }

  package var remarks: [String] {
    [
      names("query", query), names("headers", headers),
      body.kind.map { "sends \($0)" }, authRemark,
      saveTo.map { "saves to \($0)" }, cacheRemark,
      shownProxy.map { "through the proxy \($0)" },
      polling.map {
        "polls every \(DurationText.text(of: $0.every)) until \($0.until.bareText)"
      },
      pagingRemark,
      expectation.statuses == ["2xx"]
        ? nil : "expects \(expectation.statuses.joined(separator: ", "))",
    ].compactMap(\.self)
  }

  private func names(_ what: String, _ fields: [HTTPCall.Field]) -> String? {
    fields.isEmpty ? nil : "\(what) \(fields.map(\.name).joined(separator: ", "))"
  }

  private var cacheRemark: String? {
    switch cache {
    case .ofRun: "caches the response for the run"
    case .folder(let path): "caches the response in \(path)"
    case nil: nil
    }
  }

  private var authRemark: String? {
    switch auth {
    case .bearer: "with a token"
    case .basic: "with a password"
    case nil: nil
    }
  }

  private var pagingRemark: String? {
    switch paging?.next {
    case .link: "follows pages by Link"
    case .computed(let next): "follows pages by \(next.bareText)"
    case nil: nil
    }
  }

  package func write(to writer: inout JSONWriter) {
    writer.object("http") {
      $0.member("method", method)
      $0.member("url", shownURL)
      $0.list("query", query.map(\.name))
      $0.list("headers", headers.map(\.name))
      $0.member("body", body.kind)
      $0.member("saveTo", saveTo)
      $0.member("proxy", shownProxy)
    }
  }
}

extension HTTPCall {
  /// The URL as written, but without a user and password.
  package var shownURL: String { Self.withoutCredentials(url) }

  /// The proxy as written, but without a user and password; `nil` if there is none.
  package var shownProxy: String? {
    proxy.map { $0 == "env" ? "of the environment" : Self.withoutCredentials($0) }
  }

  private static func withoutCredentials(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let start = url.firstRange(ofUTF8: "://") else { return url }
    let rest = bytes[start...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    guard let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) else { return url }
    return String(decoding: bytes[..<start] + Array("***".utf8) + bytes[at...], as: UTF8.self)
  }
}

extension HTTPCall.Body {
  /// The kind of body in one word; `nil` if there is none.
  fileprivate var kind: String? {
    switch self {
    case .none: nil
    case .json: "json"
    case .text: "text"
    case .form: "form"
    case .multipart: "multipart"
    case .file(let path): "the file \(path)"
    }
  }
}

extension String {
  /// The offset after the first occurrence of an ASCII text.
  fileprivate func firstRange(ofUTF8 text: String) -> Int? {
    let (bytes, wanted) = (Array(utf8), Array(text.utf8))
    guard bytes.count >= wanted.count else { return nil }
    return (0...(bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }
      .map { $0 + wanted.count }
  }
}

extension FormatKey<StepDraft> {
  static var http: FormatKey {
    action(
      .http, "HTTP request", "One HTTP request, and the treatment of its response.",
      schema: #"""
        {"$ref": "http", "examples": [{"url": "https://example.org/"}, {"method": "PUT",
        "url": "https://registry.example/app", "bodyFile": "dist/app",
        "auth": {"bearer": "${{ secrets.TOKEN }}"}}]}
        """#,
      synonyms: "request fetch curl url web rest"
    ) { pass, node, field in pass.httpCall(node, field).map(StepAction.http) }
  }
}

extension Step {
  /// A step that sends an HTTP request.
  public init(
    _ id: StepID = .unnamed, http call: HTTPCall, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .http(call), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }
}
