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

  /// The edges of a step or of a group's start that say something: not the one to the start of its
  /// own group where another leads into the same group and so comes later anyway.
  func tellingEdges(of node: NodeIndex, in group: Int) -> some Sequence<Int> {
    let edges = dependencies[node]
    let start = groups[group].startNode
    let comesLater = edges.contains { $0 > start && $0 < groups[group].endNode }
    return edges.lazy.map(Int.init).filter { $0 != start || !comesLater }
  }
}
