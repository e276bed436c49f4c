/// The nodes in an order in which each follows its dependencies (Kahn 1962); of several possible next nodes, the
/// smallest index comes first, which makes the order unique.
struct TopologicalOrder: Sendable {
  /// Incomplete if there is a cycle: the nodes on it and their dependents are missing.
  private(set) var nodes: [Int32] = []
  /// The number of dependencies that each node still waits for; 0 for all in `nodes`.
  private(set) var waits: [Int32]

  init(of dependencies: PlanEdges) {
    waits = dependencies.degrees()
    nodes.reserveCapacity(waits.count)
    let dependents = dependencies.reversed()
    var ready = SmallestFirst(capacity: waits.count)
    for node in waits.indices where waits[node] == 0 { ready.insert(node) }
    while let node = ready.removeSmallest() {
      nodes.append(Int32(node))
      for dependent in dependents[node] {
        waits[Int(dependent)] -= 1
        if waits[Int(dependent)] == 0 { ready.insert(Int(dependent)) }
      }
    }
  }
}

/// A set of small numbers that returns its smallest first.
///
/// A bit for each number, and for every 64 bits one bit above that is set if any of them is: a million numbers need
/// four levels, where a heap would need twenty.
private struct SmallestFirst {
  private var levels: [[UInt64]] = []

  /// Creates an empty set for numbers from 0 to below `capacity`.
  init(capacity: Int) {
    var count = capacity
    repeat {
      count = (count + 63) / 64
      levels.append(Array(repeating: 0, count: max(count, 1)))
    } while count > 1
  }

  mutating func insert(_ number: Int) {
    var position = number
    for level in levels.indices {
      levels[level][position >> 6] |= 1 << UInt64(position & 63)
      position >>= 6
    }
  }

  mutating func removeSmallest() -> Int? {
    guard levels[levels.count - 1][0] != 0 else { return nil }
    var position = 0
    for level in levels.indices.reversed() {
      position = position << 6 | levels[level][position].trailingZeroBitCount
    }
    remove(position)
    return position
  }

  private mutating func remove(_ number: Int) {
    var position = number
    for level in levels.indices {
      levels[level][position >> 6] &= ~(1 << UInt64(position & 63))
      guard levels[level][position >> 6] == 0 else { return }
      position >>= 6
    }
  }
}

extension PlanEdges {
  /// The number of edges of each node.
  func degrees() -> [Int32] {
    zip(offsets, offsets.dropFirst()).map { $1 - $0 }
  }

  /// The reversed edges: the dependents of each node, ascending.
  package func reversed() -> PlanEdges {
    var starts = Array(repeating: Int32(0), count: offsets.count)
    for target in targets { starts[Int(target) + 1] += 1 }
    for node in starts.indices.dropFirst() { starts[node] += starts[node - 1] }
    var next = starts
    var sources = Array(repeating: Int32(0), count: targets.count)
    for node in starts.indices.dropLast() {
      for target in self[node] {
        sources[Int(next[Int(target)])] = Int32(node)
        next[Int(target)] += 1
      }
    }
    return PlanEdges(offsets: starts, targets: sources)
  }
}

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
    let paths = pathEdges
    let above = CriticalPath.stepsAbove(each: nodes, paths.edges, paths.order)
    for step in steps { counts[Int(above[step.node])] += 1 }
    return counts.max() ?? 0
  }
}
