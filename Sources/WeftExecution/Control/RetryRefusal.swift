import WeftDefinition

/// The reason why a failure is not retried, though there is a `retry`.
enum RetryRefusal: Sendable, Hashable {
  /// No policy matches failures of this class.
  case notListed(ErrorClass?)
  /// All policies that match the failure have a `when`, and none is true.
  case conditionIsFalse
  /// The policy that matches the failure has used all its attempts.
  case usedUp(Int)
  /// The attempt would begin later than `within` after the first.
  case tooLate(Duration)
  /// The server asks for a longer delay than `maxDelay`.
  case askedToWaitTooLong(Duration, most: Duration)
  /// The server may have performed a request by this method, and performing it twice is not idempotent.
  case mayHaveBeenDone(String)
  /// The run's ``RetryBudget`` is spent.
  case budgetSpent(Int)

  /// The reason as a clause without subject, after "not tried again:".
  var message: String {
    switch self {
    case .notListed(let errorClass?):
      "\"retry\" is not for failures of class \"\(errorClass)\""
    case .notListed(nil): "\"retry\" is not for failures of this kind"
    case .conditionIsFalse: "the condition \"when\" of \"retry\" is false"
    case .usedUp(1): "the one further attempt has been made"
    case .usedUp(let count): "all \(count) further attempts have been made"
    case .tooLate(let limit):
      "the next attempt would begin more than \(DurationText.text(of: limit)) after the first"
    case .askedToWaitTooLong(let wanted, let most):
      "the next attempt is wanted no sooner than in \(DurationText.text(of: wanted)), and \"maxDelay\""
        + " is \(DurationText.text(of: most))"
    case .mayHaveBeenDone(let method):
      "the \(method) request may have been done, and would be done twice without an"
        + " \"idempotencyKey\""
    case .budgetSpent(let count):
      "the run has made all \(count) further attempts that it has for failures of class"
        + " \"network\" and \"http\""
    }
  }
}
