/// The lengths of paths in a graph in which each step has a length; group nodes have none.
enum CriticalPath {
  /// For each node, the length of the longest path from it to an end of the graph, including itself.
  ///
  /// - Parameter length: The length of a step, by its index.
  static func below<Length: AdditiveArithmetic & Comparable>(
    each nodes: [PlanNode], _ dependencies: PlanEdges, _ order: [Int32],
    length: (Int32) -> Length
  ) -> [Length] {
    var below = Array(repeating: Length.zero, count: nodes.count)
    for node in order.lazy.reversed().map(Int.init) {
      if case .step(let step) = nodes[node] { below[node] += length(step) }
      for dependency in dependencies[node].lazy.map(Int.init) {
        below[dependency] = max(below[dependency], below[node])
      }
    }
    return below
  }

  /// For each node, the number of steps on the longest path from it to an end of the graph, including itself.
  static func stepsBelow(
    each nodes: [PlanNode], _ dependencies: PlanEdges, _ order: [Int32]
  ) -> [Int32] {
    below(each: nodes, dependencies, order) { _ in 1 }
  }

  /// For each node, the number of steps on the longest path from a beginning of the graph to it, including itself.
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

  /// The steps of one longest path, in path order, without those of length zero; if there are several paths, the one
  /// whose steps come first in `order`.
  ///
  /// - Parameter below: The result of ``below(each:_:_:length:)``.
  static func steps(
    through nodes: [PlanNode], _ dependencies: PlanEdges, _ order: [Int32], below: [Int],
    length: (Int32) -> Int
  ) -> [Int] {
    guard var left = below.max(), left > 0 else { return [] }
    var path: [Int] = []
    var last: Int32?
    for node in order where below[Int(node)] == left {
      if let last, !dependencies[Int(node)].contains(last) { continue }
      last = node
      guard case .step(let step) = nodes[Int(node)], length(step) > 0 else { continue }
      path.append(Int(step))
      left -= length(step)
      if left == 0 { break }
    }
    return path
  }
}

extension Plan {
  /// The number of steps on the longest path through the graph: a run is no shorter than that, whatever the number of
  /// slots.
  public var longestPath: Int { Int(stepsBelow.max() ?? 0) }

  /// The maximum number of steps that run at once if all take equally long and no limit applies.
  public var width: Int {
    var counts = Array(repeating: 0, count: longestPath + 1)
    let above = CriticalPath.stepsAbove(each: nodes, dependencies, topologicalOrder)
    for step in steps { counts[Int(above[step.node])] += 1 }
    return counts.max() ?? 0
  }
}
