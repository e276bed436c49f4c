import WeftDefinition
import WeftEvents
import WeftPlanning

/// A plan region: the part of a plan that an instance instantiates as a whole.
struct PlanRegion: Sendable {
  /// The nodes of the step, or of the group from its start to its end, and of its cleanup steps.
  let nodes: Range<Int>
  let steps: Range<Int>
  let groups: Range<Int>
  /// The step, or the start of the group, that the region consists of; `nil` for the run as a whole.
  let memberNode: Plan.NodeIndex?
  /// The address of the member in the plan.
  let address: StepAddress?

  init(allOf plan: Plan) {
    nodes = plan.nodes.indices
    steps = plan.steps.indices
    groups = plan.groups.indices
    memberNode = nil
    address = nil
  }

  /// The region of a step or group and its cleanup steps.
  init(_ member: PlanMember, of plan: Plan) {
    switch member {
    case .step(let index): self.init(step: index, of: plan)
    case .group(let index): self.init(group: index, of: plan)
    }
  }

  /// The region of a step and its cleanup steps.
  init(step index: Int, of plan: Plan) {
    let step = plan.steps[index]
    let count = 1 + (plan.bodies.cleanups[step.node]?.count ?? 0)
    nodes = step.node..<step.node + count
    steps = index..<index + count
    groups = 0..<0
    memberNode = step.node
    address = step.address
  }

  /// The region of a group and its cleanup steps.
  init(group index: Int, of plan: Plan) {
    let group = plan.groups[index]
    let cleanups = plan.bodies.cleanups[group.startNode]?.count ?? 0
    nodes = group.startNode..<group.endNode + 1 + cleanups
    let inside = plan.steps(inGroup: index)
    steps = inside.lowerBound..<inside.upperBound + cleanups
    groups = plan.groups(inGroup: index)
    memberNode = group.startNode
    address = group.address
  }
}

extension Plan {
  /// Whether a region has cleanups, or runs a file with `finally`.
  func closes(in region: PlanRegion) -> Bool {
    files.contains { $0.finally != nil && $0.caller.map(region.groups.contains) == true }
      || !bodies.cleanups.isEmpty && region.nodes.contains { bodies.cleanups[$0] != nil }
  }

  /// The steps inside a group, at any depth.
  package func steps(inGroup index: Int) -> Range<Int> {
    let (start, end) = (groups[index].startNode, groups[index].endNode)
    let first = steps.firstIndex(from: 0) { $0.node > start }
    return first..<steps.firstIndex(from: first) { $0.node > end }
  }

  /// A group and the groups inside it, at any depth.
  func groups(inGroup index: Int) -> Range<Int> {
    let end = groups[index].endNode
    var next = index + 1
    while next < groups.count, groups[next].startNode < end { next += 1 }
    return index..<next
  }
}

extension Array {
  /// The index of the first element that is past, in an array whose elements that are past all come last.
  fileprivate func firstIndex(from start: Int, where isPast: (Element) -> Bool) -> Int {
    var (low, high) = (start, count)
    while low < high {
      let middle = (low + high) / 2
      if isPast(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
