import WeftDefinition
package import WeftEvents
import WeftExpressions
package import WeftPlanning

/// A group or loop around a step, with the instance that contains it.
struct EnclosingScope {
  enum Kind: Equatable {
    case group(Int)
    case fanOut(LoopTask.Member)
  }

  let kind: Kind
  /// The instance that contains the group or loop.
  let instance: Instance
  let address: StepAddress

  init(_ kind: Kind, _ instance: Instance, _ address: StepAddress) {
    (self.kind, self.instance, self.address) = (kind, instance, address)
  }

  init(_ task: LoopTask) { self.init(.fanOut(task.member), task.instance, task.address) }
}

/// The groups and loops around a step or group.
extension ResumePolicy {
  /// The groups around a group and the group itself, and the loops around them, from the innermost outwards.
  ///
  /// - Parameter instance: An instance that contains the group.
  func enclosingScopes(ofGroup group: Int, in instance: Instance) -> [EnclosingScope] {
    var found: [EnclosingScope] = []
    var (group, instance) = (group, instance)
    while true {
      // The groups outside the instance's region are in its parent.
      while !instance.region.groups.contains(group), let parent = instance.parent {
        if case .element = instance.kind, let address = instance.region.address {
          found.append(
            EnclosingScope(
              .fanOut(instance.region.loopMember(in: plan)), parent, parent.address(of: address)
            ))
        }
        instance = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(EnclosingScope(.group(group), instance, instance.address(of: address)))
      }
      group = plan.groups[group].parent ?? 0
    }
    return found
  }

  /// An instance that contains a recorded step: the run, or the element of each loop around it, as its address names them.
  func instance(around address: StepAddress) -> Instance {
    guard let element = address.innermostElement, let loop = element.loop,
      case .element(let key)? = element.parts?.last
    else { return .run(of: plan) }
    let region: PlanRegion
    var isRetried = false
    if let step = addresses.step(at: loop) {
      region = PlanRegion(step: step, of: plan)
    } else if let group = addresses.group(at: loop) {
      region = PlanRegion(group: group, of: plan)
      isRetried = plan.groups[group].step?.control.retry.isEmpty == false
    } else {
      return instance(around: loop)
    }
    func inside(_ parent: Instance, _ kind: Instance.Kind) -> Instance {
      Instance(kind, of: region, in: parent, firstInstance: 0, firstScope: 0, scope: 0)
    }
    let known = Element(source: .matrix, index: 0, key: key, value: .null, isSecret: false)
    let member = inside(instance(around: loop), .element(known))
    // As the engine opens one for each attempt of a group.
    return isRetried ? inside(member, .attempt(1)) : member
  }

  func enclosingScopes(of inner: EnclosingScope) -> [EnclosingScope] {
    switch inner.kind {
    case .group(let index):
      enclosingScopes(ofGroup: plan.groups[index].parent ?? 0, in: inner.instance)
    case .fanOut(.group(let index)):
      enclosingScopes(ofGroup: plan.groups[index].parent ?? 0, in: inner.instance)
    case .fanOut(.step(let index)):
      enclosingScopes(ofGroup: plan.steps[index].group, in: inner.instance)
    }
  }
}

extension PlanRegion {
  /// The loop whose element has this region.
  fileprivate func loopMember(in plan: Plan) -> LoopTask.Member {
    guard let member, case .groupStart(let group) = plan.nodes[member] else {
      return .step(steps.lowerBound)
    }
    return .group(Int(group))
  }
}

/// Decides whether the result of a step or group is still needed by a step that has yet to run.
///
/// ``ResumePolicy`` asks it before it reruns something whose values are not recorded, or whose effects were
/// undone by a cleanup, and ``OutputVerification`` before it checks files.
extension ResumePolicy {
  /// Whether a direct or indirect dependent of a node is not done.
  ///
  /// - Parameter group: A group at whose end a cleanup undoes what the node does: the dependents of the group do not
  ///   count. `nil` if all count.
  func isNeeded(
    _ node: Plan.NodeIndex, in instance: Instance, beforeEndOf group: Int? = nil
  ) -> Bool {
    var (seen, next) = (Set([node]), [node])
    if let group { seen.insert(plan.groups[group].endNode) }
    while let node = next.popLast() {
      for dependent in dependents[node] ?? [] where seen.insert(dependent).inserted {
        if !isSettled(dependent, seenFrom: instance) { return true }
        next.append(dependent)
      }
    }
    return false
  }

