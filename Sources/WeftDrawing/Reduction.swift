extension Picture {
  /// The most boxes that are drawn one by one.
  package static let largest = 2500
  /// The most edges between them.
  package static let mostEdges = 25_000

  /// The picture itself, or one in which groups and similar boxes are replaced by counted ones if it would be too large
  /// to read.
  package func reduced() -> Picture {
    var reduction = Reduction(self)
    return reduction.reduced()
  }
}

/// A picture with counted boxes in place of too many.
///
/// Groups are opened from the outside while there is room. In a level with too many boxes, those of one rank with
/// similar names become one; with too many ranks, those of neighbouring ranks.
private struct Reduction {
  /// A level of at most this many boxes is never reduced.
  private static let levelSize = 250
  /// The most ranks that are shown of a reduced level, and boxes in each.
  private static let ranks = 40
  private static let namesInRank = 8
  /// The longest that all long edges of a level together may be, in ranks.
  private static let edgeLength = 60_000

  private let picture: Picture
  private let hierarchy: Hierarchy
  private var isReduced = false
  /// The boxes of each level, those that become one together.
  private var units: [[[Int]]] = []
  /// The number of nodes in each group.
  private var counts: [Int]

  private var result: Picture
  /// The end in the result for each box.
  private var ends: [Graph.End?]

  init(_ picture: Picture) {
    self.picture = picture
    hierarchy = Hierarchy(nodes: picture.nodes.map(\.group), groups: picture.groups.map(\.parent))
    counts = Array(repeating: 0, count: picture.groups.count)
    result = Picture(title: picture.title, summary: picture.summary)
    ends = Array(repeating: nil, count: hierarchy.level.count)
    for node in picture.nodes { if let group = node.group { counts[group] += 1 } }
    for (index, group) in picture.groups.enumerated().reversed() {
      if let parent = group.parent { counts[parent] += counts[index] }
    }
  }

  mutating func reduced() -> Picture {
    isReduced = isTooLarge
    uniteBoxes()
    guard isReduced else { return picture }
    addBoxes()
    addEdges()
    return result
  }

  private var isTooLarge: Bool {
    hierarchy.level.count > Picture.largest || picture.edges.count > Picture.mostEdges
  }

  // MARK: Units

  private mutating func uniteBoxes() {
    let large = hierarchy.members.map { $0.count > Reduction.levelSize }
    let edges = large.contains(true) ? edgesOfLevels(large) : []
    for (level, members) in hierarchy.members.enumerated() {
      guard large[level] else {
        units.append(members.map { [$0] })
        continue
      }
      let ranks = Ranks(members, edges[level])
      let isTooLong = ranks.edgeLength > Reduction.edgeLength
      if isTooLong { isReduced = true }
      units.append(isTooLong || isTooLarge ? united(members, ranks) : members.map { [$0] })
    }
  }

  /// The edges among the boxes of each level that `isWanted`.
  private func edgesOfLevels(_ isWanted: [Bool]) -> [[(from: Int, to: Int)]] {
    var edges: [[(from: Int, to: Int)]] = Array(repeating: [], count: isWanted.count)
    for edge in picture.edges {
      guard let pair = hierarchy.climb(edge.from, edge.to) else { continue }
      let level = hierarchy.level[pair.from]
      if isWanted[level] { edges[level].append(pair) }
    }
    return edges
  }

  private func united(_ members: [Int], _ ranks: Ranks) -> [[Int]] {
    let areJoined = ranks.count > Reduction.ranks
    var bins: [[Int]] = Array(repeating: [], count: min(ranks.count, Reduction.ranks))
    for (index, box) in members.enumerated() {
      let rank = ranks.ranks[index]
      bins[areJoined ? rank * Reduction.ranks / ranks.count : rank].append(box)
    }
    return bins.flatMap { areJoined ? [$0] : unitedByName($0) }
  }

  /// The boxes with similar names together; the rarest names are one.
  private func unitedByName(_ boxes: [Int]) -> [[Int]] {
    guard boxes.count > Reduction.namesInRank else { return boxes.map { [$0] } }
    var index: [String: Int] = [:]
    var units: [[Int]] = []
    for box in boxes {
      let stem = Reduction.stem(of: name(of: box))
      if let known = index[stem] {
        units[known].append(box)
      } else {
        index[stem] = units.count
        units.append([box])
      }
    }
    guard units.count > Reduction.namesInRank else { return units }
    let byCount = units.indices.sorted { (-units[$0].count, $0) < (-units[$1].count, $1) }
    let kept = byCount.prefix(Reduction.namesInRank - 1).sorted()
    let rest = byCount.dropFirst(Reduction.namesInRank - 1).flatMap { units[$0] }.sorted()
    return kept.map { units[$0] } + [rest]
  }

  /// The part of a name before its number.
  private static func stem(of name: String) -> String {
    String(name.prefix { !$0.isNumber })
  }

  private func name(of box: Int) -> String {
    let lines = hierarchy.group(box).map { picture.groups[$0].lines } ?? picture.nodes[box].lines
    return lines.first?.text ?? ""
  }

  // MARK: Result

