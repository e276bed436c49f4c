/// Finds the parts of a graph in which every node can be reached from every other (Tarjan 1972),
/// with a stack of its own, so that the length of a path does not matter.
struct StronglyConnected {
  /// A node with the edges of it that have been followed.
  private struct Visit {
    var node: Int
    var next: Int
  }

  private let edges: PlanEdges
  /// When each node was first reached, from 1; 0 before.
  private var numbers: [Int32]
  /// The earliest number that can be reached from each node.
  private var lowest: [Int32]
  private var isOpen: [Bool]
  private var open: [Int32] = []
  private var visits: [Visit] = []
  private var counter: Int32 = 0
  private var components: [[Int32]] = []

  /// The components of more than one node among those that can be reached from `nodes`, each in
  /// ascending order, ordered by their first nodes.
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
