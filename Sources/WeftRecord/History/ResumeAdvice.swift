import WeftExecution
package import WeftPlanning

/// What `weft resume` would do with a run, as far as its record tells.
package struct ResumeAdvice: Sendable, Hashable {
  /// Steps that are known to be done again, in the order of the record.
  package var again: [StepAddress] = []
  /// Steps that were cut off: they start again if that does no harm, or somebody says that it does none.
  package var inDoubt: [StepAddress] = []
  /// How many steps of the plan had not been told of.
  package var unmentioned = 0

  package init(_ detail: RunDetail) {
    for address in detail.order {
      guard let step = detail.past.steps[address] else { continue }
      if detail.past.isInDoubt(address) {
        inDoubt.append(address)
      } else if step.startsAgain {
        again.append(address)
      }
    }
    // Elements are not counted in the plan; what they are of is told of as a group.
    let mentioned = detail.order.count { !$0.hasElement }
    let fanOuts = detail.past.groups.count { address, group in
      group.elements != nil && !address.hasElement
    }
    unmentioned = max(0, (detail.past.start?.stepCount ?? 0) - mentioned - fanOuts)
  }
}

extension RecordedStep {
  /// Whether it is not done, and that is no decision of the workflow's or of whoever began the run.
  fileprivate var startsAgain: Bool {
    switch state {
    case .finished(let end, _): end.conclusion != .success && end.cancellation?.isDecided != true
    case .skipped(.cancelled(let reason)): !reason.isDecided
    case .skipped(.condition), .skipped(.notSelected): false
    case .skipped, .queued, .started, .retrying: true
    }
  }
}

extension CancelReason {
  /// Whether it stands: others have done what was wanted.
  fileprivate var isDecided: Bool {
    switch self {
    case .raceWon, .joined: true
    case .requested, .signal, .runTimeout, .groupTimeout, .failure, .recordLost: false
    }
  }
}
