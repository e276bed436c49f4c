import WeftJSON

extension HTTPCall {
  var json: JSONValue {
    PrintedObject(of: HTTPDraft.self) { object in
      object["method"] = method == (body == .none ? "GET" : "POST") ? nil : .string(method)
      object["url"] = .string(url)
      object["query"] = Field.json(query)
      object["headers"] = Field.json(headers)
      body.print(&object)
      object["auth"] = auth?.json
      object["timeout"] = timeouts.json
      object["redirects"] = redirectsJSON
      object["expect"] = expectation.json
      object["saveTo"] = .text(saveTo)
      object["maxBytes"] = $maxBytes.json { $0.map(JSONValue.size) }
      object["proxy"] = .text(proxy)
      object["tls"] = tls.json
      object["poll"] = polling?.json
      object["pages"] = paging?.json
      object["response"] = .word(responseForm, unless: .auto)
      object["idempotencyKey"] = idempotencyKey?.json
      object["cache"] = cache?.json
      object["staleOnError"] = staleOnError?.json
    }.json
  }

  private var redirectsJSON: JSONValue? {
    let limit = $redirects.json(unless: WorkflowLimits.defaultRedirects, JSONValue.int)
    guard allowsDowngrade else { return limit }
    return PrintedObject(of: RedirectsDraft.self) { object in
      object["max"] = limit
      object["allowDowngrade"] = true
    }.json
  }
}

extension HTTPCall.Field {
  fileprivate static func json(_ fields: [HTTPCall.Field]) -> JSONValue? {
    .grouped(fields.map { ($0.name, .string($0.value)) })
  }
}

extension HTTPCall.Body {
  fileprivate func print(_ object: inout PrintedObject<HTTPDraft>) {
    switch self {
    case .none: break
    case .json(let value): object["json"] = value
    case .text(let text): object["body"] = .string(text)
    case .form(let fields): object["form"] = HTTPCall.Field.json(fields) ?? [:]
    case .multipart(let parts):
      object["multipart"] = .grouped(parts.map { ($0.name, $0.json) }) ?? [:]
    case .file(let path): object["bodyFile"] = .string(path)
    }
  }
}

extension HTTPCall.Part {
  fileprivate var json: JSONValue {
    let object = PrintedObject(of: PartDraft.self) { object in
      switch content {
      case .text(let text): object["value"] = .string(text)
      case .file(let path): object["file"] = .string(path)
      }
      object["fileName"] = .text(fileName)
      object["contentType"] = .text(contentType)
    }
    return object.hasOnly("value") ? object["value"] ?? "" : object.json
  }
}

extension HTTPCall.Auth {
  fileprivate var json: JSONValue {
    PrintedObject(of: AuthDraft.self) { object in
      switch self {
      case .bearer(let token): object["bearer"] = .string(token)
      case .basic(let user, let password):
        object["basic"] =
          PrintedObject(of: BasicAuthDraft.self) { basic in
            basic["user"] = .string(user)
            basic["password"] = .string(password)
          }.json
      }
    }.json
  }
}

extension HTTPCall.Timeouts {
  fileprivate var json: JSONValue? {
    let object = PrintedObject(of: HTTPCall.Timeouts.self) { object in
      object["connect"] = $connect.json { $0.map(JSONValue.duration) }
      object["idle"] = $idle.json { $0.map(JSONValue.duration) }
      object["total"] = $total.json {
        $0 == WorkflowLimits.requestTimeout ? nil : $0.map(JSONValue.duration)
      }
    }
    return object.hasOnly("total") ? object["total"] : object.jsonIfAny
  }
}

extension HTTPCall.Expectation {
  fileprivate var json: JSONValue? {
    PrintedObject(of: HTTPCall.Expectation.self) { object in
      let listed = statuses.map { status in Int(status).map(JSONValue.int) ?? .string(status) }
      object["status"] = statuses == ["2xx"] ? nil : .oneOrMore(listed)
      object["when"] = condition?.json
    }.jsonIfAny
  }
}

extension HTTPCall.TLS {
  fileprivate var json: JSONValue? {
    PrintedObject(of: HTTPCall.TLS.self) { object in
      object["caFile"] = .text(authorities)
      object["certFile"] = .text(certificate)
      object["keyFile"] = .text(key)
    }.jsonIfAny
  }
}

extension HTTPCall.Polling {
  fileprivate var json: JSONValue {
    PrintedObject(of: HTTPCall.Polling.self) { object in
      object["until"] = until.json
      object["every"] = $every.json(unless: .seconds(5), JSONValue.duration)
      object["max"] = $max.json(unless: 100, JSONValue.int)
    }.json
  }
}

extension HTTPCall.Paging {
  fileprivate var json: JSONValue {
    PrintedObject(of: HTTPCall.Paging.self) { object in
      switch next {
      case .link: object["next"] = "link"
      case .computed(let expression): object["next"] = expression.json
      }
      object["max"] = $max.json(unless: 100, JSONValue.int)
      object["collect"] = collect?.json
      object["origins"] = origins.isEmpty ? nil : .texts(origins)
    }.json
  }
}

extension HTTPCall.IdempotencyKey {
  fileprivate var json: JSONValue {
    switch self {
    case .derived: true
    case .text(let text): .string(text)
    }
  }
}

extension HTTPCall.Cache {
  fileprivate var json: JSONValue {
    switch self {
    case .ofRun: true
    case .folder(let path): .string(path)
    }
  }
}

extension HTTPCall.StaleOnError {
  fileprivate var json: JSONValue {
    switch self {
    case .always: true
    case .upTo(let time): .duration(time)
    }
  }
}
