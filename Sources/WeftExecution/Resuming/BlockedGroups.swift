import WeftDefinition
import WeftPlanning

/// The groups that tolerated a failure, and in which something else did not run for a reason outside of them: a
/// failure elsewhere, or the end of the run. Such a group is not done when that reason has gone.
struct BlockedGroups {
  private(set) var addresses: Set<StepAddress> = []

  init(_ plan: Plan, _ past: RecordedRun, _ index: PlanAddresses) {
    let tolerant = Set(past.groups.filter { $1.hasToleratedFailure }.keys)
    guard !tolerant.isEmpty else { return }
    for (address, known) in past.steps {
      guard let cause = known.blockingCause, let step = index.step(at: address) else { continue }
      var isTolerated = false
      for group in plan.allEnclosingGroups(ofGroup: plan.steps[step].group) {
        guard
          let around = plan.groups[group].address.flatMap({ planned in
            index.instances(of: planned, around: address).first { past.groups[$0] != nil }
          })
        else { continue }
        if case .inside(let culprit) = cause,
          around.innermostElement.map(culprit.isInside) ?? true,
          let inner = index.innermostGroup(at: culprit),
          plan.allEnclosingGroups(ofGroup: inner).contains(group)
        {
          break
        }
        // The groups around it are not done either.
        isTolerated = isTolerated || tolerant.contains(around)
        if isTolerated { addresses.insert(around) }
      }
    }
  }
}

extension RecordedGroup {
  fileprivate var hasToleratedFailure: Bool {
    guard case .finished(let end) = state else { return false }
    return end.conclusion == .success && end.outcome == .failure
  }
}

/// Why a step that did not fail has not run to its end.
private enum BlockingCause {
  /// Something of the run: a step, or a group whose time had passed.
  case inside(StepAddress)
  case outside
}

extension RecordedStep {
  fileprivate var blockingCause: BlockingCause? {
    switch state {
    case .skipped(.dependencyFailed(let culprit)), .skipped(.heldBack(let culprit)):
      .inside(culprit)
    case .skipped(.cancelled(let reason)): reason.blockingCause
    case .finished(let end, _): end.cancellation?.blockingCause
    case .skipped(.condition), .skipped(.notSelected), .queued, .started, .retrying: nil
    }
  }
}

extension CancelReason {
  fileprivate var blockingCause: BlockingCause { culprit.map { .inside($0) } ?? .outside }
}
