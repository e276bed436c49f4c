import WeftDiagnostics
import WeftJSON

/// Accepted responses, polling and pages of a request.
extension HTTPCall.Expectation: FormatObject {
  static let format = ObjectFormat<HTTPCall.Expectation>("\"expect\"") {
    FormatKey(
      "status", ValueFormat { $0.statuses($1, $2) }, "",
      schema: #"""
        {"anyOf": ["@status", {"type": "array", "items": "@status", "minItems": 1}],
        "default": "2xx"}
        """#, at: \.statuses)
    FormatKey(
      "when", .condition, "Condition",
      "Evaluated with the response as self; if it is false, the step fails.",
      synonyms: "if condition", at: \.condition)
  }
}

extension HTTPCall.Polling: FormatObject {
  static let format = ObjectFormat<HTTPCall.Polling>("\"poll\"") {
    FormatKey(
      "until", .condition, "Condition",
      "Evaluated with the response as self; the request is repeated until it is true.",
      synonyms: "at time date",
      required: "{ \"until\": \"self.json.state == 'done'\" }", at: \.until)
    FormatKey(
      "every", .duration(as: .pollEvery), "Interval",
      "The time from a response to the next request; the step holds no slot meanwhile.",
      schema: #"{"default": "5s"}"#,
      synonyms: "interval delay period", at: \.$every)
    FormatKey(
      "max", .integer(as: .pollMax), "Request limit",
      "The maximum number of requests.", schema: #"{"default": 100}"#,
      synonyms: "attempts maxAttempts max_attempts max_retries maxRetries limit times", at: \.$max)
  }
}

extension HTTPCall.Paging: FormatObject {
  static let format = ObjectFormat<HTTPCall.Paging>("\"pages\"") {
    FormatKey(
      "next", ValueFormat { $0.nextPage($1, $2) }, "Next page",
      """
      link for the response's Link header, or an expression that evaluates to a URL, with \
      the page as self; null or an empty text after the last page.
      """, schema: #""@condition""#,
      required: "{ \"next\": \"link\" }", at: \.next)
    FormatKey(
      "max", .integer(as: .pagesMax), "Page limit",
      "The maximum number of pages; more fail the step.", schema: #"{"default": 100}"#,
      synonyms: "attempts maxAttempts max_attempts max_retries maxRetries limit times", at: \.$max)
    FormatKey(
      "collect", .condition, "Collected part",
      """
      An expression that evaluates to an array, with the page as self. Default: the page's \
      JSON.
      """, at: \.collect)
    FormatKey(
      "origins", ValueFormat { $0.pageOrigins($1, $2) }, "Other origins",
      """
      Origins, besides that of the URL, that may receive the request's body, or a method \
      that may change something. None of them receives credentials, certificates or the \
      idempotency key.
      """,
      schema: #"""
        {"type": "array", "items": {"type": "string", "minLength": 1},
        "examples": [["https://api.example.org"]]}
        """#, at: \.origins)
  }
}

extension DecodingPass {
  fileprivate mutating func statuses(_ node: JSONNode, _ field: Field) -> [String]? {
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
      report(.invalidStatus(path: path(field), text: text), at: node)
      return nil
    default:
      reportType(of: node, field, wanted: "a status like 200 or \"2xx\", or an array of these")
      return nil
    }
  }

  fileprivate mutating func pageOrigins(_ node: JSONNode, _ field: Field) -> [String]? {
    elements(
      of: node, field, wanted: "an array of origins",
      help: node.kind == .string ? "write [\(node.sourceText)]" : nil
    ) { pass, element, field in
      pass.requestText(
        element, field, .origin(field.index ?? 0),
        wanted: "an origin such as \"https://example.org\"")
    }
  }

  fileprivate mutating func nextPage(
    _ node: JSONNode, _ field: Field
  ) -> HTTPCall.Paging.Next? {
    if node.stringValue == "link" { return .link }
    return condition(node, field).map(HTTPCall.Paging.Next.computed)
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

extension Diagnostic {
  static func invalidStatus(path: String, text: String) -> Diagnostic {
    Diagnostic(
      .unknownWord, "\(path) is \(quoted(text)), expected a status like 200 or \"2xx\"",
      help: "\"2xx\" means any status from 200 to 299")
  }
}
