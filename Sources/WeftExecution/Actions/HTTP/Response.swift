import WeftDefinition
import WeftEvents
import WeftExpressions
package import WeftHTTP
import WeftJSON
import WeftPlanning

/// The response to a request, or to the last one of those that followed from it, such as pages.
package final class Response: Sendable {
  package let response: HTTPResponse
  let form: HTTPCall.ResponseForm
  /// The values collected from all pages.
  let collected: ExpressionValue?
  /// The number of pages that were read, with this one; `nil` if the request reads no pages.
  let pages: Int?
  /// The figures of all requests together.
  let figures: ExchangeFigures

  init(
    _ response: HTTPResponse, form: HTTPCall.ResponseForm, collected: ExpressionValue? = nil,
    pages: Int? = nil, figures: ExchangeFigures? = nil
  ) {
    self.response = response
    self.form = form
    self.collected = collected
    self.pages = pages
    self.figures = figures ?? response.figures
  }

  /// The summary for reports.
  var summary: HTTPSummary {
    HTTPSummary(
      method: response.method.name, url: response.url.description, status: response.status,
      redirects: response.redirects.count, savedTo: response.savedTo, cache: response.cache,
      staleReason: response.staleReason?.message, pages: pages, figures: figures)
  }

  var isJSON: Bool {
    switch form {
    case .json: true
    case .text: false
    case .auto: response.head.contentType?.isJSON == true
    }
  }
}

extension Response: Hashable {
  package static func == (left: Response, right: Response) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The parts of a response that expressions can read.
struct ResponseValues: Sendable {
  let status: Int
  let isStale: Bool
  let pages: Int
  let headers: ScopedValue
  /// `nil` if no expression reads it, or if it was saved to a file.
  let body: CapturedBody?
  let collected: ScopedValue?

  /// - Parameters:
  ///   - keepsBody: Whether an expression reads the body.
  ///   - isSecret: Whether all of it is secret, whatever the mask covers.
  init(
    _ answer: Response, keepsBody: Bool, mask: SecretMask?, isSecret: Bool = false,
    spool: CaptureSpool
  ) {
    status = answer.response.status
    isStale = answer.response.isStale
    pages = answer.pages ?? 1
    var headers = ResponseValues.headers(answer.response.headers, mask)
    headers.isSecret = headers.isSecret || isSecret
    self.headers = headers
    let isRead = keepsBody && answer.response.savedTo == nil
    body = isRead ? CapturedBody(answer, mask: mask, isSecret: isSecret, spool: spool) : nil
    collected = answer.collected.map { value in
      ScopedValue(value, isSecret: isSecret || mask?.contains(Array("\(value.json)".utf8)) == true)
    }
  }

  /// The values of a response in the journal, from a previous engine; `nil` if it was secret or is missing.
  init?(_ kept: RecordedResponse, of summary: HTTPSummary?, spool: CaptureSpool) {
    guard let status = summary?.status, case .value(let headers) = kept.headers else { return nil }
    self.status = status
    isStale = summary?.staleReason != nil
    pages = summary?.pages ?? 1
    self.headers = ScopedValue(ExpressionValue(headers))
    var type: String?
    if case .string(let text)? = headers["content-type"] { type = text }
    body = kept.body?.whole.map {
      CapturedBody(text: $0, isJSON: kept.isJSON, type: type, spool: spool)
    }
    collected = kept.collected?.whole
      .flatMap { try? ExpressionValue.json($0, from: "the journal") }
      .map { ScopedValue($0) }
  }

  /// Headers by lower-case names; repeated ones are joined by commas (RFC 9110 §5.3).
  private static func headers(_ headers: HTTPHeaders, _ mask: SecretMask?) -> ScopedValue {
    var members: [(String, String)] = []
    for header in headers.fields {
      let name = header.name.lowercased()
      if let index = members.firstIndex(where: { $0.0 == name }) {
        members[index].1 += ", " + header.value
      } else {
        members.append((name, header.value))
      }
    }
    let isSecret = members.contains { mask?.contains(Array($0.1.utf8)) == true }
    return ScopedValue(
      .object(members.map { ($0.0, ExpressionValue.string($0.1)) }), isSecret: isSecret)
  }
}

extension RecordedText {
  fileprivate var whole: String? {
    if case .text(let text) = self { text } else { nil }
  }
}

extension HTTPRequest {
  /// Whether it has a header or a URL by which a server knows its client.
  fileprivate var hasCredentials: Bool {
    auth != nil || url.credentials != nil
      || headers.fields.contains { $0.isSecret || $0.isCredential }
  }
}

extension HTTPResponse {
  /// The role of the HTTP cache; `nil` if none was involved.
  fileprivate var cache: String? {
    if case .bypass = cacheStatus { nil } else { cacheStatus.name }
  }
}

/// The evaluator for a request's expressions about its response, which they read as `self`.
struct ResponseEvaluator: Sendable {
  private let scope: StepScope
  private let texts: [HTTPSite: PlannedText]
  private let address: StepAddress
  private let attempt: Int

  init(_ scope: StepScope, _ texts: ArraySlice<PlannedText>, of address: StepAddress, attempt: Int)
  {
    self.scope = scope
    self.address = address
    self.attempt = attempt
    var bare: [HTTPSite: PlannedText] = [:]
    for text in texts {
      if case .http(let site) = text.site, site.isBare { bare[site] = text }
    }
    self.texts = bare
  }

  /// The value of the expression at a site; `nil` if there is none.
  func value(
    at site: HTTPSite, of answer: Response
  ) throws(StepFailure) -> ScopedValue? {
    guard let text = texts[site], text.template.onlyExpression != nil else { return nil }
    var scope = scope
    let secrets = scope.values.secrets
    var own = NodeValues(outcome: .success, conclusion: .success, attempts: attempt)
    own.shape = .answer
    own.answer = ResponseValues(
      answer, keepsBody: true, mask: secrets.hidesAnything ? secrets.mask : nil,
      spool: scope.values.spool)
    scope.own = (own, address)
    let evaluation = try text.value(in: scope)
    if evaluation.isSecret { secrets.add(everyTextIn: evaluation.value) }
    return evaluation
  }

  /// Whether the expression at a site is true; `nil` if there is none.
  func holds(_ site: HTTPSite, for answer: Response) throws(StepFailure) -> Bool? {
    try value(at: site, of: answer)?.value.isTruthy
  }

  /// The expression at a site as messages quote it.
  func text(at site: HTTPSite) -> String { texts[site]?.template.onlyExpression?.text ?? "" }
}

/// The name of a status (RFC 9110 §15, RFC 6585, RFC 8470).
enum StatusReason {
  static func text(_ status: Int) -> String? {
    switch status {
    case 300: "Multiple Choices"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 422: "Unprocessable Content"
    case 425: "Too Early"
    case 429: "Too Many Requests"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: nil
    }
  }

  /// - Parameter request: The first request of those that led to the response.
  static func help(_ response: HTTPResponse, to request: HTTPRequest) -> String? {
    switch response.status {
    case 401 where !request.hasCredentials:
      "add credentials: \"auth\": { \"bearer\": \"${{ secrets.… }}\" }"
    case 401 where response.url.origin != request.url.origin:
      "credentials are only sent to \(request.url.origin), not to another origin"
    case 401: "check the credentials: the server got some, and does not accept them"
    case _ where response.head.isRedirect && response.head.hasTarget:
      "redirects are followed if \"redirects\" is greater than 0"
    default: nil
    }
  }
}
