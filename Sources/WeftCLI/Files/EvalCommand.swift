import Weft
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftExpressions
import WeftPlatform

/// `weft eval`: the value of one expression, as JSON.
struct EvalCommand: Subcommand {
  private let expression: String
  /// The path of the values; `nil` if there are none.
  private let contexts: String?

  init(_ parsed: ParsedArguments) {
    expression = parsed.operands[0]
    contexts = parsed.value(of: .contexts)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let contexts = try EvalContexts(path: contexts)
    do {
      let template = try self.template()
      for reference in template.expressions.flatMap(\.references) {
        try contexts.checkName(of: reference)
      }
      let value = try template.evaluate(in: contexts.scope).value
      console.output.write(value.jsonText(.compact) + "\n")
      return .success
    } catch {
      let file = SourceFile(path: "<expression>", bytes: Array(expression.utf8))
      console.errors.write([error.diagnostic(in: file)])
      return .failure
    }
  }

  /// Parses the text as an expression; if that fails, as text with `${{ }}`. An expression can only contain `${{` in
  /// quotes.
  private func template() throws(ExpressionError) -> Template {
    do {
      return Template(try Expression.parse(expression))
    } catch {
      let template = Template.parse(expression)
      if template.isLiteral { throw error }
      return template
    }
  }
}

/// The values for `weft eval`.
struct EvalContexts {
  let scope: ValueScope
  private let names: [String]

  /// The contexts of workflow expressions, with or without a value, and GitHub's `job`.
  private static let known = ValueContext.allCases.map(\.rawValue) + ["job"]

  /// - Parameter path: `-` is standard input; `nil` means no values.
  init(path: String?) throws(CommandFailure) {
    let contexts = try path.map { path throws(CommandFailure) in try EvalContexts.read(path) }
    let object = contexts ?? ExpressionObject([])
    names = object.members.map(\.key) + EvalContexts.known
    scope = ValueScope(object, statuses: EvalContexts.statuses(in: object)) {
      patterns throws(ExpressionError) in
      try FileHash.text(of: patterns, below: ".")
    }
  }

  /// Rejects contexts that were not given and do not exist in workflows.
  func checkName(of reference: ContextReference) throws(ExpressionError) {
    let name = reference.context.lowercased()
    guard !names.contains(where: { $0.lowercased() == name }) else { return }
    throw ExpressionError(
      .unknownContext(
        reference.context, nearest: NearestName(names).nearest(to: reference.context)),
      reference.names[0].range)
  }

  private static func read(_ path: String) throws(CommandFailure) -> ExpressionObject {
    let bytes: [UInt8]
    do {
      bytes = try FileReading.bytes(of: path)
    } catch {
      let name = path == "-" ? "standard input" : "\"\(path)\""
      throw CommandFailure(
        .usage,
        [Diagnostic(.error, code: "W0000", message: "\(name) \(error.message)", place: nil)])
    }
    let file = SourceFile(path: path == "-" ? "<stdin>" : path, bytes: bytes)
    let (root, diagnostics) = JSONReader.read(file)
    guard let root, !diagnostics.contains(where: \.isError) else {
      throw CommandFailure(.failure, diagnostics)
    }
    let value = ExpressionValue(JSONValue(root))
    guard case .object(let object) = value else {
      let fault = Diagnostic(
        .error, code: "W0104", message: "the contexts are \(value.kindName), expected an object",
        place: root.place, help: "for example: { \"inputs\": { \"version\": \"1.2.0\" } }")
      throw CommandFailure(.failure, [fault])
    }
    return object
  }

  /// Returns the status that GitHub calls `job.status`.
  private static func statuses(in contexts: ExpressionObject) -> Set<StatusFunction> {
    guard case .object(let job) = contexts["job"], case .string(let word) = job["status"],
      let status = StatusFunction(rawValue: word.lowercased())
    else { return [.success] }
    return [status]
  }
}
