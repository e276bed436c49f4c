import WeftEvents
import WeftExpressions

extension Expression {
  /// The value as part of a text: neither `null` nor an array nor an object.
  func text(in scope: StepScope) throws(ExpressionError) -> ScopedText {
    let evaluation = try evaluate(in: scope)
    return ScopedText(text: try text(of: evaluation.value), isSecret: evaluation.isSecret)
  }

  func text(of value: ExpressionValue) throws(ExpressionError) -> String {
    switch value {
    case .null: throw ExpressionError(.nothingToWrite(text), range)
    case .array, .object: throw ExpressionError(.notWritable(text, found: value.kindName), range)
    case .boolean, .number, .string: return value.primitiveText ?? ""
    }
  }
}

extension Template {
  /// The text that the template evaluates to.
  func text(in scope: StepScope) throws(ExpressionError) -> ScopedText {
    if let onlyExpression { return try onlyExpression.text(in: scope) }
    let evaluation = try evaluate(in: scope)
    return ScopedText(
      text: evaluation.value.primitiveText ?? "", isSecret: evaluation.isSecret)
  }

  /// The text that the template evaluates to; `nil` if it is a single expression that evaluates to `null`.
  func optionalText(in scope: StepScope) throws(ExpressionError) -> ScopedText? {
    guard let onlyExpression else { return try text(in: scope) }
    let evaluation = try onlyExpression.evaluate(in: scope)
    if case .null = evaluation.value { return nil }
    return ScopedText(
      text: try onlyExpression.text(of: evaluation.value), isSecret: evaluation.isSecret)
  }

  /// The arguments that it evaluates to: one for each element of an array, else one.
  func arguments(in scope: StepScope) throws(ExpressionError) -> [ScopedText] {
    guard let onlyExpression else { return [try text(in: scope)] }
    let evaluation = try onlyExpression.evaluate(in: scope)
    var values = [evaluation.value]
    if case .array(let array) = evaluation.value { values = array.elements }
    var texts: [ScopedText] = []
    for value in values {
      texts.append(
        ScopedText(text: try onlyExpression.text(of: value), isSecret: evaluation.isSecret))
    }
    return texts
  }
}
