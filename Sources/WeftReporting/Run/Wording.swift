import WeftExecution

extension CancelReason {
  /// Why, in words: after "cancelled:".
  var sentence: String {
    switch self {
    case .requested: "requested"
    case .signal("INT"): "interrupted"
    case .signal(let name): "received SIG\(name)"
    case .runTimeout(let limit): "the run's time limit of \(ShownDuration.limit(limit)) passed"
    case .groupTimeout(let group, let limit):
      "the time limit of \"\(group)\", \(ShownDuration.limit(limit)), passed"
    case .failure(let step): "\"\(step)\" failed"
    case .raceWon(_, let winner): "\"\(winner)\" won the race"
    case .joined(let group): "enough of \"\(group)\" had succeeded"
    }
  }
}

extension SkipReason {
  /// Why, in words: after "skipped", or "cancelled" as its outcome says.
  var sentence: String {
    switch self {
    case .dependencyFailed(let step): "because \"\(step)\" failed"
    case .heldBack(let step): "as nothing starts after \"\(step)\" failed"
    case .condition(let step): "as the condition of \"\(step)\" is false"
    case .notSelected: "as it was not asked for"
    case .cancelled(let reason): "before the start (\(reason.sentence))"
    }
  }

  /// `skipped` or `cancelled`.
  var verb: String { outcome.rawValue }
}

/// A number with its noun.
func counted(_ count: Int, _ noun: String) -> String {
  count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
}
