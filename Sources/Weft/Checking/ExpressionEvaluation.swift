import WeftDiagnostics
import WeftEvents
import WeftExecution
package import WeftExpressions
public import WeftJSON

/// Evaluates single expressions outside of a run.
package struct ExpressionEvaluation {
  private let scope: ValueScope
  private let names: [String]

  /// The contexts of workflow expressions, with or without a value, and GitHub's `job`.
  private static let known = ValueContext.allCases.map(\.rawValue) + ["job"]

  /// - Parameter contexts: The values, by the names of the contexts.
  package init(in contexts: ExpressionObject) {
    names = contexts.members.map(\.key) + ExpressionEvaluation.known
    scope = ValueScope(
      contexts, statuses: ExpressionEvaluation.statuses(in: contexts),
      files: FileFunctions(below: "."))
  }

  package func value(of expression: String) throws(ExpressionError) -> ExpressionValue {
    let template = try ExpressionEvaluation.template(expression)
    for reference in template.expressions.flatMap(\.references) { try checkName(of: reference) }
    return try template.evaluate(in: scope).value
  }

  /// Parses the text as an expression; if that fails, as text with `${{ }}`. An expression can only contain `${{` in
  /// quotes.
  private static func template(_ expression: String) throws(ExpressionError) -> Template {
    do {
      return Template(try Expression.parse(expression))
    } catch {
      let template = Template.parse(expression)
      if template.isLiteral { throw error }
      return template
    }
  }

  /// Rejects contexts that were not given and do not exist in workflows.
  private func checkName(of reference: ContextReference) throws(ExpressionError) {
    let name = reference.context.lowercased()
    guard !names.contains(where: { $0.lowercased() == name }) else { return }
    throw ExpressionError(
      .unknownContext(
        reference.context, nearest: NearestName(names).nearest(to: reference.context)),
      reference.names[0].range)
  }

  /// Returns the status that GitHub calls `job.status`.
  private static func statuses(in contexts: ExpressionObject) -> Set<StatusFunction> {
    guard case .object(let job) = contexts["job"], case .string(let word) = job["status"],
      let status = StatusFunction(rawValue: word.lowercased())
    else { return [.success] }
    return [status]
  }
}

extension JSONValue {
  /// Evaluates one expression, or a text with `${{ … }}`, as `weft eval` does.
  ///
  /// `hashFiles` and `glob` read files below the current directory.
  ///
  /// - Parameter contexts: The values that the expression can read, such as `["inputs": ["version": "1.2.0"]]`.
  /// - Throws: ``WorkflowError`` with the place of the error in the expression.
  public init(
    evaluating expression: String, in contexts: JSONObject = [:]
  ) throws(WorkflowError) {
    guard case .object(let values) = ExpressionValue(.object(contexts)) else {
      preconditionFailure("an object is no object")
    }
    do {
      self = try ExpressionEvaluation(in: values).value(of: expression).json
    } catch {
      let file = SourceFile(path: "<expression>", bytes: Array(expression.utf8))
      throw WorkflowError(diagnostics: [error.diagnostic(in: file)])
    }
  }
}
