import WeftPlanning

/// Counts how the steps of a run have ended: each step once, by its latest state.
struct OutcomeTally {
  private let plan: Plan
  private let ends: [StepAddress: GroupEnd]
  private lazy var addresses = PlanAddresses(plan)
  private(set) var counts = OutcomeCounts()

  init(_ plan: Plan, groups: [GroupReport]) {
    self.plan = plan
    var ends: [StepAddress: GroupEnd] = [:]
    for group in groups {
      guard case .finished(let end) = group.state else { continue }
      ends[group.address] = end
      if let notStarted = end.notStarted { counts.add(notStarted.outcome, steps: notStarted.steps) }
    }
    self.ends = ends
  }

  mutating func add(_ step: StepReport) {
    switch step.state {
    case .finished(let end): add(end, of: step.address)
    case .restored(let end):
      counts.restored += 1
      add(end, of: step.address)
    case .cached(let end):
      counts.cached += 1
      add(end, of: step.address)
    case .skipped(let reason): counts.add(reason.outcome)
    case .pending, .queued, .running, .asking, .waiting, .retrying: break
    }
  }

  private mutating func add(_ end: StepEnd, of step: StepAddress) {
    counts.add(end)
    if end.outcome == .failure, end.conclusion != .success, isTolerated(step) { counts.tolerate(1) }
  }

  /// Whether a group or loop around a failed step has ended otherwise than by failure. A failed cleanup step fails its
  /// whole file.
  private mutating func isTolerated(_ address: StepAddress) -> Bool {
    if ends.isEmpty { return false }
    let addresses = addresses
    guard let step = addresses.step(at: address) else { return false }
    let isCleanup = plan.bodies.cleanupSteps.contains(step)
    if !isCleanup, let loop = address.loop, absorbs(loop) { return true }
    let group = plan.steps[step].group
    return plan.allEnclosingGroups(ofGroup: group).contains { around in
      if isCleanup, plan.groups[around].file == plan.groups[group].file { return false }
      guard let planned = plan.groups[around].address else { return false }
      return addresses.instances(of: planned, around: address).contains(where: absorbs)
    }
  }

  private func absorbs(_ group: StepAddress) -> Bool {
    ends[group].map { $0.conclusion != .failure } ?? false
  }
}
