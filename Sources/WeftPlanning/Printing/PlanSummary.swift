import WeftDefinition
import WeftDiagnostics

/// The size of a plan, in one line.
struct PlanSummary: Sendable, Hashable {
  var steps: Int
  /// The number of cleanup steps among them.
  var cleanups: Int
  /// The number of `finally` steps among them.
  var final: Int
  /// The number of groups, without top levels and `finally`.
  var groups: Int
  /// The number of steps in all elements of all loops; `nil` if there are no loops, or it is unknown.
  var withElements: Int?
  var longestPath: Int
  /// The value of ``Plan/width``.
  var width: Int

  init(of plan: Plan) {
    steps = plan.steps.count
    cleanups = plan.bodies.cleanups.values.reduce(0) { $0 + $1.count }
    final = plan.finalSteps
    groups = plan.groups.count { !$0.isTopLevel } - plan.bodies.finallyGroups.count
    withElements = plan.countWithElements
    longestPath = plan.longestPath
    width = plan.width
  }

  /// The summary for the user: `7 steps, 2 groups; longest path 4 steps, width 3`.
  var text: String {
    let special = [
      cleanups > 0 ? "\(cleanups) cleaning up" : nil, final > 0 ? "\(final) finally" : nil,
      withElements.map { "\($0) with all elements" },
    ].compactMap(\.self)
    let details = special.isEmpty ? "" : " (\(special.joined(separator: ", ")))"
    let counts = [count(steps, "step") + details, groups > 0 ? count(groups, "group") : nil]
    let size = counts.compactMap(\.self).joined(separator: ", ")
    guard steps > 1 else { return size }
    return "\(size); longest path \(count(longestPath, "step")), width \(width)"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}

extension Plan {
  fileprivate var finalSteps: Int {
    let ranges = bodies.finallyGroups.map { groups[$0].startNode...groups[$0].endNode }
    return ranges.isEmpty
      ? 0 : steps.count { step in ranges.contains { $0.contains(step.node) } }
  }

  fileprivate var countWithElements: Int? {
    let counts = InstanceCounts(of: self)
    guard counts.hasLoops else { return nil }
    var sum = 0
    for step in steps {
      guard let times = counts.times(of: step) else { return nil }
      sum += times
    }
    return sum
  }

  /// The title of the plan: its name, or else the path of its file, or else a generic word.
  var title: String { workflow.name ?? workflow.source.value?.path ?? "workflow" }

  /// The title of a group in a drawing.
  func title(of group: PlannedGroup) -> String {
    guard !group.isTopLevel else { return files[group.file].workflow.name ?? "steps of the file" }
    return name(of: group) ?? group.address?.text ?? ""
  }

  /// The address of the step at a node, or of the group that begins or ends there.
  package func address(of node: NodeIndex) -> StepAddress {
    switch nodes[node] {
    case .step(let index): return steps[Int(index)].address
    case .groupStart(let index), .groupEnd(let index):
      guard let address = groups[Int(index)].address else {
        preconditionFailure("the top level has no node, but \(node) is one")
      }
      return address
    }
  }

  /// Visits the informative edges of a step or of a group's start: it omits the edge to the start of its own group if
  /// another edge leads into the same group, which implies it.
  func visitShownEdges(of node: NodeIndex, in group: Int, _ visit: (NodeIndex) -> Void) {
    let edges = dependencies[node]
    let (start, end) = (groups[group].startNode, groups[group].endNode)
    for edge in edges.lazy.map(Int.init) {
      if edge == start, edges.contains(where: { $0 > start && $0 < end }) { continue }
      visit(edge)
    }
  }
}

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
}
