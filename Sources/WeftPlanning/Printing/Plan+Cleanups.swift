/// The display order of cleanup steps and `finally`: next to what they belong to.
extension Plan {
  /// For the node of each cleanup step, that of the step, or the start of the group, that it cleans up.
  func cleanedUpNodes() -> [NodeIndex: NodeIndex] {
    var result: [NodeIndex: NodeIndex] = [:]
    for (node, cleanups) in bodies.cleanups {
      for step in cleanups { result[steps[Int(step)].node] = node }
    }
    return result
  }

  /// The start of the last item that is shown in a group: a member, its cleanup step, or `finally`.
  func lastShown(in group: Int) -> NodeIndex? {
    if groups[group].isTopLevel, let finally = files[groups[group].file].finally {
      return groups[finally].startNode
    }
    // Everything in another file is in its top level.
    if file(runByGroup: group) != nil { return lastShown(in: group + 1) }
    guard let member = groups[group].members.last.map(Int.init) else { return nil }
    guard let step = bodies.cleanups[member]?.last else { return member }
    return steps[Int(step)].node
  }

  /// The node that is reached once the step, or the whole group, at `node` has ended.
  func end(of node: NodeIndex) -> NodeIndex {
    guard case .groupStart(let index) = nodes[node] else { return node }
    return groups[Int(index)].endNode
  }

  /// For the end of each member, whether another member of the same group waits for it.
  func membersWaitedForInside() -> [Bool] {
    var result = Array(repeating: false, count: nodes.count)
    for group in groups {
      for member in group.members {
        for edge in dependencies[Int(member)] where edge > group.startNode {
          result[Int(edge)] = true
        }
      }
    }
    return result
  }
}
