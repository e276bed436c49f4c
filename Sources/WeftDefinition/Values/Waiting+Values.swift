import WeftDiagnostics
package import WeftExpressions

/// Durations and moments of a wait from the results of expressions.
extension Waiting {
  package static func duration(_ value: ExpressionValue) throws(EvaluationError) -> Duration {
    try ComputedKey.duration(value, allowsZero: true)
  }

  package static func moment(_ value: ExpressionValue) throws(EvaluationError) -> WallMoment {
    guard case .string(let text) = value else {
      throw ComputedKey.mismatch(value, "a time like \"\(MomentText.ParseError.example)\"")
    }
    do {
      return try MomentText.moment(from: text)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidMoment.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation)", help: error.help)
    }
  }
}
