import WeftDefinition

/// Finds nodes that wait for each other, and a short cycle to report for each strongly connected component.
///
/// For every component there is one cycle, which visits no node twice. It is a shortest one of its component as long as
/// the search stays within ``workLimit`` edges for all components together: with maximum lengths of 2, 4, 8 … edges,
/// cycles are searched for from every node that can begin one. If the work runs out, the cycle is the shortest of those
/// found, or else the shortest through one node of the component.
///
/// Every cycle has an edge to a later node and one to an earlier node of the file, so only the nodes with edges of the
/// rarer kind need to be tried: a single wrong need in a list of a hundred thousand steps takes one search, however
/// long the cycle.
struct CycleFinder {
  static let workLimit = 4_000_000

  private let edges: PlanEdges
  /// The component of each node, from 1; 0 for none.
  private var component: [Int32]
  /// The search that last reached each node, and the node from which it did.
  private var reached: [Int32]
  private var origin: [Int32]
  private var search: Int32 = 0
  private var workLeft = CycleFinder.workLimit

  /// One cycle for each component: its nodes in the order in which they wait for each other, without repeating the
  /// first at the end.
  static func cycles(of edges: PlanEdges, leftOutOf order: TopologicalOrder) -> [[Int32]] {
    guard order.nodes.count < order.waits.count else { return [] }
    let left = order.waits.indices.lazy.filter { order.waits[$0] > 0 }
    let components = StronglyConnected.components(of: edges, from: left)
    var finder = CycleFinder(edges, components)
    return components.prefix(WorkflowLimits.problems).map { finder.shortestCycle(in: $0) }
  }

  private init(_ edges: PlanEdges, _ components: [[Int32]]) {
    self.edges = edges
    component = Array(repeating: 0, count: edges.offsets.count - 1)
    reached = component
    origin = component
    for (number, nodes) in components.enumerated() {
      for node in nodes { component[Int(node)] = Int32(number + 1) }
    }
  }

  private mutating func shortestCycle(in nodes: [Int32]) -> [Int32] {
    let starts = starts(in: nodes)
    var best: [Int32]?
    var limit = 2
    while best == nil, workLeft > 0 {
      for start in starts where workLeft > 0 {
        let bound = best.map { $0.count - 1 } ?? limit
        best = cycle(through: start, atMost: bound) ?? best
      }
      limit *= 2
    }
    guard let found = best ?? cycle(through: starts[0], atMost: nodes.count) else {
      preconditionFailure("node \(starts[0]) is in a strongly connected component, but no cycle")
    }
    return found
  }

  /// The nodes from which all cycles can be found.
  private func starts(in nodes: [Int32]) -> [Int32] {
    var forward: [Int32] = []
    var backward: [Int32] = []
    for node in nodes {
      let number = component[Int(node)]
      let targets = edges[Int(node)].filter { component[Int($0)] == number }
      if targets.contains(where: { $0 > node }) { forward.append(node) }
      if targets.contains(where: { $0 < node }) { backward.append(node) }
    }
    return forward.count <= backward.count ? forward : backward
  }

  /// The shortest cycle through `start`, if it has at most `limit` edges (breadth first).
  private mutating func cycle(through start: Int32, atMost limit: Int) -> [Int32]? {
    search += 1
    var frontier = [start]
    for _ in 0..<limit where !frontier.isEmpty {
      var next: [Int32] = []
      for node in frontier {
        if reach(start, from: node, adding: &next) { return path(from: start, to: node) }
      }
      frontier = next
    }
    return nil
  }

  /// Follows the edges of `node` that stay in the component, and returns whether one leads to `start`.
  private mutating func reach(
    _ start: Int32, from node: Int32, adding found: inout [Int32]
  ) -> Bool {
    let targets = edges[Int(node)]
    workLeft -= targets.count
    for target in targets where component[Int(target)] == component[Int(start)] {
      if target == start { return true }
      guard reached[Int(target)] != search else { continue }
      reached[Int(target)] = search
      origin[Int(target)] = node
      found.append(target)
    }
    return false
  }

  private func path(from start: Int32, to end: Int32) -> [Int32] {
    var path = [end]
    while let node = path.last, node != start { path.append(origin[Int(node)]) }
    return path.reversed()
  }
}
