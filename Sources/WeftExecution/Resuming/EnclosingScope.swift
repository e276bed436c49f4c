import WeftDefinition
import WeftEvents
import WeftPlanning

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
  func isNeeded(_ node: Plan.NodeIndex, in instance: Instance) -> Bool {
    var (seen, next) = (Set([node]), [node])
    while let node = next.popLast() {
      for dependent in dependents[node] ?? [] where seen.insert(dependent).inserted {
        if !isSettled(dependent, seenFrom: instance) { return true }
        next.append(dependent)
      }
    }
    return false
  }

  /// Whether a node is done, as seen from an instance outside of inner loops: a loop counts as a whole.
  private func isSettled(_ node: Plan.NodeIndex, seenFrom inner: Instance) -> Bool {
    guard case .step(let index) = plan.nodes[node] else { return true }
    var instance = inner
    while !instance.region.nodes.contains(node), let parent = instance.parent { instance = parent }
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
  /// The direct dependents of each node.
  var dependents: [Int: [Int]] {
    var dependents: [Int: [Int]] = [:]
    for node in nodes.indices {
      for need in dependencies[node] { dependents[Int(need), default: []].append(node) }
    }
    return dependents
  }
}
