import WeftDiagnostics

extension Template {
  /// What the template comes to.
  ///
  /// With ``Escaping/plain`` the value of an ``onlyExpression`` is given as it is; all else is text.
  /// In text `null`, arrays and objects are faults, since `Object` in the middle of a command is
  /// never what was meant. A template with faults throws the first.
  package func evaluate(
    in scope: some ExpressionScope, escaping: Escaping = .plain,
    limits: ExpressionLimits = .standard
  ) throws(ExpressionFault) -> Evaluation {
    if let fault = faults.first { throw fault }
    if isLiteral { return Evaluation(.string(text)) }
    if escaping == .plain, let onlyExpression {
      return try onlyExpression.evaluate(in: scope, limits: limits)
    }
    let room = MadeBytes(limit: limits.madeBytes)
    var writer = TemplateWriter(
      evaluator: Evaluator(room: room), escaping: escaping)
    for segment in segments { try writer.write(segment, in: scope) }
    try writer.checkPath()
    return Evaluation(.string(writer.text), isSecret: writer.evaluator.isSecret)
  }
}
