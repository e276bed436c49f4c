import WeftDefinition
import WeftEncoding
import WeftEvents
import WeftExpressions
import WeftHTTP
import WeftJSON
import WeftPlanning

/// Builds the request to send from that of the step and its evaluated texts.
struct RequestBuilder {
  let call: HTTPCall
  let texts: RequestTexts
  /// The base of relative file paths; `nil` for the current directory of the process.
  let directory: String?
  /// The key for ``HTTPCall/IdempotencyKey/derived``.
  let derivedKey: String
  /// Whether a text contains a secret.
  let isSecret: @Sendable (String) -> Bool

  func request() throws(StepFailure) -> HTTPRequest {
    guard let url = texts.text(.url, call.url) else {
      throw .unsendable("http.url is missing")
    }
    var request = HTTPRequest(try self.url(url))
    request.method = HTTPMethod(texts.text(.method, call.method)?.text ?? "GET")
    request.headers = headers
    request.body = body
    request.auth = auth
    request.deadlines = HTTPDeadlines(
      connect: call.timeouts.connect, idle: call.timeouts.idle, total: call.timeouts.total)
    request.redirects = RedirectRule(
      limit: call.redirects, allowsDowngrade: call.allowsDowngrade)
    request.expectedStatus = StatusExpectation(
      call.expectation.statuses.compactMap(StatusExpectation.Element.init))
    request.maxBytes = call.maxBytes?.bytes
    request.saveTo = texts.text(.saveTo, call.saveTo).map { SaveTarget(place(of: $0)) }
    request.proxy = proxy
    request.tls = TLSFiles(
      authorities: texts.text(.authorities, call.tls.authorities).map(place),
      certificate: texts.text(.certificate, call.tls.certificate).map(place),
      key: texts.text(.key, call.tls.key).map(place))
    request.caching = CacheUse(
      isAllowed: call.cache != nil,
      staleOnError: call.staleOnError.map(StaleOnError.init) ?? .never)
    request.bodyOrigins = try bodyOrigins(with: request.url.origin)
    request.isSecret = isSecret
    switch call.idempotencyKey {
    case .derived: request.idempotencyKey = derivedKey
    case .text(let key): request.idempotencyKey = texts.text(.idempotencyKey, key)
    case nil: break
    }
    return request
  }

  /// The folder of the cache; `nil` if responses are cached for the run, or not at all.
  var cacheFolder: String? {
    guard case .folder(let path) = call.cache else { return nil }
    return place(of: texts.text(.cacheFolder, path))
  }

  private func url(_ text: ScopedText) throws(StepFailure) -> HTTPURL {
    do {
      return try HTTPURL(text.text).appending(query: fields(call.query, HTTPSite.query))
    } catch {
      throw .unsendable("http.url: \(error.message)", help: error.help)
    }
  }

  /// The origins that may receive bodies: only the first one, unless others are named.
  private func bodyOrigins(
    with first: HTTPURL.Origin
  ) throws(StepFailure) -> Set<HTTPURL.Origin> {
    guard let written = call.paging?.origins, !written.isEmpty else { return [] }
    var origins: Set = [first]
    for (index, text) in written.enumerated() {
      let site = HTTPSite.origin(index)
      do throws(HTTPURLError) {
        origins.insert(try HTTPURL(origin: texts.text(site, text)?.text ?? "").origin)
      } catch {
        throw .unsendable("\(site.path): \(error.message)", help: error.help)
      }
    }
    return origins
  }

  private var headers: HTTPHeaders {
    var headers = HTTPHeaders()
    for (index, header) in call.headers.enumerated() {
      for value in texts.texts(.header(header.name, index), header.value) {
        headers.add(HTTPHeader(header.name, value.text, isSecret: value.isSecret))
      }
    }
    return headers
  }

  private var auth: HTTPAuth? {
    switch call.auth {
    case .bearer(let token): .bearer(texts.text(.bearer, token)?.text ?? "")
    case .basic(let user, let password):
      .basic(
        user: texts.text(.user, user)?.text ?? "",
        password: texts.text(.password, password)?.text ?? "")
    case nil: nil
    }
  }

  private var body: RequestBody {
    switch call.body {
    case .none: .none
    case .json(let value): .json(texts.jsonBody(value).description)
    case .text(let text): .text(texts.text(.body, text)?.text ?? "")
    case .form(let fields): .form(self.fields(fields, HTTPSite.field))
    case .file(let path): .file(place(of: texts.text(.bodyFile, path)), contentType: nil)
    case .multipart(let parts): .multipart(self.parts(parts))
    }
  }

  private func fields(
    _ fields: [HTTPCall.Field], _ site: (String, Int) -> HTTPSite
  ) -> [FormField] {
    fields.enumerated().flatMap { index, field in
      texts.texts(site(field.name, index), field.value).map { FormField(field.name, $0.text) }
    }
  }

  private func parts(_ parts: [HTTPCall.Part]) -> [MultipartPart] {
    parts.enumerated().flatMap { index, part in
      let fileName = texts.text(.partFileName(part.name, index), part.fileName)
      let type = texts.text(.partType(part.name, index), part.contentType)
      switch part.content {
      case .text(let text):
        return texts.texts(.part(part.name, index), text).map { text in
          MultipartPart(part.name, .bytes(Array(text.text.utf8)), contentType: type)
        }
      case .file(let path):
        var file = MultipartPart.file(
          part.name, path: place(of: texts.text(.partFile(part.name, index), path)),
          contentType: type)
        if let fileName { file.fileName = fileName }
        return [file]
      }
    }
  }

  private var proxy: HTTPProxy {
    switch texts.text(.proxy, call.proxy) {
    case nil: .none
    case "env": .environment
    case let url?: .url(url)
    }
  }

  private func place(of text: ScopedText?) -> String { place(of: text?.text ?? "") }

  private func place(of path: String) -> String { path.resolved(from: directory) }
}

extension StaleOnError {
  fileprivate init(_ written: HTTPCall.StaleOnError) {
    switch written {
    case .always: self = .always
    case .upTo(let time): self = .upTo(time)
    }
  }
}

extension RunID {
  /// The idempotency key that is derived for a step's requests, equal for all attempts of one step in one run.
  func idempotencyKey(of step: StepAddress) -> String {
    SHA256.text(of: SHA256.digest(of: "\(text)\n\(step.text)".utf8))
  }
}

extension StepFailure {
  /// A request that cannot be sent.
  static func unsendable(_ message: String, help: String? = nil) -> StepFailure {
    StepFailure(classes: [.expression], message: message, help: help)
  }
}
