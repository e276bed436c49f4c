package import WeftDiagnostics
package import WeftJSON

/// A request for a person's approval.
public struct Approval: Sendable, Hashable {
  /// The message for the approver; may contain expressions.
  public var message: String

  public init(message: String) {
    self.message = message
  }
}

extension Approval: ActionModel {
  static let rules = ActionRules("approve", "waits for approval", result: .step, settings: ["env"])

  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    visit(.message, message, nil)
  }

  package var repetition: Repetition { .unknown }
  package var keepsResults: Bool { false }
  package var forecast: DurationForecast { .unforeseeable }

  package func obstacle(toReading field: StepField) -> ResultObstacle? {
    field.isOfProgram ? .runsNothing : nil
  }

  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    "asks: " + message.firstLine(ellipsis)
  }

  package func write(to writer: inout JSONWriter) {
    writer.object("approve") { $0.member("message", message) }
  }
}

extension FormatKey<StepDraft> {
  static var approve: FormatKey {
    action(
      .approve, "Approval",
      """
      A question for an approver. If the answer is no, the step fails with the class \
      rejected.
      """,
      schema: #"""
        {"anyOf": ["@filledText", "@approval"], "examples": ["Publish this version?",
        {"message": "Publish ${{ inputs.version }}?"}]}
        """#, synonyms: "approval manual input_form"
    ) { pass, node, field in pass.approval(node, field).map(StepAction.approve) }
  }
}

extension DecodingPass {
  fileprivate mutating func approval(_ node: JSONNode, _ field: Field) -> Approval? {
    if node.kind == .string {
      return Approval.message.read(&self, node, field).map(Approval.init(message:))
    }
    let approval = object(
      node, field, from: Approval(message: ""), wanted: "a string, or { \"message\": … }",
      help: "write the question, such as \"Publish this version?\"")
    return approval?.message.isEmpty == false ? approval : nil
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
      required: "{ \"message\": \"Publish this version?\" }", at: \.message)
  }
}

extension Step {
  /// A step that asks for a person's approval, and fails as `rejected` if the answer is no.
  public init(
    _ id: StepID = .unnamed, approve message: String, needs: [Need]? = nil,
    timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .approve(Approval(message: message)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }
}
