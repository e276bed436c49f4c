import WeftDefinition
import WeftExpressions
package import WeftHTTP
import WeftJSON

/// What came of a request, and of those that followed from it: the last page's answer.
package final class Answer: Sendable {
  package let response: HTTPResponse
  let form: HTTPCall.ResponseForm
  /// What was collected of all pages.
  let collected: ExpressionValue?
  /// Of all requests.
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

  /// What is told of it.
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

/// What expressions can read of an answer.
struct AnswerValues: Sendable {
  let status: Int
  let isStale: Bool
  let headers: ScopedValue
  /// `nil` where nobody reads it, or a file has it.
  let body: CapturedBody?
  let collected: ScopedValue?

  /// - Parameters:
  ///   - keepsBody: Whether anybody reads the body.
  ///   - isSecret: Whether all of it is, whatever the mask says.
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

  /// Of an answer that came in an earlier part of the run; `nil` of what was secret or is not there.
  init?(_ kept: KeptAnswer, of summary: HTTPSummary?, spool: CaptureSpool) {
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

  /// By names in small letters; several of one name with commas between them (RFC 9110 §5.3).
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

extension KeptText {
  fileprivate var whole: String? {
    if case .text(let text) = self { text } else { nil }
  }
}

extension HTTPResponse {
  /// What a cache had to do with it; `nil` where none had.
  fileprivate var cache: String? {
    if case .bypass = cacheStatus { nil } else { cacheStatus.name }
  }
}
