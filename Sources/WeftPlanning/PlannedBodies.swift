/// The parts of a plan that are run apart from what is around them: the inside of a group that is run
/// several times, and what is done when all else has ended.
///
/// The graph of a plan has every step once. A run walks through the nodes of one body at a time, and
/// through those of a repeated group once for each time.
package struct PlannedBodies: Sendable {
  package struct Body: Sendable {
    /// The nodes that are directly in it, so that each comes after what it waits for.
    package fileprivate(set) var order: [Int32] = []
    /// Whether something in it waits for what is outside.
    package fileprivate(set) var waitsForOutside = false
  }

  /// Of the run as a whole; of a plan with one body, the plan's own order.
  package private(set) var root = Body()
  /// By group.
  package private(set) var ofGroups: [Int: Body] = [:]
  /// The steps that clean up after a step or, by its start, a group.
  package let cleanups: [Plan.NodeIndex: Range<Int32>]
  /// All of these.
  package let cleanupSteps: Set<Int>
  /// The members of groups that may be over before all of them have ended: by the nodes whose futures
  /// say how they ended, the group and the member.
  package private(set) var racers: [Int32: (group: Int, member: Int32)] = [:]
  /// The group of what is done when all else has ended.
  package let finallyGroup: Int?
  /// That one, and those of other files.
  package let finallyGroups: Set<Int>

  /// Whether something in a body waits for what is outside of it.
  package var waitForOutside: Bool { ofGroups.values.contains(where: \.waitsForOutside) }

  init(of outline: Outline, _ dependencies: PlanEdges, in order: [Int32]) {
    cleanups = outline.cleanups
    cleanupSteps = Set(outline.cleanups.values.joined().map(Int.init))
    finallyGroup = outline.files[0].finally
    finallyGroups = outline.finallyGroups
    for (index, group) in outline.groups.enumerated() where group.endsEarly {
      for member in group.members {
        let end = outline.isRunApart(at: Int(member)) ? Int(member) : outline.end(of: Int(member))
        racers[Int32(end)] = (index, member)
      }
    }
    let apart = outline.groups.indices.filter {
      outline.finallyGroups.contains($0) || outline.groups[$0].isRunApart
    }
    guard !apart.isEmpty || !outline.cleanups.isEmpty else {
      root.order = order
      return
    }
    for group in apart { ofGroups[group] = Body() }
    var bodyOfGroup = Array(repeating: 0, count: outline.groups.count)
    for index in outline.groups.indices.dropFirst() {
      bodyOfGroup[index] =
        ofGroups[index] == nil ? bodyOfGroup[outline.groups[index].parent ?? 0] : index
    }
    for node in order {
      guard let body = outline.body(of: Int(node), bodyOfGroup) else { continue }
      if body == 0 { root.order.append(node) } else { ofGroups[body]?.order.append(node) }
    }
    noteOutsideNeeds(outline, dependencies)
  }

  private mutating func noteOutsideNeeds(_ outline: Outline, _ dependencies: PlanEdges) {
    for index in ofGroups.keys {
      let group = outline.groups[index]
      let order = ofGroups[index]?.order ?? []
      ofGroups[index]?.waitsForOutside = order.contains { node in
        dependencies[Int(node)].contains { $0 < group.startNode || $0 > group.endNode }
      }
    }
  }
}

extension Outline {
  fileprivate func isRunApart(at node: Plan.NodeIndex) -> Bool {
    guard case .groupStart(let index) = nodes[node] else { return false }
    return groups[Int(index)].isRunApart
  }

  /// The body that a node is run with; `nil` of what is run by itself: what cleans up, and the end of a
  /// group with a body of its own, whose start stands for all of it.
  fileprivate func body(of node: Plan.NodeIndex, _ bodyOfGroup: [Int]) -> Int? {
    switch nodes[node] {
    case .step(let index):
      return cleanedUp[index] == nil ? bodyOfGroup[steps[Int(index)].group] : nil
    case .groupStart(let index):
      if finallyGroups.contains(Int(index)) { return nil }
      return bodyOfGroup[groups[Int(index)].parent ?? 0]
    case .groupEnd(let index):
      return bodyOfGroup[Int(index)] == Int(index) ? nil : bodyOfGroup[Int(index)]
    }
  }
}
