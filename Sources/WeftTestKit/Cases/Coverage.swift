import WeftDefinition
import WeftEvents
import WeftExecution
package import WeftPlanning

/// The parts of a workflow that the cases of a test file reached: steps, both ways of every `if`, retries, and the ways
/// in which failures are handled.
package struct Coverage: Sendable {
  /// A part of a workflow that a case can reach.
  package struct Goal: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The step starts.
      case step
      /// Its `if` is true.
      case conditionTrue
      /// Its `if` is false.
      case conditionFalse
      /// It is tried again.
      case retry
      /// It fails for good, in spite of its retries.
      case exhausted
      /// It fails, and `allowFailure` or `tolerate` accepts that.
      case tolerated
    }

    /// The address of the step or group in the plan.
    package let address: StepAddress
    package let kind: Kind
  }

  /// All goals, in file order.
  package let goals: [Goal]
  package private(set) var reached: Set<Goal> = []
  private let known: Set<StepAddress>
  /// The groups with several steps, outer ones first, and the addresses of their steps.
  private let groups: [(address: StepAddress, steps: ArraySlice<StepAddress>)]

  init(of plan: Plan) {
    var found: [(node: Plan.NodeIndex, goal: Goal)] = []
    for step in plan.steps {
      found.append((step.node, Goal(address: step.address, kind: .step)))
      let goals = Coverage.goals(of: step.step, at: step.address)
      found += goals.map { (step.node, $0) }
    }
    for group in plan.groups where !group.isTopLevel {
      guard let step = group.step, let address = group.address else { continue }
      found += Coverage.goals(of: step, at: address).map { (group.startNode, $0) }
    }
    goals = found.enumerated().sorted {
      ($0.element.node, $0.offset) < ($1.element.node, $1.offset)
    }.map(\.element.goal)
    let addresses = plan.steps.map(\.address)[...]
    groups = plan.groups.indices.compactMap { index in
      let (group, steps) = (plan.groups[index], plan.steps(inGroup: index))
      guard !group.isTopLevel, steps.count > 1, let address = group.address else { return nil }
      return (address, addresses[steps])
    }
    known = Set(
      plan.steps.map(\.address) + plan.groups.compactMap { $0.isTopLevel ? nil : $0.address })
  }

  private static func goals(of step: Step, at address: StepAddress) -> [Goal] {
    var kinds: [Goal.Kind] = []
    if step.control.condition != nil { kinds += [.conditionTrue, .conditionFalse] }
    if step.control.retry.contains(where: { $0.max > 0 }) || step.computed[.retryMax] != nil {
      kinds += [.retry, .exhausted]
    }
    if step.allowFailure != .none { kinds.append(.tolerated) }
    return kinds.map { Goal(address: address, kind: $0) }
  }

  /// The goals that no case reached, in file order.
  package var missing: [Goal] { goals.filter { !reached.contains($0) } }

  /// The goals that no case reached, without those that only follow from others: a step that never starts is not
  /// retried either.
  package var causes: [Goal] {
    let idle = Set(missing.filter { $0.kind == .step || $0.kind == .conditionTrue }.map(\.address))
    let hasSteps = Set(goals.filter { $0.kind == .step }.map(\.address))
    return missing.filter { goal in
      switch goal.kind {
      case .step: true
      case .conditionTrue: !hasSteps.contains(goal.address)
      case .conditionFalse: true
      case .retry, .tolerated: !idle.contains(goal.address)
      case .exhausted:
        !idle.contains(goal.address) && reached.contains(Goal(address: goal.address, kind: .retry))
      }
    }
  }

  /// The steps that never start, with a group in place of all of its steps.
  package var idle: [StepAddress] {
    var names: [StepAddress] = []
    var named: Set<StepAddress> = []
    let missing = missing.filter { $0.kind == .step }.map(\.address)
    let idle = Set(missing)
    let idleGroups = groups.filter { $0.steps.allSatisfy(idle.contains) }
    for step in missing where !named.contains(step) {
      let group = idleGroups.first { $0.steps.contains(step) }
      named.formUnion(group?.steps ?? [step])
      names.append(group?.address ?? step)
    }
    return names
  }

  /// The numbers of goals of a kind, and of those that were reached.
  package func counts(of kinds: Goal.Kind...) -> (reached: Int, all: Int) {
    let wanted = goals.filter { kinds.contains($0.kind) }
    return (wanted.count { reached.contains($0) }, wanted.count)
  }

  mutating func add(_ record: CaseRecord) {
    for (address, step) in record.steps {
      let planned = address.planned { known.contains($0) }
      if !step.spans.isEmpty {
        reach(planned, .step, .conditionTrue)
        if step.retries > 0 { reach(planned, .retry) }
      }
      for state in step.states {
        switch state {
        case .skipped(.condition(let owner)):
          reach(owner.planned { known.contains($0) }, .conditionFalse)
        case .finished(let end) where end.outcome == .failure:
          if end.conclusion == .success { reach(planned, .tolerated) }
          if end.attempts > 1 { reach(planned, .exhausted) }
        default: break
        }
      }
    }
    for (address, group) in record.groups {
      let planned = address.planned { known.contains($0) }
      if !group.spans.isEmpty { reach(planned, .conditionTrue) }
      if group.retries > 0 { reach(planned, .retry) }
      for end in group.ends where end.outcome == .failure {
        if end.conclusion == .success { reach(planned, .tolerated) }
        if group.retries > 0 { reach(planned, .exhausted) }
      }
    }
  }

  private mutating func reach(_ address: StepAddress, _ kinds: Goal.Kind...) {
    for kind in kinds { reached.insert(Goal(address: address, kind: kind)) }
  }
}
