package import WeftEvents
package import WeftPlanning

/// The meaning of recorded steps for `weft resume`, by the rules of ``ResumePolicy``: which start again if the workflow
/// has not changed, and which failures count no more.
package struct ResumeForecast {
  private let policy: ResumePolicy
  /// The last element that was asked about: of a loop there may be very many.
  private var last: (element: StepAddress, instance: Instance)?

  package init(_ plan: Plan, _ recorded: RunState) {
    policy = ResumePolicy(plan: plan, recorded: recorded)
  }

  package var plan: Plan { policy.plan }

  /// The steps in doubt that resume does not rerun by itself, in the order of their records.
  package var interrupted: [StepAddress] { policy.interrupted }

  /// Whether a recorded step, or a group that was skipped as a whole, starts again; `nil` if the plan does not have it.
  package mutating func startsAgain(_ address: StepAddress, _ known: RecordedStep) -> Bool? {
    switch known.state {
    case .skipped(.condition), .skipped(.notSelected): return false
    case .skipped, .finished, .queued, .started, .retrying: break
    }
    guard let index = policy.addresses.step(at: address) else {
      guard let group = policy.addresses.group(at: address) else { return nil }
      let parent = policy.plan.groups[group].parent ?? 0
      return !policy.areDone(around: parent, in: instance(of: address))
    }
    // Other cleanups only follow their steps.
    if policy.plan.bodies.cleanupSteps.contains(index) { return known.isPendingCleanup }
    if policy.recorded.isFormer(address) { return false }
    let task = StepTask(index, of: policy.plan, in: instance(of: address), after: [])
    return policy.end(of: task) == nil && policy.doubtFailure(about: task) == nil && !isDone(task)
  }

  private func isDone(_ task: StepTask) -> Bool {
    // A service in a group that is done may be needed by a cleanup, and what was cleaned up by that service.
    !task.step.isService && !policy.succeeded(task.index, in: task.instance)
      && policy.areDone(around: task.step.group, in: task.instance)
  }

  /// The innermost group or loop around a step that succeeded although the step failed.
  package mutating func groupTolerating(_ address: StepAddress) -> StepAddress? {
    guard let index = policy.addresses.step(at: address),
      !policy.plan.bodies.cleanupSteps.contains(index), let known = policy.recorded.steps[address]
    else { return nil }
    let group = policy.plan.steps[index].group
    return policy.enclosingScopes(ofGroup: group, in: instance(of: address)).map(\.address)
      .first { group in
        // A later engine that keeps the group may record the failure again, before it records the group's end.
        guard let success = policy.successNumber(group) else { return false }
        return max(success, policy.recorded.groups[group]?.outputsNumber ?? 0) > known.number
      }
  }

  /// The decision of a race or join against a step that was cancelled for a different reason: the group has succeeded
  /// since, under an engine that did not start the step again.
  package mutating func decision(
    against address: StepAddress, _ known: RecordedStep
  ) -> CancelReason? {
    guard case .finished(let end, _) = known.state, end.cancellation?.isDecision == false,
      end.outcome == .cancelled, let group = groupTolerating(address)
    else { return nil }
    return policy.recorded.groups[group]?.end?.winner.map { .raceWon(group, by: $0) }
      ?? .joined(group)
  }

  private mutating func instance(of address: StepAddress) -> Instance {
    guard let element = address.innermostElement else { return policy.outermost }
    if let last, last.element == element { return last.instance }
    let instance = policy.instance(around: address)
    last = (element, instance)
    return instance
  }
}

extension RunState {
  /// Whether the address is in an element that its loop no longer has.
  package func isFormer(_ address: StepAddress) -> Bool {
    var element = address.innermostElement
    while let known = element, let loop = known.loop {
      let former = groups[loop]?.formerElements ?? []
      if former.contains(where: { loop.element($0.key) == known }) { return true }
      element = loop.innermostElement
    }
    return false
  }
}
