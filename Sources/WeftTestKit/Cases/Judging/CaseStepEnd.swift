import WeftDefinition
import WeftEvents
import WeftPlanning

/// The end of a step or group, as an expectation sees it.
struct CaseStepEnd {
  var outcome: StepExpectation.Outcome?
  /// The names by which its reason may be expected.
  var reasons: [String] = []
  var attempts = 0
  var exit: ProgramExit?
  var outputs: [ReportedOutput] = []
  /// The reason why it is not retried.
  var notRetried: String?
  /// A verb phrase.
  var text: String
}

extension CaseRecord {
  /// The end of a step or group; `nil` if there is none of that address.
  func end(of address: StepAddress) -> CaseStepEnd? {
    if let step = steps[address], step.state != nil || groups[address] == nil {
      return CaseRecord.end(of: step)
    }
    return groups[address].map { CaseRecord.end(of: $0) }
  }

  private static func end(of step: StepRecord) -> CaseStepEnd {
    switch step.state {
    case .finished(let end)?, .restored(let end)?, .cached(let end)?:
      let verdict = CaseRecord.verdict(
        end.outcome, end.conclusion, end.failure, end.cancellation)
      return CaseStepEnd(
        outcome: verdict.outcome, reasons: verdict.reasons, attempts: end.attempts,
        exit: end.exit, outputs: end.outputs, notRetried: end.notRetried, text: verdict.text)
    case .skipped(let reason)?:
      let isCancelled = reason.outcome == .cancelled
      return CaseStepEnd(
        outcome: isCancelled ? .cancelled : .skipped,
        reasons: [reason.word] + (isCancelled ? ["cancelled"] : []),
        text: (isCancelled ? "was cancelled (" : "was skipped (") + reason.sentence + ")")
    default:
      return CaseStepEnd(
        outcome: nil, attempts: step.spans.count,
        text: step.spans.isEmpty ? "never started" : "has not ended")
    }
  }

  private static func end(of group: GroupRecord) -> CaseStepEnd {
    guard let end = group.end else {
      return CaseStepEnd(outcome: nil, attempts: group.spans.count, text: "has not ended")
    }
    let verdict = verdict(end.outcome, end.conclusion, end.failure, nil)
    return CaseStepEnd(
      outcome: verdict.outcome, reasons: verdict.reasons, attempts: end.attempts,
      outputs: end.outputs, text: verdict.text)
  }

  private static func verdict(
    _ outcome: Outcome, _ conclusion: Outcome, _ failure: StepFailure?,
    _ cancellation: CancelReason?
  ) -> (outcome: StepExpectation.Outcome, reasons: [String], text: String) {
    switch outcome {
    case .success: return (.success, [], "succeeded")
    case .skipped: return (.skipped, [], "was skipped")
    case .cancelled:
      let reason = cancellation?.word
      return (
        .cancelled, [reason, "cancelled"].compactMap(\.self),
        "was cancelled" + (reason.map { " (\($0))" } ?? "")
      )
    case .failure:
      let isTolerated = conclusion == .success
      let why = failure.map { " (\($0.message))" } ?? ""
      return (
        isTolerated ? .tolerated : .failure, failure?.classes.map(\.name) ?? [],
        (isTolerated ? "failed, which is tolerated" : "failed") + why
      )
    }
  }
}
