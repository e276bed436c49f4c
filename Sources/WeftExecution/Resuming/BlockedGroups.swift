import WeftEvents
import WeftPlanning

/// The groups and loops that tolerated a failure while something in them was blocked from outside, by a failure
/// elsewhere or by the end of the run, and the groups around them. They are not done once that cause is gone.
///
/// Computed once from the records, for ``ResumePolicy``, which does not treat these groups as done.
struct BlockedGroups {
  private(set) var addresses: Set<StepAddress> = []

  init(_ plan: Plan, _ recorded: RunState, _ index: PlanAddresses) {
    let tolerant = recorded.tolerantGroups
    guard !tolerant.isEmpty else { return }
    for (address, known) in recorded.steps {
      guard let cause = known.blockingCause, let step = index.step(at: address) else { continue }
      var isTolerated = false
      func visit(_ group: StepAddress, isInside: (StepAddress) -> Bool) -> Bool {
        if case .inside(let causingStep) = cause,
          group.innermostElement.map(causingStep.isInside) ?? true,
          isInside(causingStep)
        {
          return false
        }
        isTolerated = isTolerated || tolerant.contains(group)
        if isTolerated { addresses.insert(group) }
        return true
      }
      if let loop = address.loop, recorded.groups[loop] != nil,
        !visit(loop, isInside: { $0.isInElement(of: loop) })
      {
        continue
      }
      for group in plan.allEnclosingGroups(ofGroup: plan.steps[step].group) {
        guard let planned = plan.groups[group].address else { continue }
        // The element comes before its loop.
        let around = index.instances(of: planned, around: address)
          .filter { recorded.groups[$0] != nil }
        let isOutside = around.allSatisfy { around in
          visit(around) { causingStep in
            guard let inner = index.innermostGroup(at: causingStep) else { return false }
            return plan.allEnclosingGroups(ofGroup: inner).contains(group)
          }
        }
        // Other members made the race or join succeed.
        let isDecided =
          plan.groups[group].endsEarly
          && around.contains { recorded.groups[$0]?.hasSucceeded == true }
        if !isOutside || isDecided { break }
      }
    }
  }
}

extension RunState {
  /// Groups whose failure was tolerated, and loops that succeeded though an element failed.
  fileprivate var tolerantGroups: Set<StepAddress> {
    var found: Set<StepAddress> = []
    for (address, group) in groups {
      guard let end = group.end, end.outcome == .failure else { continue }
      if end.conclusion == .success { found.insert(address) }
      if let loop = address.loop, groups[loop]?.hasSucceeded == true { found.insert(loop) }
    }
    for (address, step) in steps {
      guard case .finished(let end, _) = step.state, end.conclusion == .failure,
        let loop = address.loop, groups[loop]?.hasSucceeded == true
      else { continue }
      found.insert(loop)
    }
    return found
  }
}

/// The cause that kept a step that did not fail from running to its end.
private enum BlockingCause {
  /// A failed step of the run, or a group whose time limit passed.
  case inside(StepAddress)
  case outside
}

extension RecordedStep {
  fileprivate var blockingCause: BlockingCause? {
    switch state {
    case .skipped(.dependencyFailed(let causingStep)), .skipped(.heldBack(let causingStep)):
      .inside(causingStep)
    case .skipped(.cancelled(let reason)): reason.blockingCause
    case .finished(let end, _): end.cancellation?.blockingCause
    case .skipped(.condition), .skipped(.notSelected), .queued, .started, .retrying: nil
    }
  }
}

extension CancelReason {
  fileprivate var blockingCause: BlockingCause { causingStep.map { .inside($0) } ?? .outside }
}
