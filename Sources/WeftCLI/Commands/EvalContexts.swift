import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftExpressions
import WeftJSON
import WeftPlanning
import WeftPlatform

/// The values for `weft eval`.
struct EvalContexts {
  let scope: ValueScope
  private let names: [String]

  /// The reason why there are none, and the exit code.
  struct Rejected: Error {
    let diagnostics: [Diagnostic]
    let exitCode: ExitCode
  }

  /// The contexts of workflow expressions, with or without a value, and GitHub's `job`.
  private static let known = ValueContext.allCases.map(\.rawValue) + ["job"]

  /// - Parameter path: `-` is standard input; `nil` means no values.
  init(path: String?) throws(Rejected) {
    let contexts = try path.map { path throws(Rejected) in try EvalContexts.read(path) }
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

  private static func read(_ path: String) throws(Rejected) -> ExpressionObject {
    let bytes: [UInt8]
    do {
      bytes = try FileReading.bytes(of: path)
    } catch {
      let name = path == "-" ? "standard input" : "\"\(path)\""
      throw Rejected(
        diagnostics: [
          Diagnostic(.error, code: "W0000", message: "\(name) \(error.message)", place: nil)
        ], exitCode: .usage)
    }
    let file = SourceFile(path: path == "-" ? "<stdin>" : path, bytes: bytes)
    let (root, diagnostics) = JSONReader.read(file)
    guard let root, !diagnostics.contains(where: \.isError) else {
      throw Rejected(diagnostics: diagnostics, exitCode: .failure)
    }
    let value = ExpressionValue(JSONValue(root))
    guard case .object(let object) = value else {
      let fault = Diagnostic(
        .error, code: "W0104", message: "the contexts are \(value.kindName), but must be an object",
        place: root.place, help: "for example: { \"inputs\": { \"version\": \"1.2.0\" } }")
      throw Rejected(diagnostics: [fault], exitCode: .failure)
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
