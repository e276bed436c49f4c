import Synchronization
import WeftDefinition
import WeftPlanning

/// Immunity of groups: a failure outside a group that starts in spite of it does not block the members of the group.
extension RunEngine {
  /// The results of a node's dependencies, with failures outside an immune group no longer blocking.
  ///
  /// - Parameter body: The group whose inside is compiled; its members do not wait for its start.
  func spared(
    _ results: NodeResults, of node: Plan.NodeIndex, inBodyOf body: Int, _ instance: Instance
  ) -> NodeResults {
    guard results.contains(where: \.holdsBack), let group = group(around: node),
      let immune = innermostImmune(around: group, in: instance)
    else { return results }
    let inside = plan.groups[immune].startNode...plan.groups[immune].endNode
    let needed = plan.dependencies[node].filter { Int($0) != plan.groups[body].startNode }
    // The results above the start of the region come last, and block nothing.
    guard needed.count <= results.count else { return results }
    return NodeResults(
      zip(needed, results).map { needed, result in
        inside.contains(Int(needed)) ? result : result.holdingNobodyBack
      } + results.dropFirst(needed.count))
  }

  /// The group that a step or group is a member of; `nil` for the end of a group.
  private func group(around node: Plan.NodeIndex) -> Int? {
    switch plan.nodes[node] {
    case .step(let index): plan.steps[Int(index)].group
    case .groupStart(let index): plan.groups[Int(index)].parent
    case .groupEnd: nil
    }
  }

  /// The innermost immune group around a node. It suffices: whatever is outside a group further out is
  /// outside this one too.
  private func innermostImmune(around group: Int, in instance: Instance) -> Int? {
    state.withLock { state in
      var (next, instance) = (group, instance)
      while true {
        guard instance.region.groups.contains(next) else {
          guard let parent = instance.parent else { return nil }
          instance = parent
          continue
        }
        // The frame of an attempt represents the group as a whole.
        let isWhole = instance.region.member == plan.groups[next].startNode
        if state.scopes.isImmune(instance.scope(ofGroup: next))
          || isWhole && state.scopes.isImmune(instance.scope)
        {
          return next
        }
        guard let parent = plan.groups[next].parent else { return nil }
        next = parent
      }
    }
  }
}

extension NodeResult {
  fileprivate var holdingNobodyBack: NodeResult {
    NodeResult(conclusion: conclusion, blame: blame, holdsBack: false, failedBefore: hasFailed)
  }
}
