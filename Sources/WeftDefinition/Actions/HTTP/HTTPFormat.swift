import WeftDiagnostics
import WeftJSON

/// A request while its keys are read. Further rules for its texts are checked during planning, as for a workflow built
/// in Swift.
struct HTTPDraft: FormatObject {
  var call = HTTPCall("")
  var method: String?
  /// The keys in the order of the file.
  private var keys: [(name: String, node: JSONNode)] = []
  /// The first key that gives a body.
  private var body: (name: String, node: JSONNode)?

  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["json"]}, {"required": ["body"]}, {"required": ["form"]},
    {"required": ["multipart"]}, {"required": ["bodyFile"]},
    {"properties": {"json": false, "body": false, "form": false, "multipart": false,
    "bodyFile": false}}], "allOf": [{"if": {"required": ["saveTo"]},
    "then": {"properties": {"poll": false, "pages": false, "response": false}}},
    {"if": {"properties": {"staleOnError": {"not": {"const": false}}},
    "required": ["staleOnError"]},
    "then": {"properties": {"cache": {"not": {"const": false}}},
    "required": ["cache"]}}]}
    """#

  static let format = ObjectFormat<HTTPDraft>("\"http\"") {
    FormatKey(
      "method", .requestText("a method like GET", at: .method), "Method",
      "The method, as sent. Default: POST with a body, else GET.",
      schema: #"{"examples": ["GET", "PUT"]}"#, at: \.method)
    FormatKey(
      "url", .requestText("a URL with http:// or https://", at: .url), "URL",
      "A URL with http:// or https://. Values in it are escaped for their position.",
      schema: #"{"examples": ["https://api.example.org/v1/items/${{ item }}"]}"#,
      synonyms: "uri endpoint href address", required: "{ \"url\": \"https://example.org/\" }"
    ) { $0.call.url = $1 }
    FormatKey(
      "query", .requestFields(of: "parameter", HTTPSite.query), "Names and values",
      """
      Values can contain expressions. A value that is exactly one expression, and \
      evaluates to null, is omitted; an array gives one name several values.
      """, schema: #""@requestFields""#,
      synonyms: "params parameters qs searchParams queryParams", at: \.call.query)
    FormatKey(
      "headers", .requestFields(of: "header", HTTPSite.header), "Names and values",
      """
      Values can contain expressions. A value that is exactly one expression, and \
      evaluates to null, is omitted; an array gives one name several values.
      """, schema: #""@requestFields""#,
      synonyms: "header", at: \.call.headers)
    FormatKey(
      "json", ValueFormat { $0.jsonBody($1, $2) }, "JSON body",
      "Any value. A string that is exactly one expression is replaced by its value.",
      synonyms: "data payload content", traits: .body, at: \.call.body)
    FormatKey("body", .requestText(at: .body), "Text body", traits: .body) {
      $0.call.body = .text($1)
    }
    FormatKey(
      "form", .requestFields(of: "field", HTTPSite.field), "Names and values",
      """
      Values can contain expressions. A value that is exactly one expression, and \
      evaluates to null, is omitted; an array gives one name several values.
      """, schema: #""@requestFields""#,
      synonyms: "formData urlencoded fields", traits: .body
    ) { $0.call.body = .form($1) }
    FormatKey(
      "multipart", ValueFormat { $0.parts($1, $2) }, "Multipart form", "Fields and files.",
      schema: #"""
        {"type": "object", "propertyNames": "@requestName",
        "additionalProperties": {"anyOf": ["@requestPart", {"type": "array",
        "items": "@requestPart"}]}, "examples": [{"title": "Cat",
        "photo": {"file": "cat.png", "contentType": "image/png"}}]}
        """#, traits: .body
    ) { $0.call.body = .multipart($1) }
    FormatKey(
      "bodyFile", .requestText("the path of a file", at: .bodyFile), "Body from a file",
      "The path of the file to send, relative to the step's directory.",
      schema: #"{"examples": ["dist/app.tar.gz"]}"#,
      synonyms: "file upload uploadFile dataBinary", traits: .body
    ) { $0.call.body = .file($1) }
    FormatKey(
      "auth", ValueFormat { $0.requestAuth($1, $2) }, "Credentials",
      "Sent in the Authorization header, only to this origin.",
      schema: #"{"$ref": "auth", "examples": [{"bearer": "${{ secrets.TOKEN }}"}]}"#,
      synonyms: "authorization authentication credentials", at: \.call.auth)
    FormatKey(
      "timeout", ValueFormat { $0.requestTimeouts($1, $2) }, "Request time limit",
      """
      The time limit of one request and its response, redirects included. Default: 2m. The \
      step's own timeout covers all requests together.
      """,
      schema: #"""
        {"anyOf": ["@duration", "@expression", "@requestTimeouts"], "default": "2m",
        "examples": ["30s", {"connect": "5s", "idle": "30s", "total": "10m"}]}
        """#, at: \.call.timeouts)
    FormatKey(
      "redirects", "Redirects",
      """
      The maximum number of redirects that are followed; 0: a redirect is a response like \
      any other.
      """,
      schema: #"""
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 50}, "@expression",
        "@redirects"], "default": 10}
        """#,
      synonyms: "followRedirects maxRedirects follow"
    ) { pass, member, field, draft in pass.takeRedirects(member.value, field, into: &draft.call) }
    FormatKey(
      "expect",
      .object(
        "expect", "an object with \"status\" or \"when\"", from: HTTPCall.Expectation()
      ) { $0.kind == .number ? "write { \"status\": \($0.sourceText) }" : nil },
      "Expected responses",
      schema: #"""
        {"examples": [{"status": [200, 404]}, {"when": "self.json.ok"}]}
        """#,
      synonyms: "status statusCode success_codes assert validStatus", at: \.call.expectation)
    FormatKey(
      "saveTo", .requestText("the path of a file", at: .saveTo), "File to save to",
      "The file that receives the complete body, relative to the step's directory.",
      schema: #"{"examples": ["dist/tool.tar.gz"]}"#,
      synonyms: "output outputFile download dest destination target", at: \.call.saveTo)
    FormatKey(
      "maxBytes", .size(as: .maxBytes), "Body limit",
      """
      The maximum size of the decompressed body. Default: 64MiB, and no limit for a saved \
      one.
      """,
      synonyms: "maxSize limit maxBodySize", at: \.call.$maxBytes)
    FormatKey(
      "proxy", .requestText("the URL of a proxy, or \"env\"", at: .proxy), "Proxy",
      """
      The URL of a proxy, or env for the variables http_proxy and similar ones. Default: \
      none.
      """, schema: #"{"examples": ["env", "http://proxy.example:3128"]}"#, at: \.call.proxy)
    FormatKey(
      "tls",
      .object(
        "tls", "an object with \"caFile\", \"certFile\" or \"keyFile\"", from: HTTPCall.TLS()
      ) { $0.kind == .bool ? "servers' certificates are always verified" : nil }, "PEM files",
      synonyms: "ssl verify cert", at: \.call.tls)
    FormatKey(
      "poll",
      .object("poll", "an object with \"until\"", from: HTTPCall.Polling(until: "")) { _ in
        "write { \"until\": \"self.json.state == 'done'\", \"every\": \"5s\" }"
      },
      "Polling",
      schema: #"""
        {"examples": [{"until": "self.json.state == 'done'",
        "every": "10s"}]}
        """#, traits: .readsBody, at: \.call.polling)
    FormatKey(
      "pages",
      .object("pages", "an object with \"next\"", from: HTTPCall.Paging()) { _ in
        "write { \"next\": \"link\" }"
      }, "Pages",
      schema: #"""
        {"examples": [{"next": "link"}, {"next": "self.json.next",
        "collect": "self.json.items"}]}
        """#,
      synonyms: "pagination paginate", traits: .readsBody, at: \.call.paging)
    FormatKey(
      "response", .word(of: HTTPCall.ResponseForm.self), "Body format",
      "auto: as the response declares.", schema: #"{"default": "auto"}"#,
      synonyms: "responseType responseFormat parse", traits: .readsBody, at: \.call.responseForm)
    FormatKey(
      "idempotencyKey", ValueFormat { $0.idempotencyKey($1, $2) }, "Idempotency key",
      """
      Sent as Idempotency-Key, so that a request which may have been processed can be sent \
      again: true for a key of this run and step, or a text.
      """, schema: #"{"type": ["boolean", "string"], "minLength": 1}"#,
      synonyms: "idempotent requestId", at: \.call.idempotencyKey)
    FormatKey(
      "cache", ValueFormat { $0.answerCache($1, $2) }, "Cache",
      """
      Responses are stored for later requests as far as the server allows it (RFC 9111): \
      true for this run, or the path of a folder, relative to the step's directory, for \
      later runs too.
      """,
      schema: #"""
        {"type": ["boolean", "string"], "minLength": 1, "default": false, "examples": [true,
        ".cache/http"]}
        """#,
      synonyms: "memoize memo incremental upToDate", at: \.call.cache)
    FormatKey(
      "staleOnError", ValueFormat { $0.staleOnError($1, $2) }, "Stale responses",
      """
      Whether a stored response is used if the server is unreachable or fails: at any age, \
      or up to this long after its lifetime.
      """, schema: #"{"anyOf": [{"type": "boolean"}, "@duration"], "default": false}"#
    ) { $0.call.staleOnError = $1 }
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    let name = key.name.description
    keys.append((name, node))
    guard key.traits.contains(.body) else { return true }
    if let body {
      pass.report(
        .severalBodies(body.name, name), at: node, related: ("\"\(body.name)\" is here", body.node))
      return false
    }
    body = (name, node)
    return true
  }

  /// The request, with the default method for its body unless one is given.
  fileprivate var finished: HTTPCall {
    var call = call
    call.method = method ?? (body == nil ? "GET" : "POST")
    return call
  }

  /// Reports `staleOnError` without a cache, and keys that would read a body that `saveTo` saves unread.
  fileprivate func checkTogether(_ pass: inout DecodingPass) {
    func first(_ name: String) -> JSONNode? { keys.first { $0.name == name }?.node }
    if call.staleOnError != nil, call.cache == nil, let stale = first("staleOnError") {
      pass.report(.staleWithoutCache, at: stale)
    }
    guard let saved = first("saveTo") else { return }
    for (name, node) in keys
    where HTTPDraft.format.rule(named: name)?.traits.contains(.readsBody) == true {
      pass.report(
        .besideSaveTo(name), at: node, related: ("\"saveTo\" is here", saved))
    }
  }
}

extension KeyTraits {
  /// Gives a request its body; only one key may.
  fileprivate static let body = KeyTraits(rawValue: 64)
  /// Reads the body of a response, which therefore cannot be saved unread.
  fileprivate static let readsBody = KeyTraits(rawValue: 128)
}

extension DecodingPass {
  mutating func httpCall(_ node: JSONNode, _ field: Field) -> HTTPCall? {
    let draft = object(
      node, field, from: HTTPDraft(), wanted: "an object with \"url\"",
      help: "write { \"url\": \(node.stringValue.map(quoted) ?? "\"https://example.org/\"") }")
    guard let draft else { return nil }
    draft.checkTogether(&self)
    // A missing URL was reported, or the key that is its misspelling.
    return draft.call.url.isEmpty ? nil : draft.finished
  }

  fileprivate mutating func answerCache(_ node: JSONNode, _ field: Field) -> HTTPCall.Cache? {
    if node.kind == .bool { return node.boolValue == true ? .ofRun : nil }
    return requestText(node, field, .cacheFolder, wanted: "true, or the path of a folder")
      .map(HTTPCall.Cache.folder)
  }

  fileprivate mutating func staleOnError(
    _ node: JSONNode, _ field: Field
  ) -> HTTPCall.StaleOnError? {
    if node.kind == .bool { return node.boolValue == true ? .always : nil }
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "true, or a duration like \"1h\"",
        help: "true accepts a cached response of any age")
      return nil
    }
    return duration(node, field).map(HTTPCall.StaleOnError.upTo)
  }

  fileprivate mutating func idempotencyKey(
    _ node: JSONNode, _ field: Field
  ) -> HTTPCall.IdempotencyKey? {
    if node.kind == .bool { return node.boolValue == true ? .derived : nil }
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "true or a string",
        help: "true derives the key "
          + "from the run and the step")
      return nil
    }
    return requestText(node, field, .idempotencyKey, wanted: "the key of this request")
      .map(HTTPCall.IdempotencyKey.text)
  }
}

// MARK: Authentication

struct AuthDraft: FormatObject {
  var auth: HTTPCall.Auth?
  var first: JSONNode?

  static let schema: StaticString =
    #"{"oneOf": [{"required": ["bearer"]}, {"required": ["basic"]}]}"#

  static let format = ObjectFormat<AuthDraft>("\"auth\"") {
    FormatKey(
      "bearer", .requestText("a token", at: .bearer), "Token",
      "Sent as a bearer token.", schema: #"{"examples": ["${{ secrets.TOKEN }}"]}"#,
      synonyms: "token oauth2"
    ) { $0.auth = .bearer($1) }
    FormatKey(
      "basic", ValueFormat { $0.basicAuth($1, $2) }, "User and password", schema: #""@basicAuth""#
    ) { $0.auth = $1 }
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    if let first, !first.isString(equalTo: key.name.description) {
      pass.report(.severalAuths, at: node, related: ("the first is here", first))
      return false
    }
    first = node
    return true
  }
}

struct BasicAuthDraft: FormatObject {
  var user: String?
  var password: String?

  static let reportsAllMissingKeys = true

  static let example: StaticString =
    "{ \"user\": \"…\", \"password\": \"${{ secrets.PASSWORD }}\" }"

  static let format = ObjectFormat<BasicAuthDraft>("\"basic\"") {
    FormatKey(
      "user", .requestText("the name of a user", at: .user), "User", "Without a colon.",
      synonyms: "username login name", required: example, at: \.user)
    FormatKey(
      "password", .requestText(at: .password), "Password",
      synonyms: "pass secret", required: example, at: \.password)
  }
}

extension DecodingPass {
  fileprivate mutating func requestAuth(_ node: JSONNode, _ field: Field) -> HTTPCall.Auth? {
    let example: StaticString = "{ \"bearer\": \"${{ secrets.TOKEN }}\" }"
    let draft = object(
      node, field, from: AuthDraft(), wanted: "{ \"bearer\": … } or { \"basic\": … }",
      help: "write \(example)")
    if draft != nil, node.members.isEmpty {
      report(.missingKey(path: path(field), key: "bearer", example: example), at: node)
    }
    return draft?.auth
  }

  fileprivate mutating func basicAuth(_ node: JSONNode, _ field: Field) -> HTTPCall.Auth? {
    let draft = object(
      node, field, from: BasicAuthDraft(), wanted: "an object with \"user\" and \"password\"")
    guard let user = draft?.user, let password = draft?.password else { return nil }
    return .basic(user: user, password: password)
  }
}

// MARK: Limits

extension HTTPCall.Timeouts: FormatObject {
  static let format = ObjectFormat<HTTPCall.Timeouts>("\"timeout\" of \"http\"") {
    FormatKey(
      "connect", .requestTime(as: .connectTimeout), "Limit", at: \.$connect)
    FormatKey(
      "idle", .requestTime(as: .idleTimeout), "Limit", at: \.$idle)
    FormatKey(
      "total", .requestTime(as: .totalTimeout), "Limit", synonyms: "max timeout all",
      at: \.$total)
  }
}

struct RedirectsDraft: FormatObject {
  var call: HTTPCall

  static let format = ObjectFormat<RedirectsDraft>("\"redirects\"") {
    FormatKey(
      "max", .integer(as: .redirects),
      synonyms: "attempts maxAttempts max_attempts max_retries maxRetries limit times",
      at: \.call.$redirects)
    FormatKey("allowDowngrade", .flag(), "From https to http", schema: #"{"default": false}"#) {
      $0.call.allowsDowngrade = $1
    }
  }
}

extension HTTPCall.TLS: FormatObject {
  static let format = ObjectFormat<HTTPCall.TLS>("\"tls\"") {
    FormatKey(
      "caFile", .pemFile(at: .authorities), "Authorities",
      "A PEM file with the authorities to trust instead of the system's.",
      synonyms: "ca cacert caCert caBundle", at: \.authorities)
    FormatKey(
      "certFile", .pemFile(at: .certificate), "Certificate",
      "A PEM file with the client certificate.",
      synonyms: "cert certificate clientCert", at: \.certificate)
    FormatKey(
      "keyFile", .pemFile(at: .key), "Key",
      "A PEM file with the key of the client certificate.", synonyms: "key privateKey clientKey"
    ) { $0.key = $1 }
  }
}

extension ValueFormat<String> {
  fileprivate static func pemFile(at site: HTTPSite) -> ValueFormat {
    requestText("the path of a PEM file", at: site)
  }
}

extension ValueFormat<Duration> {
  fileprivate static func requestTime(as key: ComputedKey) -> ValueFormat {
    ValueFormat(FormatType(.duration(allowsZero: false), as: key)) {
      $0.requestTime($1, $2)
    }
    .checked { ValueRule.problem(with: $0, $1, limit: WorkflowLimits.longestRequest) }
  }
}

extension DecodingPass {
  fileprivate mutating func requestTimeouts(
    _ node: JSONNode, _ field: Field
  ) -> HTTPCall.Timeouts? {
    var timeouts = HTTPCall.Timeouts()
    if node.kind == .object {
      read(node, field, into: &timeouts)
    } else if !computes(node, field, { timeouts.$total = .computed($0, until: nil) }) {
      timeouts.total = requestTime(node, field)
    }
    return timeouts
  }

  fileprivate mutating func requestTime(_ node: JSONNode, _ field: Field) -> Duration? {
    guard let time = duration(node, field) else { return nil }
    guard time <= WorkflowLimits.longestRequest else {
      report(
        .delayTooLong(path: path(field), delay: time, limit: WorkflowLimits.longestRequest),
        at: node)
      return nil
    }
    return time
  }

  fileprivate mutating func takeRedirects(
    _ node: JSONNode, _ field: Field, into call: inout HTTPCall
  ) {
    guard node.kind == .object else {
      if computes(node, field, { call.$redirects.expression = $0 }) { return }
      call.redirects = integer(node, field, in: ValueRule.redirects) ?? call.redirects
      return
    }
    var draft = RedirectsDraft(call: call)
    read(node, field, into: &draft)
    call = draft.call
  }
}

extension Diagnostic {
  static var staleWithoutCache: Diagnostic {
    Diagnostic(
      .keysApart, "\"staleOnError\" requires \"cache\": without it, no older response is stored",
      help:
        "add \"cache\": true for this run, or the path of a folder to share responses between runs")
  }

  static func severalBodies(_ first: String, _ second: String) -> Diagnostic {
    Diagnostic(
      .severalActions, "found both \"\(first)\" and \"\(second)\", expected one body",
      help: "a request has one body")
  }

  static var severalAuths: Diagnostic {
    Diagnostic(
      .severalActions, "found both \"bearer\" and \"basic\", expected one of them",
      help: "a request has one Authorization header")
  }

  /// A key that reads the body of a response, beside one that saves it.
  static func besideSaveTo(_ key: String) -> Diagnostic {
    Diagnostic(
      .keysApart, "\"\(key)\" cannot be combined with \"saveTo\"",
      help: "a response that is saved to a file is not read: remove one of the two")
  }
}
