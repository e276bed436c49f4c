import WeftDefinition
import WeftEvents
import WeftPlanning

/// Decides whether an attempt succeeded, failed or was cancelled, from its ``AttemptEnd``, and whether a failure is
/// tolerated. ``RunEngine`` calls it at the end of each attempt, before it decides about a retry.
extension StepEnd {
  /// Determines the end of a step from its last attempt.
  ///
  /// - Parameter reason: The reason why the step was asked to stop; `nil` if it was not. An attempt that was stopped
  ///   without one counts as stopped on request.
  static func judging(
    _ attempt: Attempt, _ end: AttemptEnd, cancelledFor reason: CancelReason?, duration: Duration,
    logBytes: Int, outputs: [HandedOn]
  ) -> StepEnd {
    var exit: ProgramExit?
    var failure: StepFailure?
    var cancellation: CancelReason?
    switch end.status {
    case .ended(let programExit):
      exit = programExit
      failure = StepFailure.judging(
        programExit, successCodes: attempt.resolved.successCodes)
    case .timedOut(let limit, let programExit):
      exit = programExit
      failure = .timedOut(after: limit)
    case .stalled(let limit, let programExit):
      exit = programExit
      failure = .stalled(after: limit)
    case .stopped(let programExit):
      exit = programExit
      cancellation = reason ?? .requested
    case .returned, .answered: break
    case .asksAgain: preconditionFailure("\(attempt.address) has not ended")
    case .failed(let reason): failure = reason
    case .misdelivered(let programExit, let reason): (exit, failure) = (programExit, reason)
    }
    let outcome: Outcome =
      if failure != nil { .failure } else if cancellation != nil { .cancelled } else { .success }
    let isTolerated = failure.map { attempt.resolved.allowFailure.tolerates($0.classes) } ?? false
    var judged = StepEnd(
      outcome: outcome, conclusion: isTolerated ? .success : outcome, attempts: attempt.number,
      exit: exit, failure: failure, cancellation: cancellation, duration: duration,
      outputBytes: attempt.output.writtenBytes, outputTruncated: attempt.output.isCut,
      logBytes: UInt64(logBytes), outputs: outputs, leftovers: end.leftovers,
      unkillable: end.unkillable)
    judged.take(from: end)
    return judged
  }

  /// Takes the parts of an attempt's end that do not depend on its outcome.
  mutating func take(from end: AttemptEnd) {
    boxedUsage = end.boxedUsage
    if end.isOfRequest { http = end.request?.summary }
  }
}

extension StepFailure {
  static func stalled(after limit: Duration) -> StepFailure {
    StepFailure(
      classes: [.stall], message: "wrote nothing for \(DurationText.text(of: limit)), and was ended"
    )
  }

  /// The failure that an exit status means; `nil` if it means success.
  static func judging(_ exit: ProgramExit, successCodes: [Int]) -> StepFailure? {
    switch exit {
    case .code(let code):
      guard !successCodes.contains(code) else { return nil }
      return StepFailure(classes: [.exit(code), .exit], message: "exited with code \(code)")
    case .signal(let name):
      return StepFailure(
        classes: [.signal(name), .signal], message: "was ended by signal \(name)")
    }
  }
}
