import Weft
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftPlatform

/// `weft eval`: the value of one expression, as JSON.
struct EvalCommand: Subcommand {
  private let expression: String
  /// The path of the values, `-` for standard input; `nil` if there are none.
  private let contexts: String?

  init(_ parsed: ParsedArguments) {
    expression = parsed.operands[0]
    contexts = parsed.value(of: .contexts)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let contexts = try contexts.map { path throws(CommandFailure) in try EvalCommand.read(path) }
    do {
      let value = try ExpressionEvaluation(in: contexts ?? ExpressionObject([]))
        .value(of: expression)
      console.output.write(value.jsonText(.compact) + "\n")
      return .success
    } catch {
      let file = SourceFile(path: "<expression>", bytes: Array(expression.utf8))
      console.errors.write([error.diagnostic(in: file)])
      return .failure
    }
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
}