  /// Whether a step that needs a service, directly or not, may run, or is still to be cleaned up.
  func isServiceNeeded(_ service: PlannedStep, in instance: Instance) -> Bool {
    plan.bodies.services.users(of: service.node).contains { node in
      let around = instance.around(node)
      switch plan.nodes[node] {
      case .groupStart: return false
      case .groupEnd(let group):
        return hasPendingCleanup(of: plan.groups[Int(group)].startNode, inside: instance)
      case .step(let index):
        if hasPendingCleanup(of: node, inside: instance) { return true }
        if areDone(around: plan.steps[Int(index)].group, in: around) { return false }
        if let loop = outermostLoop(around: Int(index), below: around) {
          if isRerun(Int(index), inside: around.address(of: loop), of: around) { return true }
        } else {
          let task = StepTask(Int(index), of: plan, in: around, after: [])
          if end(of: task) != nil { return false }
          if isMissed(Int(index), in: around) { return true }
        }
        return !isSettled(node, seenFrom: instance) || mayBeAdmitted(Int(index), in: around)
      }
    }
  }

  /// Whether a step, or any instance of it, in a loop that succeeded is to be rerun on request.
  private func isRerun(_ index: Int, inside loop: StepAddress, of instance: Instance) -> Bool {
    let scope = EnclosingScope(.fanOut(.step(index)), instance, loop)
    let since = rerun.since(scope) { addresses.step(at: $0) == index }
    return since > 0 && since >= successNumber(loop) ?? 0
  }

  /// Whether a cleanup of a step or group is pending, in any element of loops inside an instance.
  private func hasPendingCleanup(of node: Plan.NodeIndex, inside instance: Instance) -> Bool {
    guard let cleanups = plan.bodies.cleanups[node] else { return false }
    return starts(of: node).contains { address, start in
      (instance.element.map(address.isInside) ?? true)
        && cleanups.contains { isPending(cleanup: Int($0), of: address, since: start) }
    }
  }

  /// Whether a cleanup step of a recorded step or group is pending since its start.
  private func isPending(
    cleanup index: Int, of address: StepAddress, since start: UInt64
  ) -> Bool {
    start > 0
      && !addresses.instances(of: plan.steps[index].address, around: address).contains {
        let since = max(start, rerun.since(index, $0))
        return recorded.steps[$0].map { !$0.isPendingCleanup && $0.number > since } ?? false
      }
  }

  /// The recorded steps and groups with a pending cleanup step whose address in the plan is none of these.
  fileprivate func stepsWithPendingCleanup(except known: Set<StepAddress>) -> [StepAddress] {
    plan.bodies.cleanups.sorted { $0.key < $1.key }.flatMap { node, cleanups in
      let lost = cleanups.filter { !known.contains(plan.steps[Int($0)].address) }
      if lost.isEmpty { return [StepAddress]() }
      return starts(of: node).filter { address, start in
        lost.contains { isPending(cleanup: Int($0), of: address, since: start) }
      }.map(\.0)
    }
  }

  /// The recorded instances of a step or group, each with the number of its last start. A loop has its elements.
  private func starts(of node: Plan.NodeIndex) -> [(StepAddress, UInt64)] {
    switch plan.nodes[node] {
    case .step(let index):
      recorded.steps.filter { addresses.step(at: $0.address) == Int(index) }
        .map { ($0.address, $0.step.lastStart) }
    case .groupStart(let group), .groupEnd(let group):
      recorded.groups.filter { address, _ in
        addresses.group(at: address) == Int(group)
          && (plan.groups[Int(group)].step?.control.fanOut == nil || address.loop != nil)
      }.map { ($0.key, $0.value.lastStart) }
    }
  }

