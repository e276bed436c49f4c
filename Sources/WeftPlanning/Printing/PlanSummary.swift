import WeftDefinition
import WeftDiagnostics

/// How large a plan is, in one line.
struct PlanSummary: Sendable, Hashable {
  var steps: Int
  /// Of these, those that clean up.
  var cleanups: Int
  /// Of these, those that are run when all else has ended.
  var final: Int
  /// Without top levels and what is done finally.
  var groups: Int
  /// How many steps there are with those of all elements; `nil` where all are run once, or it is not known.
  var withElements: Int?
  var longestPath: Int
  /// See ``Plan/width``.
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

  /// `7 steps, 2 groups; longest path 4 steps, width 3`.
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
    guard counts.isAnyMany else { return nil }
    var sum = 0
    for step in steps {
      guard let times = counts.times(of: step) else { return nil }
      sum += times
    }
    return sum
  }

  /// What the plan is called: its name, else its file's, else nothing in particular.
  var title: String { workflow.name ?? workflow.source.value?.path ?? "workflow" }

  /// What a group is called in a drawing.
  func title(of group: PlannedGroup) -> String {
    guard !group.isTopLevel else { return files[group.file].workflow.name ?? "steps of the file" }
    return name(of: group) ?? group.address?.text ?? ""
  }

  /// The step that a node is, or the group that it begins or ends.
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

  /// Visits the edges of a step or of a group's start that say something: not the one to the start
  /// of its own group where another leads into the same group and so comes later anyway.
  func visitTellingEdges(of node: NodeIndex, in group: Int, _ visit: (NodeIndex) -> Void) {
    let edges = dependencies[node]
    let (start, end) = (groups[group].startNode, groups[group].endNode)
    for edge in edges.lazy.map(Int.init) {
      if edge == start, edges.contains(where: { $0 > start && $0 < end }) { continue }
      visit(edge)
    }
  }
}
