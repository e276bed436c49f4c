import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning

extension PlannedText {
  /// Evaluates the text; a failure names its location.
  ///
  /// - Parameter errorClass: `expression`, or `output` if the step's output caused the failure.
  func evaluated<Value>(
    in plan: Plan, errorClass: ErrorClass = .expression,
    _ evaluate: (Template) throws(ExpressionError) -> Value
  ) throws(StepFailure) -> Value {
    do throws(ExpressionError) { return try evaluate(template) } catch {
      throw failure(error, in: plan, errorClass: errorClass)
    }
  }

  func failure(
    _ error: ExpressionError, in plan: Plan, errorClass: ErrorClass = .expression
  ) -> StepFailure {
    let place = plan.place(of: error.range, in: self).map { " (\($0))" } ?? ""
    return StepFailure(
      classes: [errorClass],
      message: "\(site.key) cannot be computed: \(error.message)\(place)", help: error.help)
  }
}

extension Expression {
  /// The value, converted to the type that is needed.
  func value<Value>(
    in scope: StepScope, _ convert: (ExpressionValue) throws(EvaluationError) -> Value
  ) throws(ExpressionError) -> Value {
    let value = try evaluate(in: scope).value
    do throws(EvaluationError) { return try convert(value) } catch {
      throw ExpressionError(error, range)
    }
  }

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
