import WeftDefinition

/// Why a failure is not tried again, though there is a `retry`.
enum RetryRefusal: Sendable, Hashable {
  /// No policy is for failures of this kind.
  case notListed(ErrorClass?)
  /// All policies that are for the failure have a `when`, and none says yes.
  case conditionIsFalse
  /// So many attempts have followed because of the policy that takes the failure.
  case usedUp(Int)
  /// The attempt would begin later than `within` after the first.
  case tooLate(Duration)
  /// The other side wants no attempt before that.
  case askedToWaitTooLong(Duration, most: Duration)
  /// A request by this method may have been done, and doing it twice is not like doing it once.
  case mayHaveBeenDone(String)
  /// The run's ``RetryBudget`` is spent.
  case budgetSpent(Int)

  /// The reason in a sentence without its subject, after "not tried again:".
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
