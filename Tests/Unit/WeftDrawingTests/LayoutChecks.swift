import WeftDrawing

/// Checks of a layout by its geometry. Each returns what is wrong, and nothing if all is well.
struct LayoutChecks {
  let graph: Graph
  let layout: Layout

  init(_ graph: Graph) {
    self.graph = graph
    layout = Layout(of: graph)
  }

  /// The groups around a node or group, from the inside.
  private func groups(around end: Graph.End) -> [Int] {
    var groups: [Int] = []
    var next: Int? =
      switch end {
      case .node(let index): graph.nodes[index].group
      case .group(let index): graph.groups[index].parent
      }
    while let group = next {
      groups.append(group)
      next = graph.groups[group].parent
    }
    return groups
  }

  private var ends: [Graph.End] {
    graph.nodes.indices.map { .node($0) } + graph.groups.indices.map { .group($0) }
  }

  private func box(_ end: Graph.End) -> Box {
    switch end {
    case .node(let index): layout.nodes[index]
    case .group(let index): layout.groups[index]
    }
  }

  private func title(_ group: Int) -> Box {
    Box(origin: layout.groups[group].origin, size: graph.groups[group].title)
  }

  func wrongSizes() -> [String] {
    let nodes = graph.nodes.indices.filter { layout.nodes[$0].size != graph.nodes[$0].size }
    let all = Box(origin: Point(x: 0, y: 0), size: layout.size)
    return nodes.map { "node \($0) has another size" }
      + ends.filter { !all.contains(box($0)) }.map { "\($0) is outside of the drawing" }
      + layout.lines.joined().filter { !all.contains($0) }.map { "\($0) is outside of the drawing" }
  }

  /// Boxes overlap exactly if one contains the other in the graph.
  func wrongNesting() -> [String] {
    var faults: [String] = []
    for (index, left) in ends.enumerated() {
      for right in ends[(index + 1)...] {
        let contains = self.groups(around: left).map { Graph.End.group($0) }.contains(right)
        let isContained = self.groups(around: right).map { Graph.End.group($0) }.contains(left)
        if contains || isContained {
          let (outer, inner) = contains ? (right, left) : (left, right)
          if !box(outer).contains(box(inner)) { faults.append("\(inner) is not in \(outer)") }
        } else if box(left).overlaps(box(right)) {
          faults.append("\(left) overlaps \(right)")
        }
      }
    }
    return faults
  }

  /// Titles are free of boxes and lines.
  func coveredTitles() -> [String] {
    graph.groups.indices.flatMap { group in
      ends.filter {
        groups(around: $0).contains(group) && box($0).overlaps(title(group))
      }.map { "\($0) covers the title of \(group)" }
        + layout.lines.indices.filter { passes(layout.lines[$0], through: title(group)) }.map {
          "edge \($0) crosses the title of \(group)"
        }
    }
  }

  /// No line passes through a node, or through the frame of a group that contains neither of its ends.
  func wrongLines() -> [String] {
    graph.edges.indices.flatMap { index in
      let edge = graph.edges[index]
      let allowed = Set(
        (groups(around: edge.from) + groups(around: edge.to)).map { Graph.End.group($0) })
      return ends.filter { !allowed.contains($0) && passes(layout.lines[index], through: box($0)) }
        .map { "edge \(index) passes through \($0)" }
    }
  }

  /// Lines begin at the bottom or top of one end and lead to the other.
  func looseEnds() -> [String] {
    graph.edges.indices.filter { index in
      let (edge, line) = (graph.edges[index], layout.lines[index])
      let isInside =
        edge.from == edge.to
        || groups(around: edge.from).contains { .group($0) == edge.to }
        || groups(around: edge.to).contains { .group($0) == edge.from }
      guard !isInside else { return !line.isEmpty }
      guard let first = line.first, let last = line.last else { return true }
      return !box(edge.from).touches(first) || !box(edge.to).touches(last)
    }.map { "edge \($0) does not connect its ends" }
  }

  private func passes(_ line: [Point], through box: Box) -> Bool {
    zip(line, line.dropFirst()).contains { start, end in
      // The curve is inside the rectangle between its ends; a vertical part has no width.
      guard start.x != end.x else {
        return start.x > box.left && start.x < box.right
          && max(start.y, end.y) > box.top && min(start.y, end.y) < box.bottom
      }
      let origin = Point(x: min(start.x, end.x), y: min(start.y, end.y))
      let size = Size(width: abs(start.x - end.x), height: abs(start.y - end.y))
      guard Box(origin: origin, size: size).overlaps(box) else { return false }
      return (0...64).contains { step in
        let point = point(at: Double(step) / 64, from: start, to: end)
        return point.x > Double(box.left) && point.x < Double(box.right)
          && point.y > Double(box.top) && point.y < Double(box.bottom)
      }
    }
  }

  private func point(
    at time: Double, from start: Point, to end: Point
  ) -> (x: Double, y: Double) {
    let rest = 1 - time
    let sides = rest * rest * rest + 3 * rest * rest * time
    let ends = 1 - sides
    let middle = Double(start.y + end.y) / 2
    let outer = (rest * rest * rest, time * time * time)
    return (
      Double(start.x) * sides + Double(end.x) * ends,
      Double(start.y) * outer.0 + middle * (1 - outer.0 - outer.1) + Double(end.y) * outer.1
    )
  }
}

extension Box {
  func overlaps(_ other: Box) -> Bool {
    left < other.right && other.left < right && top < other.bottom && other.top < bottom
  }

  func contains(_ other: Box) -> Bool {
    left <= other.left && other.right <= right && top <= other.top && other.bottom <= bottom
  }

  func contains(_ point: Point) -> Bool {
    left <= point.x && point.x <= right && top <= point.y && point.y <= bottom
  }

  /// Whether a point is on the top or bottom side.
  func touches(_ point: Point) -> Bool {
    left <= point.x && point.x <= right && (point.y == top || point.y == bottom)
  }
}
