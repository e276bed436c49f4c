import WeftDiagnostics
import WeftJSON

/// `wait` and `approve`: steps that run nothing.
extension DecodingPass {
  mutating func waiting(_ node: JSONNode) -> Waiting? {
    let field = Field("wait")
    switch node.kind {
    case .string, .number:
      if let text = wholeExpression(node, at: .waiting) { return .computedDuration(text) }
      return duration(node, field, allowsZero: true).map(Waiting.duration)
    case .object: return waitingForMoment(node, field)
    default:
      reportType(
        of: node, field, wanted: "a duration like \"30s\", or { \"until\": … }",
        help: "write \"30s\", or { \"until\": \"\(MomentText.Fault.example)\" }")
      return nil
    }
  }

  private mutating func waitingForMoment(_ node: JSONNode, _ field: Field) -> Waiting? {
    var waiting: Waiting?
    var isMissing = true
    for member in node.members {
      guard let _: WaitKey = key(of: member, in: .wait) else {
        isMissing = isMissing && isIgnored(member.key)
        continue
      }
      isMissing = false
      waiting = moment(member.value, field.part("until"))
    }
    if isMissing {
      report(
        .control(
          .missingKey(
            path: path(field), key: "until",
            example: "{ \"until\": \"\(MomentText.Fault.example)\" }, or \"30s\" for a duration")),
        at: node)
    }
    return waiting
  }

  private mutating func moment(_ node: JSONNode, _ field: Field) -> Waiting? {
    if let text = wholeExpression(node, at: .waiting) { return .computedMoment(text) }
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "a moment like \"\(MomentText.Fault.example)\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return .until(try MomentText.moment(from: text))
    } catch {
      report(
        .control(.invalidMoment(path: path(field), text: text, fault: error)), at: node)
      return nil
    }
  }

  mutating func approval(_ node: JSONNode) -> Approval? {
    let field = Field("approve")
    switch node.kind {
    case .string: return message(node, field)
    case .object: break
    default:
      reportType(
        of: node, field, wanted: "a text, or { \"message\": … }",
        help: "write what is asked, such as \"Publish this version?\"")
      return nil
    }
    var approval: Approval?
    var isMissing = true
    for member in node.members {
      guard let _: ApproveKey = key(of: member, in: .approve) else {
        isMissing = isMissing && isIgnored(member.key)
        continue
      }
      isMissing = false
      approval = message(member.value, field.part("message"))
    }
    if isMissing {
      report(
        .control(
          .missingKey(
            path: path(field), key: "message",
            example: "{ \"message\": \"Publish this version?\" }")), at: node)
    }
    return approval
  }

  private mutating func message(_ node: JSONNode, _ field: Field) -> Approval? {
    filledText(node, field, at: .message, wanted: "what is asked of the person")
      .map(Approval.init(message:))
  }
}
