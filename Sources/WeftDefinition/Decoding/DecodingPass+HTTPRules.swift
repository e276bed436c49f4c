import WeftDiagnostics
import WeftJSON

/// The keys of a request besides its address and content: authentication, timeouts, redirects, TLS,
/// accepted responses, polling and pagination.
extension DecodingPass {
  mutating func requestAuth(_ node: JSONNode) -> HTTPCall.Auth? {
    let field = Field("http.auth")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "{ \"bearer\": … } or { \"basic\": … }",
        help: "write { \"bearer\": \"${{ secrets.TOKEN }}\" }")
      return nil
    }
    var auth: HTTPCall.Auth?
    var first: JSONNode?
    for member in node.members {
      guard let key: AuthKey = key(of: member, in: .auth) else { continue }
      if let first, !first.isString(equalTo: key.rawValue) {
        report(.http(.severalAuths), at: member.key, related: ("the first is here", first))
        continue
      }
      first = member.key
      switch key {
      case .bearer:
        auth = requestText(member.value, field.part("bearer"), .bearer, wanted: "a token")
          .map(HTTPCall.Auth.bearer)
      case .basic: auth = basicAuth(member.value)
      }
    }
    if node.members.isEmpty {
      report(
        .control(
          .missingKey(
            path: path(field), key: "bearer", example: "{ \"bearer\": \"${{ secrets.TOKEN }}\" }")
        ), at: node)
    }
    return auth
  }

  private mutating func basicAuth(_ node: JSONNode) -> HTTPCall.Auth? {
    let field = Field("http.auth.basic")
    guard node.kind == .object else {
      reportType(of: node, field, wanted: "an object with \"user\" and \"password\"")
      return nil
    }
    var (user, password): (String?, String?)
    var missing = Set(BasicAuthKey.allCases)
    for member in node.members {
      guard let key: BasicAuthKey = key(of: member, in: .basicAuth) else { continue }
      missing.remove(key)
      switch key {
      case .user:
        user = requestText(member.value, field.part("user"), .user, wanted: "the name of a user")
      case .password: password = requestText(member.value, field.part("password"), .password)
      }
    }
    for key in BasicAuthKey.allCases where missing.contains(key) {
      report(
        .control(
          .missingKey(
            path: path(field), key: key.rawValue,
            example: "{ \"user\": \"…\", \"password\": \"${{ secrets.PASSWORD }}\" }")), at: node)
    }
    guard let user, let password else { return nil }
    return .basic(user: user, password: password)
  }

  mutating func requestTimeouts(_ node: JSONNode) -> HTTPCall.Timeouts {
    var timeouts = HTTPCall.Timeouts()
    guard node.kind == .object else {
      timeouts.total = requestTime(node, Field("http.timeout"), as: .totalTimeout)
      return timeouts
    }
    let field = Field("http.timeout")
    for member in node.members {
      guard let key: RequestTimeoutKey = key(of: member, in: .requestTimeout) else { continue }
      switch key {
      case .connect:
        timeouts.connect = requestTime(member.value, field.part("connect"), as: .connectTimeout)
      case .idle:
        timeouts.idle = requestTime(member.value, field.part("idle"), as: .idleTimeout)
      case .total:
        timeouts.total = requestTime(member.value, field.part("total"), as: .totalTimeout)
      }
    }
    return timeouts
  }

  private mutating func requestTime(
    _ node: JSONNode, _ field: Field, as key: ComputedKey
  ) -> Duration? {
    guard let time = duration(node, field, as: key) else { return nil }
    guard time <= WorkflowLimits.longestRequest else {
      report(
        .control(
          .delayTooLong(path: path(field), delay: time, limit: WorkflowLimits.longestRequest)),
        at: node)
      return nil
    }
    return time
  }

  mutating func takeRedirects(_ node: JSONNode, into call: inout HTTPCall) {
    let field = Field("http.redirects")
    let range = ValueRule.redirects
    guard node.kind == .object else {
      call.redirects = integer(node, field, in: range, as: .redirects) ?? call.redirects
      return
    }
    for member in node.members {
      guard let key: RedirectsKey = key(of: member, in: .redirects) else { continue }
      switch key {
      case .max:
        call.redirects =
          integer(member.value, field.part("max"), in: range, as: .redirects) ?? call.redirects
      case .allowDowngrade:
        call.allowsDowngrade = flag(member.value, field.part("allowDowngrade"))
      }
    }
  }

  mutating func tlsFiles(_ node: JSONNode) -> HTTPCall.TLS {
    let field = Field("http.tls")
    var files = HTTPCall.TLS()
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"caFile\", \"certFile\" or \"keyFile\"",
        help: node.kind == .bool ? "servers' certificates are always verified" : nil)
      return files
    }
    let wanted = "the path of a PEM file"
    for member in node.members {
      guard let key: TLSKey = key(of: member, in: .tls) else { continue }
      let value = member.value
      switch key {
      case .caFile:
        files.authorities = requestText(value, field.part("caFile"), .authorities, wanted: wanted)
      case .certFile:
        files.certificate = requestText(value, field.part("certFile"), .certificate, wanted: wanted)
      case .keyFile: files.key = requestText(value, field.part("keyFile"), .key, wanted: wanted)
      }
    }
    return files
  }

  // MARK: Responses

  mutating func expectation(_ node: JSONNode) -> HTTPCall.Expectation {
    let field = Field("http.expect")
    var expectation = HTTPCall.Expectation()
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"status\" or \"when\"",
        help: node.kind == .number ? "write { \"status\": \(node.sourceText) }" : nil)
      return expectation
    }
    for member in node.members {
      guard let key: ExpectKey = key(of: member, in: .expect) else { continue }
      switch key {
      case .status: expectation.statuses = statuses(member.value, field.part("status"))
      case .when:
        expectation.condition = condition(
          member.value, field.part("when"), at: .http(.expected))
      }
    }
    return expectation
  }

  private mutating func statuses(_ node: JSONNode, _ field: Field) -> [String] {
    guard node.kind == .array else { return status(node, field).map { [$0] } ?? [] }
    if node.elements.isEmpty {
      report(.empty(path: path(field), wanted: "at least one status"), at: node)
    }
    return node.elements.enumerated().compactMap { index, element in
      status(element, field.element(index))
    }
  }

  private mutating func status(_ node: JSONNode, _ field: Field) -> String? {
    switch node.kind {
    case .number: return integer(node, field, in: 200...999).map(String.init)
    case .string:
      guard let text = text(node, field) else { return nil }
      if HTTPCall.isStatus(text) { return text }
      report(.http(.invalidStatus(path: path(field), text: text)), at: node)
      return nil
    default:
      reportType(of: node, field, wanted: "a status like 200 or \"2xx\", or an array of these")
      return nil
    }
  }

  mutating func polling(_ node: JSONNode) -> HTTPCall.Polling? {
    let field = Field("http.poll")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"until\"",
        help: "write { \"until\": \"self.json.state == 'done'\", \"every\": \"5s\" }")
      return nil
    }
    var polling = HTTPCall.Polling(until: "")
    var hasUntil = false
    for member in node.members {
      guard let key: PollKey = key(of: member, in: .poll) else {
        hasUntil = hasUntil || !isIgnored(member.key)
        continue
      }
      switch key {
      case .until:
        hasUntil = true
        polling.until =
          condition(member.value, field.part("until"), at: .http(.until)) ?? polling.until
      case .every:
        polling.every =
          duration(member.value, field.part("every"), allowsZero: true, as: .pollEvery)
          ?? polling.every
      case .max:
        polling.max =
          integer(member.value, field.part("max"), in: ValueRule.requests, as: .pollMax)
          ?? polling.max
      }
    }
    if !hasUntil {
      report(
        .control(
          .missingKey(
            path: path(field), key: "until",
            example: "{ \"until\": \"self.json.state == 'done'\" }")), at: node)
    }
    return polling
  }

  mutating func paging(_ node: JSONNode) -> HTTPCall.Paging? {
    let field = Field("http.pages")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"next\"", help: "write { \"next\": \"link\" }")
      return nil
    }
    var paging = HTTPCall.Paging()
    var hasNext = false
    for member in node.members {
      guard let key: PagesKey = key(of: member, in: .pages) else {
        hasNext = hasNext || !isIgnored(member.key)
        continue
      }
      switch key {
      case .next:
        hasNext = true
        paging.next = nextPage(member.value, field.part("next"))
      case .max:
        paging.max =
          integer(member.value, field.part("max"), in: ValueRule.requests, as: .pagesMax)
          ?? paging.max
      case .collect:
        paging.collect = condition(
          member.value, field.part("collect"), at: .http(.collected))
      case .origins: paging.origins = pageOrigins(member.value, field.part("origins"))
      }
    }
    if !hasNext {
      report(
        .control(.missingKey(path: path(field), key: "next", example: "{ \"next\": \"link\" }")),
        at: node)
    }
    return paging
  }

  private mutating func pageOrigins(_ node: JSONNode, _ field: Field) -> [String] {
    guard node.kind == .array else {
      reportType(
        of: node, field, wanted: "an array of origins",
        help: node.kind == .string ? "write [\(node.sourceText)]" : nil)
      return []
    }
    return node.elements.enumerated().compactMap { index, element in
      requestText(
        element, field.element(index), .origin(index),
        wanted: "an origin such as \"https://example.org\"")
    }
  }

  private mutating func nextPage(_ node: JSONNode, _ field: Field) -> HTTPCall.Paging.Next {
    if node.stringValue == "link" { return .link }
    return condition(node, field, at: .http(.nextPage)).map(HTTPCall.Paging.Next.computed) ?? .link
  }
}

extension HTTPCall {
  /// Whether a text is a final status code, or a class of them such as `2xx`.
  package static func isStatus(_ text: String) -> Bool {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard text.utf8.count == 3, let first = text.utf8.first, digits.contains(first), first >= 0x32
    else { return false }
    return text.hasSuffix("xx") || text.utf8.allSatisfy(digits.contains)
  }
}
