/// How long the paths of a graph are, counted in steps; the nodes of groups weigh nothing.
enum CriticalPath {
  /// For each node the steps on the longest path from it to an end of the graph, itself included.
  static func stepsBelow(
    each nodes: [PlanNode], _ dependencies: PlanEdges, _ order: [Int32]
  ) -> [Int32] {
    var below = Array(repeating: Int32(0), count: nodes.count)
    for node in order.lazy.reversed().map(Int.init) {
      if case .step = nodes[node] { below[node] += 1 }
      for dependency in dependencies[node].lazy.map(Int.init) {
        below[dependency] = max(below[dependency], below[node])
      }
    }
    return below
  }

  /// For each node the steps on the longest path from a beginning of the graph to it, itself
  /// included.
  static func stepsAbove(
    each nodes: [PlanNode], _ dependencies: PlanEdges, _ order: [Int32]
  ) -> [Int32] {
    var above = Array(repeating: Int32(0), count: nodes.count)
    for node in order.lazy.map(Int.init) {
      for dependency in dependencies[node] {
        above[node] = max(above[node], above[Int(dependency)])
      }
      if case .step = nodes[node] { above[node] += 1 }
    }
    return above
  }
}

extension Plan {
  /// The number of steps on the longest path through the graph: no number of slots makes a run
  /// shorter than that.
  public var longestPath: Int { Int(stepsBelow.max() ?? 0) }

  /// The most steps that run at once if all take equally long and no limit holds any back.
  public var width: Int {
    var counts = Array(repeating: 0, count: longestPath + 1)
    let above = CriticalPath.stepsAbove(each: nodes, dependencies, topologicalOrder)
    for step in steps { counts[Int(above[step.node])] += 1 }
    return counts.max() ?? 0
  }
}
