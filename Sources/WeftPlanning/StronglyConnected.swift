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
