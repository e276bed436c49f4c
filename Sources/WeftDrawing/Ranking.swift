/// The rank of each vertex: links lead from lower ranks to higher ones.
///
/// Ranks are those of the longest paths from above; then vertices move where their links are shortest. The links must
/// have no cycles.
struct Ranking {
  private let vertices: [Level.Vertex]
  private let links: [Level.Link]
  private var heads: Adjacency
  private var tails: Adjacency
  private(set) var ranks: [Int]

  init(_ vertices: [Level.Vertex], _ links: [Level.Link]) {
    self.vertices = vertices
    self.links = links
    heads = Adjacency(vertices.count, links.map { ($0.tail, $0.head) })
    tails = Adjacency(vertices.count, links.map { ($0.head, $0.tail) })
    ranks = Array(repeating: 0, count: vertices.count)
    let order = topologicalOrder()
    rankByLongestPath(order)
    lowerPorts()
    for _ in 0..<4 where !compact(order) { break }
  }

  private func topologicalOrder() -> [Int] {
    var waiting = vertices.indices.map { tails[$0].count }
    var order = vertices.indices.filter { waiting[$0] == 0 }
    var next = 0
    while next < order.count {
      for head in heads[order[next]] {
        waiting[head] -= 1
        if waiting[head] == 0 { order.append(head) }
      }
      next += 1
    }
    return order
  }

  private mutating func rankByLongestPath(_ order: [Int]) {
    for vertex in order {
      for head in heads[vertex] { ranks[head] = max(ranks[head], ranks[vertex] + 1) }
    }
  }

  /// Moves ports at the bottom to the last rank.
  private mutating func lowerPorts() {
    var last = 0
    for vertex in vertices.indices { last = max(last, ranks[vertex]) }
    for vertex in vertices.indices where vertices[vertex].side == .bottom { ranks[vertex] = last }
  }

  /// Moves each vertex down or up as far as it shortens its links.
  ///
  /// - Returns: Whether any vertex moved.
  private mutating func compact(_ order: [Int]) -> Bool {
    var hasMoved = false
    for vertex in order.reversed() where heads[vertex].count > tails[vertex].count {
      guard vertices[vertex].side == nil else { continue }
      let lowest = heads[vertex].reduce(Int.max) { min($0, ranks[$1] - 1) }
      if lowest > ranks[vertex] {
        ranks[vertex] = lowest
        hasMoved = true
      }
    }
    for vertex in order where tails[vertex].count > heads[vertex].count {
      guard vertices[vertex].side == nil else { continue }
      let highest = tails[vertex].reduce(0) { max($0, ranks[$1] + 1) }
      if highest < ranks[vertex] {
        ranks[vertex] = highest
        hasMoved = true
      }
    }
    return hasMoved
  }
}

/// The neighbours of each vertex, in one array.
struct Adjacency {
  private var offsets: [Int]
  private var targets: [Int]

  init(_ count: Int, _ pairs: [(from: Int, to: Int)]) {
    offsets = Array(repeating: 0, count: count + 1)
    for pair in pairs { offsets[pair.from + 1] += 1 }
    for index in 0..<count { offsets[index + 1] += offsets[index] }
    targets = Array(repeating: 0, count: pairs.count)
    var next = offsets
    for pair in pairs {
      targets[next[pair.from]] = pair.to
      next[pair.from] += 1
    }
  }

  subscript(vertex: Int) -> ArraySlice<Int> { targets[offsets[vertex]..<offsets[vertex + 1]] }
}
