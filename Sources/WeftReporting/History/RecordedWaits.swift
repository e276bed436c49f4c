import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftRecord

/// The reasons why the steps of a run in progress wait, as far as its journal and its plan show.
struct RecordedWaits {
  private let recorded: RunState
  /// The steps that hold a slot.
  private let running: [StepAddress]
  private let plan: Plan?
  private let addresses: PlanAddresses?

  /// - Parameter plan: `nil` if it is not known.
  init(_ detail: RunDetail, _ plan: Plan? = nil) {
    recorded = detail.recorded
    self.plan = plan
    addresses = plan.map { PlanAddresses($0) }
    running = detail.recorded.steps.filter(\.step.holdsSlot).map(\.address)
  }

  /// The reason why a queued step waits: what it lacked when it was queued, unless that is certainly over.
  func reason(of step: RecordedStep, at address: StepAddress) -> WaitReason {
    if let group = fullGroup(around: address) { return .group(group) }
    let isFull = recorded.start.map { running.count >= $0.maxParallel } ?? false
    switch step.waitReason {
    case .rate, .group: return step.waitReason ?? .slot
    case .slot where isFull: return .slot
    case .pool, .slot, nil: return held(among: step.pools) ?? (isFull ? .slot : step.reasonNow)
    }
  }

  /// The innermost group around a step of the plan whose `maxParallel` members are running.
  private func fullGroup(around address: StepAddress) -> StepAddress? {
    guard let plan, let addresses, !address.hasElement, let step = addresses.step(at: address)
    else { return nil }
    return plan.allEnclosingGroups(ofGroup: plan.steps[step].group).first { group in
      guard let limit = plan.groups[group].maxParallel, plan.groups[group].step != nil else {
        return false
      }
      let inside = running.count { other in
        addresses.step(at: other).map {
          plan.allEnclosingGroups(ofGroup: plan.steps[$0].group).contains(group)
        } ?? false
      }
      return inside >= limit
    }.flatMap { plan.groups[$0].address }
  }

  /// The first of the pools of which running steps hold slots.
  private func held(among pools: [String]) -> WaitReason? {
    for pool in pools {
      let holders = running.filter { recorded.steps[$0]?.pools.contains(pool) ?? false }
      if !holders.isEmpty { return .pool(pool, holders: holders) }
    }
    return nil
  }
}

extension RecordedStep {
  fileprivate var holdsSlot: Bool {
    if case .started = state { !isAsking && waitsUntil == nil } else { false }
  }

  /// The reason if neither slots nor pools are taken: it is about to start, or waits behind a larger request.
  fileprivate var reasonNow: WaitReason { waitReason ?? .slot }
}

/// The steps of a run in progress that wait for other steps, from its journal and its plan.
struct PendingSteps: Sendable {
  struct Step: Sendable, Hashable {
    let address: StepAddress
    /// The steps and groups that have not ended, in the order of the plan.
    let waitsFor: [StepAddress]
  }

  let steps: [Step]

  /// Steps inside loops are left out: their elements are recorded when they begin.
  init(_ plan: Plan, _ recorded: RunState) {
    let progress = PlanProgress(plan, recorded)
    steps = plan.steps.compactMap { step in
      guard recorded.steps[step.address] == nil, recorded.groups[step.address] == nil,
        !plan.isInLoop(group: step.group)
      else { return nil }
      let unmet = progress.unmet(ofNode: step.node)
      return unmet.isEmpty ? nil : Step(address: step.address, waitsFor: unmet)
    }
  }
}

/// The nodes of a plan that have been reached, by a journal.
private struct PlanProgress {
  private let plan: Plan
  private let recorded: RunState

  init(_ plan: Plan, _ recorded: RunState) {
    (self.plan, self.recorded) = (plan, recorded)
  }

  /// The dependencies that have not ended; those of the start of a group count for its members.
  func unmet(ofNode node: Plan.NodeIndex) -> [StepAddress] {
    var found: [StepAddress] = []
    for dependency in plan.dependencies[node] {
      switch plan.nodes[Int(dependency)] {
      case .step(let index):
        let address = plan.steps[Int(index)].address
        if !hasEnded(address) { found.append(address) }
      case .groupEnd(let index):
        guard let address = plan.groups[Int(index)].address else { continue }
        if !hasEnded(address) { found.append(address) }
      case .groupStart(let index):
        guard let address = plan.groups[Int(index)].address, recorded.groups[address] == nil else {
          continue
        }
        found += unmet(ofNode: Int(dependency))
      }
    }
    return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private func hasEnded(_ address: StepAddress) -> Bool {
    switch recorded.steps[address]?.state {
    case .finished, .skipped: return true
    case .queued, .started, .retrying, nil: break
    }
    switch recorded.groups[address]?.state {
    case .finished, .skipped: return true
    case .listed, .started, .retrying, nil: return false
    }
  }
}
