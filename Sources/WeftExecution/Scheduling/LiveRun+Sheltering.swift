import Synchronization
import WeftDefinition
import WeftPlanning

/// What has failed outside of a group that starts in spite of it holds back nothing in the group.
extension LiveRun {
  /// The results of what a node waits for, as they count for it.
  ///
  /// - Parameter body: The group whose inside is compiled; nothing in it waits for its start.
  func spared(
    _ results: NodeResults, of node: Plan.NodeIndex, inBodyOf body: Int, _ frame: Frame
  ) -> NodeResults {
    guard results.contains(where: \.holdsBack), let group = group(around: node),
      let sheltered = innermostSheltered(around: group, in: frame)
    else { return results }
    let inside = plan.groups[sheltered].startNode...plan.groups[sheltered].endNode
    let needed = plan.dependencies[node].filter { Int($0) != plan.groups[body].startNode }
    // What is above the start of the body comes last, and holds nobody back.
    guard needed.count <= results.count else { return results }
    return NodeResults(
      zip(needed, results).map { needed, result in
        inside.contains(Int(needed)) ? result : result.holdingNobodyBack
      } + results.dropFirst(needed.count))
  }

  /// The group that a step or a group is a member of; the end of a group is nobody's.
  private func group(around node: Plan.NodeIndex) -> Int? {
    switch plan.nodes[node] {
    case .step(let index): plan.steps[Int(index)].group
    case .groupStart(let index): plan.groups[Int(index)].parent
    case .groupEnd: nil
    }
  }

  /// The innermost: what is outside of one further out is outside of this one too.
  private func innermostSheltered(around group: Int, in frame: Frame) -> Int? {
    state.withLock { state in
      var (next, frame) = (group, frame)
      while true {
        guard frame.part.groups.contains(next) else {
          guard let parent = frame.parent else { return nil }
          frame = parent
          continue
        }
        // An attempt is what stands for the group as a whole.
        let isWhole = frame.part.member == plan.groups[next].startNode
        if state.scopes.isSheltered(frame.scope(ofGroup: next))
          || isWhole && state.scopes.isSheltered(frame.scope)
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
