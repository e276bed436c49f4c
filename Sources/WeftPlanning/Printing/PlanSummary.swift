import WeftDefinition
import WeftDiagnostics

/// How large a plan is, in one line.
struct PlanSummary: Sendable, Hashable {
  var steps: Int
  /// Without the top level.
  var groups: Int
  var longestPath: Int
  /// See ``Plan/width``.
  var width: Int

  init(of plan: Plan) {
    steps = plan.steps.count
    groups = plan.groups.count - 1
    longestPath = plan.longestPath
    width = plan.width
  }

  /// `7 steps, 2 groups; longest path 4 steps, width 3`.
  var text: String {
    let counts = [count(steps, "step"), groups > 0 ? count(groups, "group") : nil]
    let size = counts.compactMap(\.self).joined(separator: ", ")
    guard steps > 1 else { return size }
    return "\(size); longest path \(count(longestPath, "step")), width \(width)"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}

extension Plan {
  /// What the plan is called: its name, else its file's, else nothing in particular.
  var title: String { workflow.name ?? workflow.source.value?.path ?? "workflow" }

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
