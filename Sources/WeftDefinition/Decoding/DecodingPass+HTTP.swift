import WeftDiagnostics
import WeftJSON

/// `http`: one request. Further rules for its texts are checked during planning, as for a workflow built in Swift.
extension DecodingPass {
  mutating func httpCall(_ node: JSONNode) -> HTTPCall? {
    let field = Field("http")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"url\"",
        help: "write { \"url\": \(node.stringValue.map(quoted) ?? "\"https://example.org/\"") }")
      return nil
    }
    var draft = HTTPDraft()
    for member in node.members {
      guard let key: HTTPKey = key(of: member, in: .http) else {
        draft.hasUnknownKey = draft.hasUnknownKey || !isIgnored(member.key)
        continue
      }
      take(key, member, into: &draft)
    }
    if !draft.hasURL, !draft.hasUnknownKey {
      report(
        .control(
          .missingKey(
            path: path(field), key: "url", example: "{ \"url\": \"https://example.org/\" }")),
        at: node)
    }
    checkTogether(draft)
    return draft.finished
  }

  private mutating func take(_ key: HTTPKey, _ member: JSONMember, into draft: inout HTTPDraft) {
    let value = member.value
    draft.keys.append((key, member.key))
    switch key {
    case .method:
      draft.method = requestText(value, Field("http.method"), .method, wanted: "a method like GET")
    case .url:
      draft.hasURL = true
      draft.call.url =
        requestText(value, Field("http.url"), .url, wanted: "a URL with http:// or https://") ?? ""
    case .query:
      draft.call.query = requestFields(value, "http.query", of: "parameter", HTTPSite.query)
    case .headers:
      draft.call.headers = requestFields(value, "http.headers", of: "header", HTTPSite.header)
    case .json, .body, .form, .multipart, .bodyFile: takeBody(key, member, into: &draft)
    case .auth: draft.call.auth = requestAuth(value)
    case .timeout: draft.call.timeouts = requestTimeouts(value)
    case .redirects: takeRedirects(value, into: &draft.call)
    case .expect: draft.call.expectation = expectation(value)
    case .saveTo:
      draft.call.saveTo = requestText(
        value, Field("http.saveTo"), .saveTo, wanted: "the path of a file")
    case .maxBytes: draft.call.maxBytes = size(value, Field("http.maxBytes"), as: .maxBytes)
    case .proxy:
      draft.call.proxy = requestText(
        value, Field("http.proxy"), .proxy, wanted: "the URL of a proxy, or \"env\"")
    case .tls: draft.call.tls = tlsFiles(value)
    case .poll: draft.call.polling = polling(value)
    case .pages: draft.call.paging = paging(value)
    case .response:
      draft.call.responseForm =
        chosen(value, Field("http.response"), wanted: "\"auto\", \"json\" or \"text\"") ?? .auto
    case .idempotencyKey: draft.call.idempotencyKey = idempotencyKey(value)
    case .cache: draft.call.cache = answerCache(value)
    case .staleOnError: draft.call.staleOnError = staleOnError(value)
    }
  }

  private mutating func takeBody(
    _ key: HTTPKey, _ member: JSONMember, into draft: inout HTTPDraft
  ) {
    let value = member.value
    if let (first, place) = draft.body {
      return report(
        .http(.severalBodies(first.rawValue, key.rawValue)), at: member.key,
        related: ("\"\(first.rawValue)\" is here", place))
    }
    draft.body = (key, member.key)
    switch key {
    case .json: draft.call.body = jsonBody(value)
    case .form:
      draft.call.body = .form(
        requestFields(value, "http.form", of: "field", HTTPSite.field))
    case .multipart: draft.call.body = .multipart(parts(value))
    case .bodyFile:
      draft.call.body =
        requestText(value, Field("http.bodyFile"), .bodyFile, wanted: "the path of a file")
        .map(HTTPCall.Body.file) ?? .none
    default:
      draft.call.body =
        requestText(value, Field("http.body"), .body).map(HTTPCall.Body.text) ?? .none
    }
  }

  private mutating func answerCache(_ node: JSONNode) -> HTTPCall.Cache? {
    if node.kind == .bool { return node.boolValue == true ? .ofRun : nil }
    let wanted = "true, or the path of a folder"
    return requestText(node, Field("http.cache"), .cacheFolder, wanted: wanted)
      .map(HTTPCall.Cache.folder)
  }

  private mutating func staleOnError(_ node: JSONNode) -> HTTPCall.StaleOnError? {
    if node.kind == .bool { return node.boolValue == true ? .always : nil }
    guard node.kind == .string else {
      reportType(
        of: node, Field("http.staleOnError"), wanted: "true, or a duration like \"1h\"",
        help: "true takes an answer however old it is")
      return nil
    }
    return duration(node, Field("http.staleOnError")).map(HTTPCall.StaleOnError.upTo)
  }

  /// Reports `staleOnError` without a cache, and keys that would read a body that `saveTo` saves unread.
  private mutating func checkTogether(_ draft: HTTPDraft) {
    if draft.call.staleOnError != nil, draft.call.cache == nil,
      let stale = draft.keys.first(where: { $0.key == .staleOnError })
    {
      report(.http(.staleWithoutCache), at: stale.node)
    }
    guard let saved = draft.keys.first(where: { $0.key == .saveTo }) else { return }
    for (key, node) in draft.keys where [.poll, .pages, .response].contains(key) {
      report(
        .http(.apart(.saveTo, key)), at: node, related: ("\"saveTo\" is here", saved.node))
    }
  }

  private mutating func idempotencyKey(_ node: JSONNode) -> HTTPCall.IdempotencyKey? {
    if node.kind == .bool { return node.boolValue == true ? .derived : nil }
    guard node.kind == .string else {
      reportType(
        of: node, Field("http.idempotencyKey"), wanted: "true or a text",
        help: "true makes one of the run and the step")
      return nil
    }
    return requestText(
      node, Field("http.idempotencyKey"), .idempotencyKey, wanted: "the key of this request"
    ).map(HTTPCall.IdempotencyKey.text)
  }

  // MARK: Texts

  /// Reads a text. With `wanted`, which describes it in messages, it must not be empty.
  ///
  /// Its location is kept even without expressions: planning checks the text.
  mutating func requestText(
    _ node: JSONNode, _ field: Field, _ site: HTTPSite, wanted: String? = nil
  ) -> String? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: wanted ?? "a string",
        help: node.kind == .number || node.kind == .bool ? "write \"\(node.sourceText)\"" : nil)
      return nil
    }
    let text = node.stringValue ?? ""
    if let wanted, text.isEmpty {
      report(.empty(path: path(field), wanted: wanted), at: node)
      return nil
    }
    texts.places.append(TextPlace(.http(site), at: node.range))
    return text
  }

  /// Reads names and values; an array gives one name several values.
  private mutating func requestFields(
    _ node: JSONNode, _ key: StaticString, of what: String, _ site: (String, Int) -> HTTPSite
  ) -> [HTTPCall.Field] {
    guard node.kind == .object else {
      reportType(
        of: node, Field(key), wanted: "an object of names and values",
        help: "write { \"name\": \"value\" }")
      return []
    }
    var fields: [HTTPCall.Field] = []
    for member in node.members {
      guard let name = fieldName(member.key, key, of: what) else { continue }
      let values = member.value.kind == .array ? Array(member.value.elements) : [member.value]
      for value in values {
        guard let text = fieldValue(value, Field(key, member: member.key), site(name, fields.count))
        else { continue }
        fields.append(HTTPCall.Field(name, text))
      }
    }
    return fields
  }

  mutating func fieldName(_ node: JSONNode, _ key: StaticString, of what: String) -> String? {
    let name = node.stringValue ?? ""
    if name.hasExpression {
      report(.http(.expressionInName(path: path(Field(key)))), at: node)
      return nil
    }
    guard !name.isEmpty else {
      report(.http(.noName(path: path(Field(key)), of: what)), at: node)
      return nil
    }
    return name
  }

  private mutating func fieldValue(
    _ node: JSONNode, _ field: Field, _ site: HTTPSite
  ) -> String? {
    switch node.kind {
    case .string: return requestText(node, field, site)
    case .number, .bool: return node.sourceText
    case .null, .array, .object:
      report(.http(.notAField(path: path(field), found: node.noun)), at: node)
      return nil
    case .unreadable: return nil
    }
  }
}

/// A request while its keys are read.
struct HTTPDraft {
  var call = HTTPCall("")
  var method: String?
  var hasURL = false
  var hasUnknownKey = false
  /// The keys in the order of the file.
  var keys: [(key: HTTPKey, node: JSONNode)] = []
  /// The first key that gives a body.
  var body: (HTTPKey, JSONNode)?

  /// The request, with the default method for its body unless one is given.
  var finished: HTTPCall {
    var call = call
    call.method = method ?? (body == nil ? "GET" : "POST")
    return call
  }
}
