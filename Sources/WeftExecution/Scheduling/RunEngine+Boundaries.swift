import Synchronization
import WeftEvents
import WeftPlanning

/// The results of dependencies as they count at a dependent. A failure outside a group that starts in spite of it does
/// not block the members of the group, and a failure that a group tolerates does not block what is outside the group.
extension RunEngine {
  /// - Parameter body: The group whose inside is compiled; its members do not wait for its start.
  func effectiveResults(
    _ results: NodeResults, of node: Plan.NodeIndex, inBodyOf body: Int, _ instance: Instance
  ) -> NodeResults {
    // The end of a group has the results of its members.
    if case .groupEnd = plan.nodes[node] { return results }
    guard results.contains(where: { $0.blocksDependents || $0.hasFailed }) else { return results }
    let needed = plan.dependencies[node].filter { Int($0) != plan.groups[body].startNode }
    // The results above the start of the region come last, and block nothing.
    guard needed.count <= results.count else { return results }
    return NodeResults(
      zip(needed, results).map { effective($1, of: Int($0), at: node, in: instance) }
        + results.dropFirst(needed.count))
  }

  /// A node's result as it counts at another node.
  func effective(
    _ result: NodeResult, of needed: Plan.NodeIndex, at node: Plan.NodeIndex, in instance: Instance
  ) -> NodeResult {
    state.withLock { state in
      var result = result
      for group in plan.groups(around: needed) {
        if plan.contains(node, inGroup: group) { break }
        guard let holder = instance.holder(ofGroup: group) else { continue }
        result = state.scopes.result(result, outside: holder.scope(ofGroup: group))
      }
      let immune = innermostImmune(around: node, in: instance, state.scopes)
      let isInside = immune.map { plan.contains(needed, inGroup: $0) } ?? true
      return isInside ? result : result.withoutBlocking
    }
  }

  /// The innermost immune group around a node. It suffices: whatever is outside a group further out is
  /// outside this one too.
  private func innermostImmune(
    around node: Plan.NodeIndex, in instance: Instance, _ scopes: Scopes
  ) -> Int? {
    plan.groups(around: node).first { group in
      guard let holder = instance.holder(ofGroup: group) else { return false }
      // The instance of an attempt represents the group as a whole.
      let isWhole = holder.region.memberNode == plan.groups[group].startNode
      return scopes.isImmune(holder.scope(ofGroup: group))
        || isWhole && scopes.isImmune(holder.scope)
    }
  }
}

extension Plan {
  /// The groups that contain a node, the innermost first.
  fileprivate func groups(around node: NodeIndex) -> EnclosingGroups {
    allEnclosingGroups(ofGroup: group(around: node))
  }

  /// Whether a node is a group's start, its end, or in between.
  fileprivate func contains(_ node: NodeIndex, inGroup group: Int) -> Bool {
    (groups[group].startNode...groups[group].endNode).contains(node)
  }
}

extension Instance {
  /// The instance in which a group is, of this one and those around it.
  fileprivate func holder(ofGroup group: Int) -> Instance? {
    outwards.first { $0.region.groups.contains(group) }
  }
}

extension NodeResult {
  fileprivate var withoutBlocking: NodeResult {
    NodeResult(
      conclusion: conclusion, causingStep: causingStep, blocksDependents: false,
      failedBefore: hasFailed)
  }
}
