import WeftDefinition
import WeftEvents
import WeftExpressions
package import WeftHTTP
import WeftJSON

/// The response to a request, or to the last one of those that followed from it, such as pages.
package final class Answer: Sendable {
  package let response: HTTPResponse
  let form: HTTPCall.ResponseForm
  /// The values collected from all pages.
  let collected: ExpressionValue?
  /// The figures of all requests together.
  let figures: ExchangeFigures

  init(
    _ response: HTTPResponse, form: HTTPCall.ResponseForm, collected: ExpressionValue? = nil,
    figures: ExchangeFigures? = nil
  ) {
    self.response = response
    self.form = form
    self.collected = collected
    self.figures = figures ?? response.figures
  }

  /// The summary for reports.
  var summary: HTTPSummary {
    HTTPSummary(
      method: response.method.name, url: response.url.description, status: response.status,
      redirects: response.redirects.count, savedTo: response.savedTo, cache: response.cache,
      staleReason: response.staleReason?.message, figures: figures)
  }

  var isJSON: Bool {
    switch form {
    case .json: true
    case .text: false
    case .auto: response.head.contentType?.isJSON == true
    }
  }
}

extension Answer: Hashable {
  package static func == (left: Answer, right: Answer) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The parts of a response that expressions can read.
struct AnswerValues: Sendable {
  let status: Int
  let isStale: Bool
  let headers: ScopedValue
  /// `nil` if no expression reads it, or if it was saved to a file.
  let body: CapturedBody?
  let collected: ScopedValue?

  /// - Parameters:
  ///   - keepsBody: Whether an expression reads the body.
  ///   - isSecret: Whether all of it is secret, whatever the mask covers.
  init(
    _ answer: Answer, keepsBody: Bool, mask: SecretMask?, isSecret: Bool = false,
    spool: CaptureSpool
  ) {
    status = answer.response.status
    isStale = answer.response.isStale
    var headers = AnswerValues.headers(answer.response.headers, mask)
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
    self.headers = ScopedValue(ExpressionValue(headers))
    var type: String?
    if case .string(let text)? = headers["content-type"] { type = text }
    body = kept.body?.whole.map {
      CapturedBody(text: $0, isJSON: kept.isJSON, type: type, spool: spool)
    }
    collected = kept.collected?.whole
      .flatMap { try? ExpressionValue.json($0, from: "the record") }
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

extension HTTPResponse {
  /// The role of the HTTP cache; `nil` if none was involved.
  fileprivate var cache: String? {
    if case .bypass = cacheStatus { nil } else { cacheStatus.name }
  }
}
