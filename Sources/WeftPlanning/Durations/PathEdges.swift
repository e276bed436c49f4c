import WeftDefinition

/// The edges that decide how long a run takes at least: the dependencies, and the order of the cleanups of each group,
/// which run one at a time, in the reverse order of the starts of what they clean up.
struct PathEdges {
  let edges: PlanEdges
  /// The nodes, each after those that it waits for.
  let order: [Int32]

  /// - Parameters:
  ///   - cleanups: The cleanup steps of each step or, by its start, group.
  ///   - order: A topological order of the dependencies.
  init(
    of graph: some StepGraph, _ cleanups: [Plan.NodeIndex: Range<Int32>],
    _ dependencies: PlanEdges, _ order: [Int32]
  ) {
    let previous = PathEdges.previousCleanups(of: graph, cleanups, order)
    guard !previous.isEmpty else {
      (edges, self.order) = (dependencies, order)
      return
    }
    edges = dependencies.adding(previous)
    self.order = TopologicalOrder(of: edges).nodes
  }

  /// For the node of the first cleanup step of a step or group, that of the cleanup step in the same group before it.
  private static func previousCleanups(
    of graph: some StepGraph, _ cleanups: [Plan.NodeIndex: Range<Int32>], _ order: [Int32]
  ) -> [Plan.NodeIndex: Int32] {
    guard cleanups.count > 1 else { return [:] }
    var previous: [Plan.NodeIndex: Int32] = [:]
    var last: [Int: Int32] = [:]
    for owner in order.reversed() {
      guard let steps = cleanups[Int(owner)] else { continue }
      let (first, final) = (graph.steps[Int(steps.first!)], graph.steps[Int(steps.last!)])
      previous[first.node] = last[first.group]
      last[first.group] = Int32(final.node)
    }
    return previous
  }
}

extension PlanEdges {
  /// Returns the edges with one more for some nodes.
  fileprivate func adding(_ further: [Plan.NodeIndex: Int32]) -> PlanEdges {
    var (offsets, targets): ([Int32], [Int32]) = ([0], [])
    targets.reserveCapacity(self.targets.count + further.count)
    for node in self.offsets.indices.dropLast() {
      var own = Array(self[node])
      if let target = further[node], !own.contains(target) {
        own.insert(target, at: own.firstIndex { $0 > target } ?? own.endIndex)
      }
      targets += own
      offsets.append(Int32(targets.count))
    }
    return PlanEdges(offsets: offsets, targets: targets)
  }
}

extension Plan {
  var pathEdges: PathEdges { PathEdges(of: self, bodies.cleanups, dependencies, topologicalOrder) }
}
