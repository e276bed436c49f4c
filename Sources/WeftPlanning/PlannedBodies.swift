/// The plan regions: the contents of loops, retried groups and other files, and `finally`.
///
/// The graph of a plan has every step once. A run walks through the nodes of one region at a time, and through those of
/// a repeated group once for each instance.
package struct PlannedBodies: Sendable {
  package struct Body: Sendable {
    /// The nodes directly in it, each after its dependencies.
    package fileprivate(set) var order: [Int32] = []
    /// Whether anything in it waits for something outside.
    package fileprivate(set) var waitsForOutside = false
  }

  /// The region of the whole run; if it is the only one, the plan's own order.
  package private(set) var root = Body()
  /// The regions of groups, by group.
  package private(set) var ofGroups: [Int: Body] = [:]
  /// The cleanup steps of each step or, by its start, group.
  package let cleanups: [Plan.NodeIndex: Range<Int32>]
  /// The indices of all cleanup steps.
  package let cleanupSteps: Set<Int>
  /// The members of groups that may end before all their members: the group and the member, by the node whose future
  /// settles with the member's outcome.
  package private(set) var raceMembers: [Int32: (group: Int, member: Int32)] = [:]
  /// The `finally` group of the workflow that is planned.
  package let finallyGroup: Int?
  /// The `finally` groups of all files.
  package let finallyGroups: Set<Int>

  /// Whether anything in a region waits for something outside of it.
  package var waitForOutside: Bool { ofGroups.values.contains(where: \.waitsForOutside) }

  init(of outline: Outline, _ dependencies: PlanEdges, in order: [Int32]) {
    cleanups = outline.cleanups
    cleanupSteps = Set(outline.cleanups.values.joined().map(Int.init))
    finallyGroup = outline.files[0].finally
    finallyGroups = outline.finallyGroups
    for (index, group) in outline.groups.enumerated() where group.endsEarly {
      for member in group.members {
        let end = outline.hasOwnRegion(at: Int(member)) ? Int(member) : outline.end(of: Int(member))
        raceMembers[Int32(end)] = (index, member)
      }
    }
    let apart = outline.groups.indices.filter {
      outline.finallyGroups.contains($0) || outline.groups[$0].hasOwnRegion
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
    recordOutsideNeeds(outline, dependencies)
  }

  private mutating func recordOutsideNeeds(_ outline: Outline, _ dependencies: PlanEdges) {
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
  fileprivate func hasOwnRegion(at node: Plan.NodeIndex) -> Bool {
    guard case .groupStart(let index) = nodes[node] else { return false }
    return groups[Int(index)].hasOwnRegion
  }

  /// The region that a node runs in; `nil` for nodes that run by themselves: cleanup steps, `finally`, and the end of a
  /// group with its own region, whose start represents the whole group.
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
