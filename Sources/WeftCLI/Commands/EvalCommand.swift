import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlatform

/// `weft eval`: the value of one expression, as JSON.
struct EvalCommand {
  private let invocation: EvalInvocation
  private let console: Console

  init(_ invocation: EvalInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    let contexts: EvalContexts
    do {
      contexts = try EvalContexts(path: invocation.contexts)
    } catch {
      console.errors.write(error.diagnostics)
      return error.exitCode
    }
    do {
      let template = try self.template()
      for reference in template.expressions.flatMap(\.references) {
        try contexts.checkName(of: reference)
      }
      let value = try template.evaluate(in: contexts.scope).value
      console.output.write(value.jsonText(.compact) + "\n")
      return .success
    } catch {
      let file = SourceFile(path: "<expression>", bytes: Array(invocation.expression.utf8))
      console.errors.write([error.diagnostic(in: file)])
      return .failure
    }
  }

  /// Parses the text as an expression; if that fails, as text with `${{ }}`. An expression can only contain `${{` in
  /// quotes.
  private func template() throws(ExpressionError) -> Template {
    let text = invocation.expression
    do {
      return Template(try Expression.parse(text))
    } catch {
      let template = Template.parse(text)
      if template.isLiteral { throw error }
      return template
    }
  }
}
