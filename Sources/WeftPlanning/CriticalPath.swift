/// How long the paths of a graph are, where each step has a length of its own; the nodes of groups have none.
enum CriticalPath {
  /// For each node the length of the longest path from it to an end of the graph, itself included.
  ///
  /// - Parameter length: Of a step, by its index.
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

  /// For each node the steps on the longest path from it to an end of the graph, itself included.
  static func stepsBelow(
    each nodes: [PlanNode], _ dependencies: PlanEdges, _ order: [Int32]
  ) -> [Int32] {
    below(each: nodes, dependencies, order) { _ in 1 }
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

  /// The steps of one longest path, in the order in which they follow each other, without those that have no
  /// length; of several paths the one whose steps come first in `order`.
  ///
  /// - Parameter below: As ``below(each:_:_:length:)`` returns it.
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
