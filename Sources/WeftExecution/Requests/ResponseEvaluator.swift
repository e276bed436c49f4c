import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning

/// The evaluator for a request's expressions about its response, which they read as `self`.
struct ResponseEvaluator: Sendable {
  private let scope: StepScope
  private let texts: [HTTPSite: PlannedText]
  private let address: StepAddress
  private let attempt: Int

  init(_ scope: StepScope, _ texts: ArraySlice<PlannedText>, of address: StepAddress, attempt: Int)
  {
    self.scope = scope
    self.address = address
    self.attempt = attempt
    var bare: [HTTPSite: PlannedText] = [:]
    for text in texts {
      if case .http(let site) = text.site, site.isBare { bare[site] = text }
    }
    self.texts = bare
  }

  /// The value of the expression at a site; `nil` if there is none.
  func value(
    at site: HTTPSite, of answer: Answer
  ) throws(StepFailure) -> Evaluation? {
    guard let text = texts[site], let expression = text.template.onlyExpression else { return nil }
    var scope = scope
    let secrets = scope.values.secrets
    var own = NodeValues(outcome: .success, conclusion: .success, attempts: attempt)
    own.isOfRequest = true
    own.answer = AnswerValues(
      answer, keepsBody: true, mask: secrets.hideAnything ? secrets.mask : nil,
      spool: scope.values.spool)
    scope.own = (own, address)
    do throws(ExpressionError) {
      let evaluation = try expression.evaluate(in: scope)
      if evaluation.isSecret { secrets.add(everyTextIn: evaluation.value) }
      return evaluation
    } catch {
      throw StepFailure(error, in: text, of: scope.values.plan)
    }
  }

  /// Whether the expression at a site is true; `nil` if there is none.
  func holds(_ site: HTTPSite, for answer: Answer) throws(StepFailure) -> Bool? {
    try value(at: site, of: answer)?.value.isTruthy
  }

  /// The expression at a site as messages quote it.
  func text(at site: HTTPSite) -> String { texts[site]?.template.onlyExpression?.text ?? "" }
}
