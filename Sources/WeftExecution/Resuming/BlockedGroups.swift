import WeftDefinition
import WeftPlanning

/// The groups that tolerated a failure, and in which something else did not run for a reason outside of them: a
/// failure elsewhere, or the end of the run. Such a group is not done when that reason has gone.
struct BlockedGroups {
  private(set) var addresses: Set<StepAddress> = []

  init(_ plan: Plan, _ past: RecordedRun, step: (StepAddress) -> Int?) {
    let tolerant = past.groups.filter { _, known in
      guard case .finished(let end) = known.state else { return false }
      return end.conclusion == .success && end.outcome == .failure
    }
    guard !tolerant.isEmpty else { return }
    var groups: [StepAddress: Int] = [:]
    for (index, group) in plan.groups.enumerated() {
      if let address = group.address { groups[address] = index }
    }
    for (address, known) in past.steps {
      guard let cause = known.blockingCause, let index = step(address) else { continue }
      for group in plan.allEnclosingGroups(ofGroup: plan.steps[index].group) {
        guard
          let around = plan.groups[group].address.flatMap({ planned in
            address.instances(of: planned) { groups[$0] != nil || step($0) != nil }
              .first { tolerant[$0] != nil }
          })
        else { continue }
        if case .inside(let culprit) = cause,
          around.innermostElement.map(culprit.isInside) ?? true,
          plan.isInside(culprit, group, step: step, groups)
        {
          continue
        }
        addresses.insert(around)
      }
    }
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

extension StepAddress {
  /// What may be the address, in the elements around this one, of what the plan calls `planned`.
  fileprivate func instances(
    of planned: StepAddress, isKnown: (StepAddress) -> Bool
  ) -> [StepAddress] {
    var found = [planned]
    var next = innermostElement
    while let element = next, let loop = element.loop {
      found.append(element.inElement(planned, of: loop.planned(isKnown: isKnown)))
      next = loop.innermostElement
    }
    return found
  }
}

extension Plan {
  /// Whether an address of a step or group is of something in a group, or of the group.
  fileprivate func isInside(
    _ address: StepAddress, _ group: Int, step: (StepAddress) -> Int?,
    _ known: [StepAddress: Int]
  ) -> Bool {
    if let index = step(address) { return steps(inGroup: group).contains(index) }
    let planned = address.planned { known[$0] != nil }
    return known[planned].map(groups(inGroup: group).contains) ?? false
  }
}
