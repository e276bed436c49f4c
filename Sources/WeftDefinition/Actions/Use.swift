public import WeftDiagnostics
package import WeftJSON

/// An action of the embedding program, and its parameters.
public struct ActionCall: Sendable, Hashable {
  /// The planner checks that such an action exists.
  public var name: ActionName
  /// Values by name, in the order of the file.
  public var parameters: [Parameter]
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: ActionName, with parameters: [Parameter] = [], place: SourceRange? = nil) {
    self.name = name
    self.parameters = parameters
    self.place = Written(place)
  }
}

/// The name by which an embedding program registers an action: `[A-Za-z_][A-Za-z0-9_.-]{0,254}`.
public struct ActionName: Sendable, Hashable {
  public let text: String

  /// `nil` if `text` is not a valid name.
  public init?(_ text: String) {
    guard ActionName.fault(in: text) == nil else { return nil }
    self.text = text
  }

  /// The first problem of `text` as a name. The rule is that of ids, except that dots are allowed after the beginning.
  package static func fault(in text: String) -> StepID.ParseError? {
    if text.utf8.first == UInt8(ascii: ".") { return .beginning(".") }
    return StepID.fault(in: String(text.map { $0 == "." ? "-" : $0 }))
  }
}

extension ActionName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid name.
  public init(stringLiteral text: String) {
    guard let name = ActionName(text) else {
      preconditionFailure(
        "\"\(text)\" is not the name of an action: [A-Za-z_][A-Za-z0-9_.-]{0,254}")
    }
    self = name
  }
}

extension ActionName: CustomStringConvertible {
  public var description: String { text }
}

extension ActionCall {
  /// Replaces the text of a parameter by its value.
  package mutating func supply(_ name: String, _ value: JSONValue) {
    for index in parameters.indices where parameters[index].name == name {
      parameters[index].value = .value(value)
    }
  }
}

extension ActionCall: ActionModel {
  static let rules = ActionRules(
    "use", "runs a registered action", result: .action, settings: [],
    remedies: [
      "env": "pass it to the action in \"with\"", "stdin": "pass it to the action in \"with\"",
    ])

  package func check(_ values: inout BuiltValues) { parameters.check(&values) }
  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    parameters.visitTexts(visit)
  }
  package var repetition: Repetition { .unknown }
  package var keepsResults: Bool { false }
  package func obstacle(toReading field: StepField) -> ResultObstacle? { nil }

  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    "runs the action \(name)"
  }

  package var remarks: [String] { parameters.remarks }

  package func write(to writer: inout JSONWriter) {
    writer.member("use", name.text)
    writer.list("with", parameters.map(\.name))
  }
}

extension FormatKey<StepDraft> {
  static var use: FormatKey {
    action(
      .use, "Action",
      "The name of an action that the embedding program has registered.",
      schema: #"""
        {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,254}$",
        "examples": ["resize", "images.resize"]}
        """#,
      synonyms: "action function handler activity plugin", traits: .graphText
    ) { pass, node, field in pass.actionCall(node, field).map(StepAction.use) }
  }
}

extension DecodingPass {
  /// An action of the embedding program.
  fileprivate mutating func actionCall(_ node: JSONNode, _ field: Field) -> ActionCall? {
    let wanted = "the name of an action"
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .object ? "pass values to it with \"with\" next to it" : nil)
      return nil
    }
    guard let text = filledText(node, field, wanted: wanted) else { return nil }
    if let fault = ActionName.fault(in: text) {
      report(.invalidActionName(text, fault: fault), at: node)
    }
    return ActionName(text).map { ActionCall($0, place: node.range) }
  }
}

extension Step {
  /// A step that runs an action which the embedding program has registered.
  ///
  /// - Parameter parameters: The parameters of the action, by name.
  public init(
    _ id: StepID = .unnamed, use action: ActionName, with parameters: [Parameter] = [],
    needs: [Need]? = nil, timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .use(ActionCall(action, with: parameters)), needs: needs,
      timeout: timeout,
      allowFailure: allowFailure)
  }
}

extension Diagnostic {
  fileprivate static func invalidActionName(_ name: String, fault: StepID.ParseError) -> Diagnostic
  {
    Diagnostic(
      .invalidID, "the name \(quoted(name)) \(fault.complaint)",
      help: "an action name has at most \(StepID.longest) characters: letters, digits, \"_\", "
        + "\"-\" and \".\"; it begins with a letter or \"_\"")
  }
}
