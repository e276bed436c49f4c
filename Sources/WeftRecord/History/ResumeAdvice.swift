import WeftEvents
package import WeftPlanning

/// The predicted effect of `weft resume`, as far as the journal shows.
package struct ResumeAdvice: Sendable, Hashable {
  /// The steps that are known to run again, in journal order.
  package var again: [StepAddress] = []
  /// The interrupted steps: they run again only if they are safe to repeat or the user allows it.
  package var inDoubt: [StepAddress] = []
  /// The number of steps of the plan without a record.
  package var unlisted = 0

  package init(_ detail: RunDetail) {
    for address in detail.order {
      guard let step = detail.recorded.steps[address] else { continue }
      if detail.recorded.isInDoubt(address) {
        inDoubt.append(address)
      } else if step.restarts {
        again.append(address)
      }
    }
    // The plan does not count elements; their loops are recorded as groups.
    let mentioned = detail.order.count { !$0.hasElement }
    let loopCount = detail.recorded.groups.count { address, group in
      group.elements != nil && !address.hasElement
    }
    unlisted = max(0, (detail.recorded.start?.stepCount ?? 0) - mentioned - loopCount)
  }
}

extension RecordedStep {
  /// Whether it is not done, except by a decision of the workflow or an option of the run.
  fileprivate var restarts: Bool {
    switch state {
    case .finished(let end, _): end.conclusion != .success && end.cancellation?.isDecided != true
    case .skipped(.cancelled(let reason)): !reason.isDecided
    case .skipped(.condition), .skipped(.notSelected): false
    case .skipped, .queued, .started, .retrying: true
    }
  }
}

extension CancelReason {
  /// Whether the cancellation is final, because another step has done the work.
  fileprivate var isDecided: Bool {
    switch self {
    case .raceWon, .joined: true
    case .requested, .signal, .runTimeout, .groupTimeout, .failure, .recordLost: false
    }
  }
}
