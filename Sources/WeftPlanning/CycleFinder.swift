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

/// Finds the strongly connected components of a graph (Tarjan 1972), with an explicit stack, so that paths may have any
/// length.
struct StronglyConnected {
  /// A node, and the next of its edges to follow.
  private struct Visit {
    var node: Int
    var next: Int
  }

  private let edges: PlanEdges
  /// The order in which each node was first reached, from 1; 0 before.
  private var numbers: [Int32]
  /// The lowest number that can be reached from each node.
  private var lowest: [Int32]
  private var isOpen: [Bool]
  private var open: [Int32] = []
  private var visits: [Visit] = []
  private var counter: Int32 = 0
  private var components: [[Int32]] = []

  /// The components of more than one node that can be reached from `nodes`, each in ascending order, sorted by their
  /// first nodes.
  static func components(of edges: PlanEdges, from nodes: some Sequence<Int>) -> [[Int32]] {
    var search = StronglyConnected(edges)
    for node in nodes where search.numbers[node] == 0 { search.explore(from: node) }
    return search.components.sorted { $0[0] < $1[0] }
  }

  private init(_ edges: PlanEdges) {
    self.edges = edges
    let count = edges.offsets.count - 1
    numbers = Array(repeating: 0, count: count)
    lowest = numbers
    isOpen = Array(repeating: false, count: count)
  }

  private mutating func explore(from root: Int) {
    enter(root)
    while let last = visits.indices.last {
      let node = visits[last].node
      guard visits[last].next < Int(edges.offsets[node + 1]) else {
        leave(node)
        continue
      }
      let target = Int(edges.targets[visits[last].next])
      visits[last].next += 1
      if numbers[target] == 0 {
        enter(target)
      } else if isOpen[target] {
        lowest[node] = min(lowest[node], numbers[target])
      }
    }
  }

  private mutating func enter(_ node: Int) {
    counter += 1
    numbers[node] = counter
    lowest[node] = counter
    isOpen[node] = true
    open.append(Int32(node))
    visits.append(Visit(node: node, next: Int(edges.offsets[node])))
  }

  private mutating func leave(_ node: Int) {
    visits.removeLast()
    if let parent = visits.last?.node { lowest[parent] = min(lowest[parent], lowest[node]) }
    guard lowest[node] == numbers[node], let start = open.lastIndex(of: Int32(node)) else { return }
    let component = open[start...].sorted()
    open.removeSubrange(start...)
    for member in component { isOpen[Int(member)] = false }
    if component.count > 1 { components.append(component) }
  }
}