  /// Whether a step that succeeded has to run again.
  private func isMissed(_ index: Int, in instance: Instance) -> Bool {
    recorded.steps[instance.address(of: plan.steps[index].address)]?.hasSucceeded ?? false
  }

  /// Whether the condition that skipped a step or a group around it may be true now: it reads the state of the run, or
  /// a step before it has yet to run.
  private func mayBeAdmitted(_ index: Int, in instance: Instance) -> Bool {
    let step = plan.steps[index]
    let address = instance.address(
      of: outermostLoop(around: index, below: instance) ?? step.address)
    guard case .skipped? = recorded.steps[address]?.state else { return false }
    let conditions =
      [plan.values.texts(ofStep: index)]
      + plan.allEnclosingGroups(ofGroup: step.group).map { plan.values.texts(ofGroup: $0) }
    if conditions.contains(where: { StartCondition($0)?.impliesSuccess == false }) { return true }
    var (seen, next) = (Set([step.node]), [step.node])
    while let node = next.popLast() {
      for need in plan.dependencies[node] where seen.insert(Int(need)).inserted {
        if !isSettled(Int(need), seenFrom: instance) { return true }
        next.append(Int(need))
      }
    }
    return false
  }

  /// Whether a node is done, as seen from an instance outside of inner loops: a loop counts as a whole.
  private func isSettled(_ node: Plan.NodeIndex, seenFrom inner: Instance) -> Bool {
    guard case .step(let index) = plan.nodes[node] else { return true }
    let instance = inner.around(node)
    let step = plan.steps[Int(index)]
    // Cleanup and `finally` steps run after the others, and read nothing of them.
    if isFinal(step.group) || plan.bodies.cleanupSteps.contains(Int(index)) { return true }
    if let loop = outermostLoop(around: Int(index), below: instance) {
      let address = instance.address(of: loop)
      if case .skipped(let reason)? = recorded.steps[address]?.state {
        return !reason.blocksDependents
      }
      return successNumber(address) != nil
    }
    let address = instance.address(of: step.address)
    guard let known = recorded.steps[address] else { return false }
    // A step that its own `if` skips needs no results.
    if case .skipped(let reason) = known.state { return !reason.blocksDependents }
    return known.hasSucceeded && known.number > rerun.since(Int(index), address)
  }

  /// The outermost loop around a step, or of the step itself, that does not contain the instance.
  private func outermostLoop(around index: Int, below instance: Instance) -> StepAddress? {
    var found: StepAddress?
    let step = plan.steps[index]
    if step.hasControl, step.control.fanOut != nil, !instance.isElement(of: step.node) {
      found = step.address
    }
    for group in plan.allEnclosingGroups(ofGroup: step.group) where group > 0 {
      let node = plan.groups[group].startNode
      if instance.isElement(of: node) || !instance.region.groups.contains(group) { break }
      if plan.groups[group].step?.control.fanOut != nil { found = plan.groups[group].address }
    }
    return found
  }
}

extension Plan {
  /// The steps and groups of an earlier version of the workflow whose cleanup is pending, and no longer exists.
  package func cleanupsLost(from old: Plan, after recorded: RunState) -> [StepAddress] {
    ResumePolicy(plan: old, recorded: recorded)
      .stepsWithPendingCleanup(except: Set(steps.map(\.address)))
  }
}

extension Instance {
  /// The innermost instance around this one, or itself, that contains a node of the plan.
  func around(_ node: Plan.NodeIndex) -> Instance {
    var instance = self
    while !instance.region.nodes.contains(node), let parent = instance.parent { instance = parent }
    return instance
  }
}

extension Plan {
  /// The direct dependents of each node.
  var dependents: [Int: [Int]] {
    var dependents: [Int: [Int]] = [:]
    for node in nodes.indices {
      for need in dependencies[node] { dependents[Int(need), default: []].append(node) }
    }
    return dependents
  }
}