  private mutating func addBoxes() {
    var room = Picture.largest - units[hierarchy.root].count
    var waiting = [(level: hierarchy.root, group: Int?.none)]
    var next = 0
    while next < waiting.count {
      let (level, group) = waiting[next]
      next += 1
      for unit in units[level] {
        guard unit.count == 1, let inner = hierarchy.group(unit[0]) else {
          add(unit, in: group)
          continue
        }
        guard units[inner].count <= room else {
          add(unit, in: group)
          continue
        }
        room -= units[inner].count
        ends[unit[0]] = .group(result.groups.count)
        waiting.append((inner, result.groups.count))
        var copy = picture.groups[inner]
        copy.parent = group
        result.groups.append(copy)
      }
    }
  }

  private mutating func add(_ unit: [Int], in group: Int?) {
    for box in unit { ends[box] = .node(result.nodes.count) }
    var node =
      unit.count == 1 && hierarchy.group(unit[0]) == nil ? picture.nodes[unit[0]] : counted(unit)
    node.group = group
    result.nodes.append(node)
  }

  /// A box for several.
  private func counted(_ unit: [Int]) -> Picture.Node {
    let count = unit.reduce(0) { $0 + (hierarchy.group($1).map { counts[$0] } ?? 1) }
    let number = Picture.Line(Reduction.text(of: count), .remark, sign: .loop)
    let names = [name(of: unit[0]), "…", name(of: unit[unit.count - 1])]
    let lines =
      unit.count == 1 ? [Picture.Line(names[0], .name)] : names.map { Picture.Line($0, .name) }
    let traits = unit.map {
      hierarchy.group($0).map { picture.groups[$0].traits } ?? picture.nodes[$0].traits
    }
    var common: Picture.Traits = [.many]
    if traits.contains(where: { $0.contains(.critical) }) { common.insert(.critical) }
    if traits.allSatisfy({ $0.contains(.skipped) }) { common.insert(.skipped) }
    if traits.allSatisfy({ $0.contains(.cached) }) { common.insert(.cached) }
    let worst = Picture.Traits.outcomes.first { outcome in
      traits.contains { $0.contains(outcome) }
    }
    if let worst { common.insert(worst) }
    return Picture.Node(
      lines: lines + [number],
      description: "\(number.text): \(lines.map(\.text).joined(separator: " "))",
      traits: common)
  }

  /// A count with separated thousands: `100,000 steps`.
  private static func text(of count: Int) -> String {
    var digits = Array(String(count))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return String(digits) + (count == 1 ? " step" : " steps")
  }

  private mutating func addEdges() {
    for group in picture.groups.indices where ends[hierarchy.nodeCount + group] == nil {
      ends[hierarchy.nodeCount + group] =
        ends[hierarchy.nodeCount + hierarchy.level[hierarchy.nodeCount + group]]
    }
    var known: [Graph.Edge: Int] = [:]
    for edge in picture.edges {
      guard let from = end(edge.from), let to = end(edge.to), from != to else { continue }
      let key = Graph.Edge(from: from, to: to)
      if let index = known[key] {
        result.edges[index].isCritical = result.edges[index].isCritical || edge.isCritical
        result.edges[index].isWeak = result.edges[index].isWeak && edge.isWeak
      } else {
        known[key] = result.edges.count
        result.edges.append(
          Picture.Edge(from: from, to: to, isWeak: edge.isWeak, isCritical: edge.isCritical))
      }
    }
  }

  /// The end in the result: that of the box, or else of the counted box that contains it.
  private func end(_ old: Graph.End) -> Graph.End? {
    let box = hierarchy.box(old)
    if let end = ends[box] { return end }
    let level = hierarchy.level[box]
    return level == hierarchy.root ? nil : ends[hierarchy.nodeCount + level]
  }
}

/// The ranks of the boxes of one level by longest paths.
private struct Ranks {
  private(set) var ranks: [Int]
  private(set) var count = 0
  /// The length of all edges, if those from one box share a line, or those to one box.
  private(set) var edgeLength = 0

  init(_ members: [Int], _ edges: [(from: Int, to: Int)]) {
    ranks = Array(repeating: 0, count: members.count)
    var index: [Int: Int] = [:]
    index.reserveCapacity(members.count)
    for (place, box) in members.enumerated() { index[box] = place }
    let local = edges.map { (from: index[$0.from]!, to: index[$0.to]!) }
    let next = Adjacency(members.count, local)
    var waiting = Array(repeating: 0, count: members.count)
    for edge in local { waiting[edge.to] += 1 }
    var order = members.indices.filter { waiting[$0] == 0 }
    var position = 0
    while position < order.count {
      let box = order[position]
      position += 1
      for target in next[box] {
        ranks[target] = max(ranks[target], ranks[box] + 1)
        waiting[target] -= 1
        if waiting[target] == 0 { order.append(target) }
      }
    }
    count = (ranks.max() ?? 0) + 1
    measure(local)
  }

  private mutating func measure(_ edges: [(from: Int, to: Int)]) {
    var (below, above) = (
      Array(repeating: 0, count: ranks.count), Array(repeating: 0, count: ranks.count)
    )
    for edge in edges {
      let span = ranks[edge.to] - ranks[edge.from]
      below[edge.from] = max(below[edge.from], span)
      above[edge.to] = max(above[edge.to], span)
    }
    edgeLength = min(below.reduce(0, +), above.reduce(0, +))
  }
}
