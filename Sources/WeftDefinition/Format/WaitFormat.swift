import WeftDiagnostics
import WeftJSON

/// `wait` and `approve`: steps that run nothing.
extension DecodingPass {
  mutating func waiting(_ node: JSONNode, _ field: Field) -> Waiting? {
    switch node.kind {
    case .string, .number:
      if let text = wholeExpression(node, at: .waiting) { return .computedDuration(text) }
      return duration(node, field, allowsZero: true).map(Waiting.duration)
    case .object:
      var draft = WaitDraft()
      read(node, field, into: &draft)
      return draft.waiting
    default:
      reportType(
        of: node, field, wanted: "a duration like \"30s\", or { \"until\": … }",
        help: "write \"30s\", or { \"until\": \"\(MomentText.ParseError.example)\" }")
      return nil
    }
  }

  fileprivate mutating func moment(_ node: JSONNode, _ field: Field) -> Waiting? {
    if let text = wholeExpression(node, at: .waiting) { return .computedMoment(text) }
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "a time like \"\(MomentText.ParseError.example)\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return .until(try MomentText.moment(from: text))
    } catch {
      report(.invalidMoment(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }

  mutating func approval(_ node: JSONNode, _ field: Field) -> Approval? {
    if node.kind == .string {
      return Approval.message.read(&self, node, field).map(Approval.init(message:))
    }
    guard
      isObject(
        node, field, wanted: "a string, or { \"message\": … }",
        help: "write the question, such as \"Publish this version?\"")
    else { return nil }
    var approval = Approval(message: "")
    read(node, field, into: &approval)
    return approval.message.isEmpty ? nil : approval
  }
}

struct WaitDraft: FormatObject {
  var waiting: Waiting?

  static let format = ObjectFormat<WaitDraft>("\"wait\"") {
    FormatKey(
      "until", ValueFormat { $0.moment($1, $2) }, "Moment", "A moment in the format of RFC 3339.",
      schema: #"""
        {"anyOf": ["@moment", "@expression"], "examples": ["2026-11-21T09:00:00Z"]}
        """#, synonyms: "at time date",
      required: "{ \"until\": \"2026-11-21T09:00:00Z\" }, or \"30s\" for a duration"
    ) { $0.waiting = $1 }
  }
}

extension Approval: FormatObject {
  fileprivate static let message = ValueFormat<String>.text(
    "a question", at: .message)

  static let format = ObjectFormat<Approval>("\"approve\"") {
    FormatKey(
      "message", message, "Question",
      "The question for the approver; it can contain expressions.",
      synonyms: "prompt text title question description",
      required: "{ \"message\": \"Publish this version?\" }"
    ) { $0.message = $1 }
  }
}

extension Diagnostic {
  static func invalidMoment(path: String, text: String, fault: MomentText.ParseError) -> Diagnostic
  {
    Diagnostic(.invalidMoment, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
  }
}
