import WeftDiagnostics

extension Template {
  /// Evaluates the template.
  ///
  /// With ``Escaping/plain``, the value of an ``onlyExpression`` keeps its type; everything else yields a string.
  /// Within text, `null`, arrays and objects are faults, because `Object` in the middle of a command is never intended.
  /// A template with faults throws the first one.
  package func evaluate(
    in scope: some ExpressionScope, escaping: Escaping = .plain,
    limits: ExpressionLimits = .standard
  ) throws(ExpressionError) -> Evaluation {
    if let fault = faults.first { throw fault }
    if isLiteral { return Evaluation(.string(text)) }
    if escaping == .plain, let onlyExpression {
      return try onlyExpression.evaluate(in: scope, limits: limits)
    }
    let room = AllocationBudget(limit: limits.madeBytes)
    var writer = TemplateWriter(
      evaluator: Evaluator(room: room), escaping: escaping)
    for segment in segments { try writer.write(segment, in: scope) }
    try writer.checkPath()
    return Evaluation(.string(writer.text), isSecret: writer.evaluator.isSecret)
  }
}
