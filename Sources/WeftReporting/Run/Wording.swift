import WeftDefinition
import WeftEvents
import WeftPlanning

extension CancelReason {
  /// The reason in words, for use after "cancelled:".
  var sentence: String {
    switch self {
    case .requested: "on request"
    case .signal("INT"): "interrupted"
    case .signal(let name): "received SIG\(name)"
    case .runTimeout(let limit): "the run's time limit of \(ShownDuration.limit(limit)) passed"
    case .groupTimeout(let group, let limit):
      "the time limit of \"\(group)\", \(ShownDuration.limit(limit)), passed"
    case .failure(let step): "\"\(step)\" failed"
    case .raceWon(_, let winner): "\"\(winner)\" won the race"
    case .joined(let group): "enough of \"\(group)\" had succeeded"
    case .recordLost: "the journal of the run could not be written"
    }
  }
}

extension SkipReason {
  /// The reason in words, for use after "skipped", or "cancelled" depending on its outcome.
  var sentence: String {
    switch self {
    case .dependencyFailed(let step): "because \"\(step)\" failed"
    case .heldBack(let step): "because nothing starts after \"\(step)\" failed"
    case .condition(let group): "because the condition of \"\(group)\" is false"
    case .notSelected: "because it was not selected"
    case .cancelled(let reason): "before the start (\(reason.sentence))"
    }
  }

  /// Returns the phrase for one step: `skipped because "build" failed`, `skipped: its condition is false`.
  func phrase(of step: StepAddress) -> String {
    switch self {
    case .condition(of: step): "skipped: its condition is false"
    case .condition(let group): "skipped: the condition of \"\(group)\" is false"
    case .dependencyFailed, .heldBack, .cancelled, .notSelected: "\(verb) \(sentence)"
    }
  }

  /// Whether the summary explains it; not if it was requested.
  var isReported: Bool {
    switch self {
    case .notSelected, .cancelled(.raceWon), .cancelled(.joined): false
    case .dependencyFailed, .heldBack, .condition, .cancelled: true
    }
  }

  /// The verb `skipped` or `cancelled`.
  var verb: String { outcome.rawValue }
}

extension SkipList.Cause {
  /// Returns the phrase for `count` steps.
  func phrase(of count: Int) -> String {
    switch self {
    case .reason(let reason): "\(reason.verb) \(reason.sentence)"
    case .ownConditions:
      count == 1 ? "skipped by its own condition" : "skipped by their own conditions"
    }
  }
}

extension Retry {
  /// The phrase `attempt 2 of 5 in 1.2 s`, for use after the failure.
  var sentence: String {
    let next = delay > .zero ? "in \(ShownDuration.precise(delay))" : "now"
    return "attempt \(attempt + 1) of \(attemptLimit) \(next)"
  }
}

/// Returns a number with its noun.
func counted(_ count: Int, _ noun: String) -> String {
  count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
}
