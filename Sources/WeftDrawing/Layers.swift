/// A level in layers: a layer per rank, in which dummy vertices carry the long links.
///
/// Many long links with the same beginning, or the same end, share their dummy vertices, as a trunk with branches: a
/// step that a thousand others wait for has one line that all of them join. Few are not worth the crossings that the
/// place of a trunk costs.
struct Layers {
  /// A link between neighbouring layers.
  struct Arc {
    var tail: Int
    var head: Int
    /// The place at the tail and the head, which orders the arcs of one vertex.
    var tailSlot: Int
    var headSlot: Int
    /// The number of links that it carries.
    var weight: Int
  }

  /// The number of places along a vertex.
  static let slots = 1 << 12

  /// The length of long links, in dummy vertices, up to which those of one vertex have lines of their own, unless all
  /// together are longer than the other number.
  private static let unsharedLengthOfAnchor = 14
  private static let unsharedLength = 4000

  /// The vertices of the level, then the dummy vertices.
  private(set) var sizes: [Size]
  let vertices: [Level.Vertex]
  let links: [Level.Link]
  private(set) var ranks: [Int]
  /// The dummy vertices of each link, from above.
  private(set) var dummies: [[Int]]
  private(set) var arcs: [Arc] = []
  /// The arcs above and below each vertex.
  private(set) var above: Adjacency
  private(set) var below: Adjacency
  /// The vertices of each layer, from the left.
  var order: [[Int]]

  init(_ vertices: [Level.Vertex], _ links: [Level.Link]) {
    sizes = vertices.map(\.size)
    self.vertices = vertices
    self.links = links
    ranks = Ranking(vertices, links).ranks
    dummies = Array(repeating: [], count: links.count)
    above = Adjacency(0, [])
    below = Adjacency(0, [])
    order = []
    addArcs()
    let rows = arcs.enumerated()
    below = Adjacency(sizes.count, rows.map { ($0.element.tail, $0.offset) })
    above = Adjacency(sizes.count, rows.map { ($0.element.head, $0.offset) })
    order = Array(repeating: [], count: (ranks.max() ?? -1) + 1)
    for vertex in ranks.indices { order[ranks[vertex]].append(vertex) }
  }

  func isDummy(_ vertex: Int) -> Bool { vertex >= vertices.count }

  /// The end of a link at a vertex; trunks are shared by links with the same anchor.
  private struct Anchor: Hashable {
    var vertex: Int
    var offset: Int
  }

  private mutating func addArcs() {
    var (outgoing, incoming): ([Anchor: Int], [Anchor: Int]) = ([:], [:])
    var length = 0
    for link in links where span(link) > 1 {
      outgoing[tail(link), default: 0] += span(link) - 1
      incoming[head(link), default: 0] += span(link) - 1
      length += span(link) - 1
    }
    let unshared = length > Layers.unsharedLength ? 0 : Layers.unsharedLengthOfAnchor
    var (falling, rising): ([Anchor: [Int]], [Anchor: [Int]]) = ([:], [:])
    for (index, link) in links.enumerated() {
      guard span(link) > 1 else {
        addArc(link.tail, link.head, link)
        continue
      }
      let (below, above) = (outgoing[tail(link)]!, incoming[head(link)]!)
      if max(below, above) <= unshared {
        var trunk: [Int] = []
        dummies[index] = follow(&trunk, link)
      } else if below >= above {
        dummies[index] = follow(&falling[tail(link), default: []], link)
      } else {
        dummies[index] = climb(&rising[head(link), default: []], link)
      }
    }
  }

  private func tail(_ link: Level.Link) -> Anchor {
    Anchor(vertex: link.tail, offset: link.tailOffset)
  }

  private func head(_ link: Level.Link) -> Anchor {
    Anchor(vertex: link.head, offset: link.headOffset)
  }

  private func span(_ link: Level.Link) -> Int { ranks[link.head] - ranks[link.tail] }

  /// Adds a link to the trunk below its tail. The trunk holds arcs, each of which ends at a dummy vertex.
  private mutating func follow(_ trunk: inout [Int], _ link: Level.Link) -> [Int] {
    let needed = span(link) - 1
    for arc in trunk.prefix(needed) { arcs[arc].weight += 1 }
    while trunk.count < needed {
      let upper = trunk.last.map { arcs[$0].head } ?? link.tail
      let dummy = addDummy(ranks[link.tail] + trunk.count + 1)
      trunk.append(arcs.count)
      addArc(upper, dummy, link)
    }
    let path = trunk.prefix(needed).map { arcs[$0].head }
    addArc(path[needed - 1], link.head, link)
    return path
  }

  /// Adds a link to the trunk above its head. The trunk holds arcs, each of which begins at a dummy vertex.
  private mutating func climb(_ trunk: inout [Int], _ link: Level.Link) -> [Int] {
    let needed = span(link) - 1
    for arc in trunk.prefix(needed) { arcs[arc].weight += 1 }
    while trunk.count < needed {
      let lower = trunk.last.map { arcs[$0].tail } ?? link.head
      let dummy = addDummy(ranks[link.head] - trunk.count - 1)
      trunk.append(arcs.count)
      addArc(dummy, lower, link)
    }
    let path = trunk.prefix(needed).map { arcs[$0].tail }
    addArc(link.tail, path[needed - 1], link)
    return Array(path.reversed())
  }

  private mutating func addDummy(_ rank: Int) -> Int {
    sizes.append(Size(width: 0, height: 0))
    ranks.append(rank)
    return sizes.count - 1
  }

  private mutating func addArc(_ tail: Int, _ head: Int, _ link: Level.Link) {
    arcs.append(
      Arc(
        tail: tail, head: head,
        tailSlot: slot(tail, tail == link.tail ? link.tailOffset : 0),
        headSlot: slot(head, head == link.head ? link.headOffset : 0), weight: 1))
  }

  private func slot(_ vertex: Int, _ offset: Int) -> Int {
    let half = Layers.slots / 2
    return half + offset * (half - 1) / max(sizes[vertex].width, 1)
  }
}

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
