import WeftDefinition
import WeftPlanning

/// Whether what has been done is still needed by something that has not.
extension StandingRule {
  /// Whether something waits for a node, however far below, that is not done.
  func isNeeded(_ node: Plan.NodeIndex, in frame: Frame) -> Bool {
    var (seen, next) = (Set([node]), [node])
    while let node = next.popLast() {
      for dependent in dependents[node] ?? [] where seen.insert(dependent).inserted {
        if !isSettled(dependent, seenFrom: frame) { return true }
        next.append(dependent)
      }
    }
    return false
  }

  /// Whether what a node is there for is done, as far as can be said from here: of what is run for many it is
  /// asked as a whole.
  private func isSettled(_ node: Plan.NodeIndex, seenFrom inner: Frame) -> Bool {
    guard case .step(let index) = plan.nodes[node] else { return true }
    var frame = inner
    while !frame.part.nodes.contains(node), let parent = frame.parent { frame = parent }
    let step = plan.steps[Int(index)]
    // What cleans up comes after the others, and needs nothing of them.
    if isFinal(step.group) || plan.bodies.cleanupSteps.contains(Int(index)) { return true }
    if let loop = outermostLoop(around: Int(index), below: frame) {
      let address = frame.address(of: loop)
      if case .skipped(let reason)? = past.steps[address]?.state { return !reason.holdsBack }
      return doneSince(address) != nil
    }
    let address = frame.address(of: step.address)
    guard let known = past.steps[address] else { return false }
    // What its own condition kept from running needs nothing.
    if case .skipped(let reason) = known.state { return !reason.holdsBack }
    return known.hasSucceeded && known.number > rerun.since(Int(index), address)
  }

  /// What is run for many around a step, or the step itself, that a frame is not in.
  private func outermostLoop(around index: Int, below frame: Frame) -> StepAddress? {
    var found: StepAddress?
    let step = plan.steps[index]
    if step.hasControl, step.control.fanOut != nil, !frame.isElement(of: step.node) {
      found = step.address
    }
    for group in plan.allEnclosingGroups(ofGroup: step.group) where group > 0 {
      let node = plan.groups[group].startNode
      if frame.isElement(of: node) || !frame.part.groups.contains(group) { break }
      if plan.groups[group].step?.control.fanOut != nil { found = plan.groups[group].address }
    }
    return found
  }
}

extension Plan {
  /// For each node, those that wait for it.
  var dependents: [Int: [Int]] {
    var dependents: [Int: [Int]] = [:]
    for node in nodes.indices {
      for need in dependencies[node] { dependents[Int(need), default: []].append(node) }
    }
    return dependents
  }
}
