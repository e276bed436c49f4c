public import WeftDiagnostics
package import WeftJSON

/// Another workflow file, run as part of the graph.
public struct NestedWorkflow: Sendable, Hashable {
  /// The path as written: relative to the file that names it.
  public var path: String
  /// Values for the other file's inputs, in the order of the file.
  public var parameters: [Parameter]
  /// The decoded file; `nil` until it has been read.
  public var workflow: Workflow?
  /// Whether the file could not be read, or is invalid by itself, and this was reported.
  package var isRejected = false
  /// The path, with its quotes.
  public var place: Written<SourceRange?>

  public init(
    path: String, parameters: [Parameter] = [], workflow: Workflow? = nil,
    place: SourceRange? = nil
  ) {
    self.path = path
    self.parameters = parameters
    self.workflow = workflow
    self.place = Written(place)
  }
}

extension NestedWorkflow: ActionModel {
  static let rules = ActionRules(
    "workflow", "runs another file", result: .workflow, settings: [],
    remedies: [
      "maxParallel": "set it in the other file",
      "pool": "put it on the steps of the other file that need it: each takes its own slots",
    ], remedy: { _ in "put it on the steps of the other file that need it" })

  package func check(_ values: inout BuiltValues) { parameters.check(&values) }
  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    parameters.visitTexts(visit)
  }
  package var repetition: Repetition { .unknown }
  package var keepsResults: Bool { false }
  package var forecast: DurationForecast { .planned(.zero) }
  package func obstacle(toReading field: StepField) -> ResultObstacle? { nil }

  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    "runs the steps of \(path)"
  }

  package var remarks: [String] { parameters.remarks }

  package func write(to writer: inout JSONWriter) {
    writer.member("workflow", path)
    writer.list("with", parameters.map(\.name))
  }
}

extension FormatKey<StepDraft> {
  static var workflow: FormatKey {
    action(
      .workflow, "Another file", "The path of a workflow file, relative to this one.",
      schema: #"""
        {"$ref": "filledLiteralText", "not": {"pattern": "^/"}, "examples": ["deploy.json"]}
        """#,
      synonyms: "uses call subworkflow template flow", traits: .graphText
    ) { pass, node, field in pass.nestedWorkflow(node, field).map(StepAction.workflow) }
  }
}

extension DecodingPass {
  /// Reads the path alone; the caller of the decoder reads the file, because it knows where this one is.
  fileprivate mutating func nestedWorkflow(_ node: JSONNode, _ field: Field) -> NestedWorkflow? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "the path of a workflow file",
        help: node.kind == .object ? "pass its inputs with \"with\" next to it" : nil)
      return nil
    }
    guard let path = filledText(node, field, wanted: "the path of a workflow file") else {
      return nil
    }
    guard path.utf8.first != UInt8(ascii: "/") else {
      report(.absolutePath(path: self.path(field), text: path), at: node)
      return nil
    }
    namesOtherFiles = true
    return NestedWorkflow(path: path, place: node.range)
  }
}

extension Step {
  /// A step that runs another workflow as part of the graph.
  ///
  /// - Parameters:
  ///   - workflow: The workflow to run. Messages name it by its file, or else by its name.
  ///   - parameters: Values for its inputs.
  public init(
    _ id: StepID = .unnamed, workflow: Workflow, with parameters: [Parameter] = [],
    needs: [Need]? = nil, timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    let path = workflow.source.value?.path ?? workflow.name ?? ""
    self.init(
      id: id.given,
      action: .workflow(NestedWorkflow(path: path, parameters: parameters, workflow: workflow)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }
}

extension Diagnostic {
  /// The absolute path of another file.
  static func absolutePath(path: String, text: String) -> Diagnostic {
    Diagnostic(
      .absolutePath, "\(path) is the absolute path \(quoted(text)), expected a relative one",
      help: "it is relative to the file that names it")
  }
}
