package import WeftJSON

/// A text of an HTTP step that may contain expressions.
public enum HTTPSite: Sendable, Hashable {
  case method, url
  /// The name of a parameter, and its index in the whole query.
  case query(String, Int)
  case header(String, Int)
  case field(String, Int)
  case part(String, Int)
  case partFile(String, Int)
  case partFileName(String, Int)
  case partType(String, Int)
  /// A string inside the body.
  case json(ValuePath)
  case body, bodyFile
  case bearer, user, password
  case saveTo, proxy, authorities, certificate, key
  case idempotencyKey, cacheFolder
  /// `when` of `expect`.
  case expected
  case until, nextPage, collected
  /// Its index in `origins` of `pages`.
  case origin(Int)
}

extension HTTPSite {
  /// Its name in messages.
  package var path: String {
    switch self {
    case .method: "http.method"
    case .url: "http.url"
    case .query(let name, _): "http.query.\(name)"
    case .header(let name, _): "http.headers.\(name)"
    case .field(let name, _): "http.form.\(name)"
    case .part(let name, _): "http.multipart.\(name)"
    case .partFile(let name, _): "http.multipart.\(name).file"
    case .partFileName(let name, _): "http.multipart.\(name).fileName"
    case .partType(let name, _): "http.multipart.\(name).contentType"
    case .json(let path): "http.json\(path)"
    case .body: "http.body"
    case .bodyFile: "http.bodyFile"
    case .bearer: "http.auth.bearer"
    case .user: "http.auth.basic.user"
    case .password: "http.auth.basic.password"
    case .saveTo: "http.saveTo"
    case .proxy: "http.proxy"
    case .authorities: "http.tls.caFile"
    case .certificate: "http.tls.certFile"
    case .key: "http.tls.keyFile"
    case .idempotencyKey: "http.idempotencyKey"
    case .cacheFolder: "http.cache"
    case .expected: "http.expect.when"
    case .until: "http.poll.until"
    case .nextPage: "http.pages.next"
    case .collected: "http.pages.collect"
    case .origin(let index): "http.pages.origins[\(index)]"
    }
  }

  /// Whether the text is an expression even without `${{` and `}}` around it.
  package var isBare: Bool {
    switch self {
    case .expected, .until, .nextPage, .collected: true
    default: false
    }
  }
}

extension HTTPCall {
  /// Visits every text of the request that may contain expressions, in its order.
  func visitRequestTexts(_ visit: (HTTPSite, String) -> Void) {
    visit(.method, method)
    visit(.url, url)
    for (index, field) in query.enumerated() { visit(.query(field.name, index), field.value) }
    for (index, field) in headers.enumerated() { visit(.header(field.name, index), field.value) }
    switch auth {
    case .bearer(let token): visit(.bearer, token)
    case .basic(let user, let password):
      visit(.user, user)
      visit(.password, password)
    case nil: break
    }
    body.visitTexts(visit)
    if case .text(let key) = idempotencyKey { visit(.idempotencyKey, key) }
    if case .folder(let path) = cache { visit(.cacheFolder, path) }
    let paths: [(HTTPSite, String?)] = [
      (.saveTo, saveTo), (.proxy, proxy), (.authorities, tls.authorities),
      (.certificate, tls.certificate), (.key, tls.key),
    ]
    for (site, text) in paths { text.map { visit(site, $0) } }
  }

  /// Visits the expressions about responses.
  func visitConditions(_ visit: (HTTPSite, Condition) -> Void) {
    expectation.condition.map { visit(.expected, $0) }
    polling.map { visit(.until, $0.until) }
    if case .computed(let next) = paging?.next { visit(.nextPage, next) }
    paging?.collect.map { visit(.collected, $0) }
  }
}

extension HTTPCall.Body {
  fileprivate func visitTexts(_ visit: (HTTPSite, String) -> Void) {
    switch self {
    case .none: break
    case .json(let value):
      value.visitStrings(at: ValuePath()) { visit(.json($0), $1) }
    case .text(let text): visit(.body, text)
    case .file(let path): visit(.bodyFile, path)
    case .form(let fields):
      for (index, field) in fields.enumerated() { visit(.field(field.name, index), field.value) }
    case .multipart(let parts):
      for (index, part) in parts.enumerated() {
        switch part.content {
        case .text(let text): visit(.part(part.name, index), text)
        case .file(let path): visit(.partFile(part.name, index), path)
        }
        part.fileName.map { visit(.partFileName(part.name, index), $0) }
        part.contentType.map { visit(.partType(part.name, index), $0) }
      }
    }
  }
}

extension JSONValue {
  /// Visits every string in the value in order, itself included, but not names.
  package func visitStrings(at path: ValuePath, _ visit: (ValuePath, String) -> Void) {
    switch self {
    case .string(let text): visit(path, text)
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        element.visitStrings(at: path.appending(.element(index)), visit)
      }
    case .object(let object):
      for member in object.members {
        member.value.visitStrings(at: path.appending(.property(member.key)), visit)
      }
    case .null, .bool, .number: break
    }
  }

  /// The value with each of its strings replaced.
  package func replacingStrings(
    at path: ValuePath = ValuePath(), _ replacement: (ValuePath, String) -> JSONValue
  ) -> JSONValue {
    switch self {
    case .string(let text): replacement(path, text)
    case .array(let elements):
      .array(
        elements.enumerated().map { index, element in
          element.replacingStrings(at: path.appending(.element(index)), replacement)
        })
    case .object(let object):
      .object(
        JSONObject(
          object.members.map { member in
            (
              member.key,
              member.value.replacingStrings(at: path.appending(.property(member.key)), replacement)
            )
          }))
    case .null, .bool, .number: self
    }
  }
}
