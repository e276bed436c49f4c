import WeftDefinition
import WeftExpressions
extension Waiting {
  static func moment(_ value: ExpressionValue) throws(ExpressionProblem) -> WallMoment { WallMoment(nanoseconds: 0, text: "") }
}
