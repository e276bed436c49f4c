import Synchronization

/// Dependencies between numbered nodes: each node comes after those that it needs.
struct DependencyGraph {
  /// The index in `needed` where each node's dependencies begin; one more entry than there are nodes.
  private var starts: [UInt32] = [0]
  private var needed: [UInt32] = []

  var count: Int { starts.count - 1 }

  func needs(of node: Int) -> ArraySlice<UInt32> {
    needed[Int(starts[node])..<Int(starts[node + 1])]
  }

  mutating func append(needing nodes: some Sequence<Int>) {
    needed += nodes.lazy.map { UInt32($0) }
    starts.append(UInt32(needed.count))
  }

  /// A graph in which every node needs the one before.
  static func chain(of count: Int) -> DependencyGraph {
    var graph = DependencyGraph()
    for node in 0..<count { graph.append(needing: node == 0 ? 0..<0 : (node - 1)..<node) }
    return graph
  }

  /// A graph whose last node needs all the others.
  static func fan(in count: Int) -> DependencyGraph {
    var graph = DependencyGraph()
    for _ in 0..<count { graph.append(needing: 0..<0) }
    graph.append(needing: 0..<count)
    return graph
  }

  /// A graph in which every node needs two earlier ones, which may be the same.
  static func random(of count: Int, seed: UInt64) -> DependencyGraph {
    var graph = DependencyGraph()
    var state = seed
    for node in 0..<count {
      graph.append(
        needing: (0..<min(node, 2)).map { _ in
          // Knuth's MMIX generator; its high bits are the random ones.
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return Int(state >> 33) % node
        })
    }
    return graph
  }
}

extension DependencyGraph {
  /// Builds the reverse edges and counters, counts down from the nodes without dependencies, and releases all.
  func settledByCounting() -> FutureSample {
    .measure(nodes: count) {
      CountingPlan(self)
    } finish: { plan in
      let settled = plan.run()
      precondition(settled == count)
      plan.release()
    }
  }
}

/// The data structures of a C program: a counter and a value for each node, successors in one array.
private struct CountingPlan {
  private let count: Int
  private let unsettled: UnsafeMutablePointer<Atomic<UInt32>>
  private let values: UnsafeMutablePointer<Int>
  private let starts: UnsafeMutablePointer<UInt32>
  private let successors: UnsafeMutablePointer<UInt32>
  private let ready: UnsafeMutablePointer<UInt32>

  init(_ graph: DependencyGraph) {
    count = graph.count
    unsettled = .allocate(capacity: count)
    values = .allocate(capacity: count)
    ready = .allocate(capacity: count)
    starts = .allocate(capacity: count + 1)
    values.initialize(repeating: 0, count: count)
    starts.initialize(repeating: 0, count: count + 1)
    var edgeCount = 0
    for node in 0..<count {
      let needs = graph.needs(of: node)
      (unsettled + node).initialize(to: Atomic(UInt32(needs.count)))
      edgeCount += needs.count
      for needed in needs { starts[Int(needed)] += 1 }
    }
    for node in 0..<count { starts[node + 1] += starts[node] }
    successors = .allocate(capacity: edgeCount)
    for node in 0..<count {
      for needed in graph.needs(of: node) {
        starts[Int(needed)] -= 1
        successors[Int(starts[Int(needed)])] = UInt32(node)
      }
    }
  }

  func run() -> Int {
    var readyCount = 0
    for node in 0..<count where unsettled[node].load(ordering: .relaxed) == 0 {
      ready[readyCount] = UInt32(node)
      readyCount += 1
    }
    var settledCount = 0
    while readyCount > 0 {
      readyCount -= 1
      settledCount += 1
      let node = Int(ready[readyCount])
      let value = values[node] &+ 1
      for edge in Int(starts[node])..<Int(starts[node + 1]) {
        let successor = Int(successors[edge])
        values[successor] &+= value
        let before = unsettled[successor].wrappingSubtract(1, ordering: .acquiringAndReleasing)
        guard before.oldValue == 1 else { continue }
        ready[readyCount] = UInt32(successor)
        readyCount += 1
      }
    }
    return settledCount
  }

  func release() {
    unsettled.deinitialize(count: count).deallocate()
    values.deallocate()
    ready.deallocate()
    starts.deallocate()
    successors.deallocate()
  }
}
