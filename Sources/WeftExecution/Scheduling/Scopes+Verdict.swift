import WeftEvents
import WeftPlanning

extension Scopes {
  /// The outcome of a group, and its cause.
  struct Verdict: Hashable {
    var outcome: Outcome
    var conclusion: Outcome
    var failure: StepFailure?
    var cause: StepAddress?
    var causingStep: StepAddress?
    var winner: StepAddress?

    init(
      outcome: Outcome, conclusion: Outcome, failure: StepFailure? = nil,
      cause: StepAddress? = nil, causingStep: StepAddress? = nil, winner: StepAddress? = nil
    ) {
      (self.outcome, self.conclusion, self.failure) = (outcome, conclusion, failure)
      (self.cause, self.causingStep, self.winner) = (cause, causingStep, winner)
    }

    /// - Parameter causingStep: The step that the outcome comes from.
    init(_ outcome: Outcome, by causingStep: StepAddress? = nil) {
      self.init(outcome: outcome, conclusion: outcome, causingStep: causingStep)
    }

    /// The verdict on a group or loop that a failure fails, which may be its own.
    init(failing address: StepAddress?, by fault: Failure) {
      self.init(.failure, by: fault.address)
      failure = fault.failure
      cause = fault.address == address ? nil : fault.address
    }

    /// The verdict on a group or loop that succeeded under an earlier engine; `nil` if it did not.
    init?(_ recorded: GroupEnd) {
      guard recorded.conclusion == .success else { return nil }
      self.init(
        outcome: recorded.outcome, conclusion: recorded.conclusion, failure: recorded.failure,
        cause: recorded.cause, winner: recorded.winner)
    }

    /// The verdict on a loop that did not run to its end, for this reason.
    init(_ reason: SkipReason) {
      self.init(reason.outcome, by: NodeResult(reason, failedBefore: false).causingStep)
    }
  }
}

/// The reason why a group succeeded before all its members ended.
struct GroupSuccess: Sendable, Hashable {
  /// The member that won; `nil` for a join.
  var winner: StepAddress?
}
