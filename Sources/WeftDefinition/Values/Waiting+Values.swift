import WeftDiagnostics
package import WeftExpressions

/// Durations and moments of a wait from the results of expressions.
extension Waiting {
  package static func duration(_ value: ExpressionValue) throws(ExpressionProblem) -> Duration {
    try ComputedKey.duration(value, allowsZero: true)
  }

  package static func moment(_ value: ExpressionValue) throws(ExpressionProblem) -> WallMoment {
    guard case .string(let text) = value else {
      throw ComputedKey.mismatch(value, "a time like \"\(MomentText.Fault.example)\"")
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
