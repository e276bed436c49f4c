/// The positions of everything in a graph.
///
/// Each group is laid out by itself, inner ones first, and is then a box in the group around it (Sugiyama, Tagawa and
/// Toda 1981 for each level: rank, order, place, route). So boxes never overlap, and a group contains exactly its
/// members. An edge across frames passes through a port of each.
///
/// Ranks follow from top to bottom: labels are wider than they are high, so ranks are close to each other in this
/// direction, most workflows are long sequences, and pages scroll downwards.
package struct Layout: Sendable, Hashable {
  package private(set) var size: Size
  package private(set) var nodes: [Box]
  package private(set) var groups: [Box]
  /// The line of each edge: vertical parts, and parts between two ranks that go to the side, which a curve with
  /// vertical ends may replace. Empty for an edge between a group and its own contents.
  package private(set) var lines: [[Point]]

  /// Lays out a graph in time about linear in its size. Cycles are allowed; an edge against the order goes upwards.
  package init(of graph: Graph) {
    var nesting = Nesting(graph)
    nesting.drawLevels()
    let boxes = nesting.boxes()
    size = nesting.contents
    nodes = Array(boxes[..<graph.nodes.count])
    groups = Array(boxes[graph.nodes.count...])
    lines = graph.edges.indices.map { nesting.line(ofEdge: $0, boxes) }
  }
}

/// A graph as nested levels, which are drawn one after the other.
private struct Nesting {
  /// The sides at which ports are arranged, one repetition after the other. Ports of both sides at once, `nil`, may only
  /// exchange their orders.
  private static let repetitions: [[Level.Side?]] = [
    [.top, .bottom, .top, .bottom, .top, .bottom], [.bottom, .top, .bottom, .top],
    [nil, nil, .top, .bottom],
  ]
  /// The most boxes for which there are several attempts.
  private static let repeatedSize = 400

  /// The end of a link within a level.
  private enum Anchor: Hashable {
    case box(Int)
    /// A port of a group in this level.
    case port(Int)
    /// A port in the frame around this level.
    case border(Int)
  }

  private struct Link: Hashable {
    var tail: Anchor
    var head: Anchor
  }

  private struct Port: Hashable {
    var level: Int
    var side: Level.Side
    /// The box outside of the level to which it leads: edges to one box share a port.
    var target: Int
  }

  /// A part of an edge.
  private struct Part {
    var level: Int
    var link: Int
  }

  private let graph: Graph
  private let hierarchy: Hierarchy
  private var sizes: [Size]

  private var ports: [Port] = []
  private var portIndex: [Port: Int] = [:]
  private var portsOfLevel: [[Int]]
  /// The distance of each port from the left of its frame.
  private var portX: [Int] = []
  /// The place of each port among others of its side.
  private var places: [Int?] = []
  /// The way from the frame to the contents, for the ports of a level that has been drawn.
  private var entries: [[Point]] = []

  private var links: [[Link]]
  private var linkIndex: [[Link: Int]]
  /// The parts of each edge from above, and whether it goes upwards.
  private var parts: [(parts: [Part], isUpward: Bool)] = []

  /// Whether edges end, or begin, at the frame of each group itself.
  private var frameEnds: [Bool]
  private var frameBegins: [Bool]

  private var drawings: [Level.Drawing?]
  /// The origin of the contents of each level within its frame.
  private var insets: [Point]

  init(_ graph: Graph) {
    self.graph = graph
    hierarchy = Hierarchy(nodes: graph.nodes.map(\.group), groups: graph.groups.map(\.parent))
    sizes = graph.nodes.map(\.size) + graph.groups.map(\.title)
    let levels = hierarchy.root + 1
    portsOfLevel = Array(repeating: [], count: levels)
    links = Array(repeating: [], count: levels)
    linkIndex = Array(repeating: [:], count: levels)
    frameEnds = Array(repeating: false, count: levels)
    frameBegins = frameEnds
    drawings = Array(repeating: nil, count: levels)
    insets = Array(repeating: Point(x: 0, y: 0), count: levels)
    addParts()
  }

  var contents: Size { drawings[hierarchy.root]?.size ?? Size(width: 0, height: 0) }

  // MARK: Edges

  /// The boxes from each end of an edge up to a common level; `nil` if one end contains the other.
  private func path(_ edge: Graph.Edge) -> (from: [Int], to: [Int])? {
    var (from, to): ([Int], [Int]) = ([], [])
    let ends = hierarchy.climb(edge.from, edge.to) { box, isFrom in
      if isFrom { from.append(box) } else { to.append(box) }
    }
    guard let ends else { return nil }
    return (from + [ends.from], to + [ends.to])
  }

  private mutating func addParts() {
    let paths = graph.edges.map(path)
    let isUpward = upwardEdges(paths)
    for (index, path) in paths.enumerated() {
      guard let path else {
        parts.append(([], false))
        continue
      }
      let (upper, lower) = isUpward[index] ? (path.to, path.from) : (path.from, path.to)
      parts.append((add(from: upper, to: lower), isUpward[index]))
      if let group = hierarchy.group(upper[0]) { frameBegins[group] = true }
      if let group = hierarchy.group(lower[0]) { frameEnds[group] = true }
    }
  }

  /// Adds the links of one edge: out of the frames around its upper end, and into those around its lower end.
  private mutating func add(from upper: [Int], to lower: [Int]) -> [Part] {
    var result: [Part] = []
    var tail = Anchor.box(upper[0])
    for box in upper.dropLast() {
      let port = port(Port(level: hierarchy.level[box], side: .bottom, target: lower[0]))
      result.append(add(Link(tail: tail, head: .border(port)), to: hierarchy.level[box]))
      tail = .port(port)
    }
    var rest: [Part] = []
    var head = Anchor.box(lower[0])
    for box in lower.dropLast() {
      let port = port(Port(level: hierarchy.level[box], side: .top, target: upper[0]))
      rest.append(add(Link(tail: .border(port), head: head), to: hierarchy.level[box]))
      head = .port(port)
    }
    result.append(add(Link(tail: tail, head: head), to: hierarchy.level[upper[upper.count - 1]]))
    return result + Array(rest.reversed())
  }

  private mutating func port(_ port: Port) -> Int {
    if let index = portIndex[port] { return index }
    portIndex[port] = ports.count
    portsOfLevel[port.level].append(ports.count)
    ports.append(port)
    portX.append(0)
    places.append(nil)
    entries.append([])
    return ports.count - 1
  }

  private mutating func add(_ link: Link, to level: Int) -> Part {
    if let index = linkIndex[level][link] { return Part(level: level, link: index) }
    linkIndex[level][link] = links[level].count
    links[level].append(link)
    return Part(level: level, link: links[level].count - 1)
  }

  /// The edges that close a cycle among the boxes of their level, as a search from the first box finds them.
  private func upwardEdges(_ paths: [(from: [Int], to: [Int])?]) -> [Bool] {
    let pairs = paths.map { path -> (from: Int, to: Int) in
      path.map { ($0.from[$0.from.count - 1], $0.to[$0.to.count - 1]) } ?? (0, 0)
    }
    let edges = paths.indices.filter { paths[$0] != nil }
    let next = Adjacency(hierarchy.level.count, edges.map { (pairs[$0].from, $0) })
    var isUpward = Array(repeating: false, count: paths.count)
    // 0 is new, 1 on the path of the search, 2 finished.
    var state = Array(repeating: 0, count: hierarchy.level.count)
    for start in hierarchy.level.indices where state[start] == 0 {
      var stack = [(box: start, rest: next[start])]
      state[start] = 1
      while let top = stack.indices.last {
        guard let edge = stack[top].rest.popFirst() else {
          state[stack.removeLast().box] = 2
          continue
        }
        let target = pairs[edge].to
        if state[target] == 1 { isUpward[edge] = true }
        if state[target] == 0 {
          state[target] = 1
          stack.append((target, next[target]))
        }
      }
    }
    return isUpward
  }

  // MARK: Levels

  /// Draws all levels. Then the ports of inner ones are arranged as the lines outside of them suggest, as long as that
  /// removes crossings.
  mutating func drawLevels() {
    drawOnce()
    guard !ports.isEmpty else { return }
    let first = self
    for sides in isLarge ? [[.top]] : Nesting.repetitions {
      var next = first
      for side in sides where crossings > 0 {
        next.places = next.suggestedPlaces(side)
        next.drawOnce()
        if next.crossings < crossings { self = next }
      }
    }
  }

  /// Whether the time for several attempts would be too long.
  private var isLarge: Bool { hierarchy.level.count > Nesting.repeatedSize }

  private var crossings: Int { drawings.reduce(0) { $0 + ($1?.crossings ?? 0) } }

  /// The horizontal position outside of its frame to which the line of each port leads.
  private func suggestedPlaces(_ side: Level.Side?) -> [Int?] {
    var places: [Int?] = Array(repeating: nil, count: ports.count)
    for (level, links) in links.enumerated() {
      guard let drawing = drawings[level] else { continue }
      for (link, line) in zip(links, drawing.lines) {
        if case .port(let port) = link.tail, side != .top { places[port] = line[2].x }
        if case .port(let port) = link.head, side != .bottom {
          places[port] = line[line.count - 3].x
        }
      }
    }
    return places
  }

  /// Draws all levels, inner ones first.
  private mutating func drawOnce() {
    var local = Array(repeating: 0, count: hierarchy.level.count)
    var localPort = Array(repeating: 0, count: ports.count)
    for group in (0..<hierarchy.root).reversed() { draw(group, &local, &localPort) }
    draw(hierarchy.root, &local, &localPort)
  }

  private mutating func draw(_ current: Int, _ local: inout [Int], _ localPort: inout [Int]) {
    var vertices: [Level.Vertex] = []
    for box in hierarchy.members[current] {
      local[box] = vertices.count
      vertices.append(Level.Vertex(size: sizes[box]))
    }
    for port in portsOfLevel[current] {
      localPort[port] = vertices.count
      vertices.append(
        Level.Vertex(
          size: Size(width: 0, height: 0), side: ports[port].side, place: places[port]))
    }
    func end(_ anchor: Anchor) -> (vertex: Int, offset: Int) {
      switch anchor {
      case .box(let box): return (local[box], 0)
      case .border(let port): return (localPort[port], 0)
      case .port(let port):
        let box = graph.nodes.count + ports[port].level
        return (local[box], portX[port] - sizes[box].width / 2)
      }
    }
    let links = links[current].map { link in
      let (tail, head) = (end(link.tail), end(link.head))
      return Level.Link(
        tail: tail.vertex, head: head.vertex, tailOffset: tail.offset, headOffset: head.offset)
    }
    let drawing = Level(vertices: vertices, links: links, isThorough: !isLarge).drawn()
    drawings[current] = drawing
    if current < hierarchy.root { frame(current, drawing, localPort) }
  }

  /// Puts a frame around a group that has been drawn. Edges from above pass to the right of the title, and none where
  /// edges to or from the frame itself end.
  private mutating func frame(_ group: Int, _ drawing: Level.Drawing, _ localPort: [Int]) {
    let title = graph.groups[group].title
    let (padding, isEmpty) = (Spacing.padding, hierarchy.members[group].isEmpty)
    func inner(_ port: Int) -> Int { drawing.tops[localPort[port]].x + padding }
    func sorted(_ side: Level.Side) -> [Int] {
      portsOfLevel[group].filter { ports[$0].side == side }.sorted { inner($0) < inner($1) }
    }
    let contents = max(title.width, drawing.size.width + 2 * padding)
    let (top, bottom) = (sorted(.top), sorted(.bottom))
    let above = spread(
      top.map(inner), from: title.width + Spacing.lines, around: frameEnds[group] ? contents : nil)
    let below = spread(
      bottom.map(inner), from: 0, around: frameBegins[group] ? contents : nil)
    for (port, x) in zip(top + bottom, above + below) { portX[port] = x }
    let isShifted = above != top.map(inner)
    let lane = isShifted ? Spacing.ranks.lowerBound / 2 : 0
    let inset = Point(x: padding, y: title.height + (isEmpty ? 0 : lane))
    let margin = graph.groups[group].margin
    let width = max(contents, ((above + below).max() ?? 0) + padding) + margin
    let bottomOfContents = inset.y + drawing.size.height
    let height = bottomOfContents + (isEmpty ? 0 : padding) + margin
    for port in top {
      entries[port] = [
        Point(x: portX[port], y: 0), Point(x: portX[port], y: title.height),
        Point(x: inner(port), y: inset.y),
      ]
    }
    for port in bottom {
      entries[port] = [
        Point(x: inner(port), y: bottomOfContents), Point(x: portX[port], y: height),
      ]
    }
    insets[group] = inset
    sizes[graph.nodes.count + group] = Size(width: width, height: height)
  }

  /// Ascending positions at least as large as those given and `least`, apart from each other and from the middle of
  /// `width`.
  private func spread(_ positions: [Int], from least: Int, around width: Int?) -> [Int] {
    var next = least
    return positions.map { position in
      var x = max(position, next)
      if let width, abs(x - width / 2) < Spacing.lines { x = width / 2 + Spacing.lines }
      next = x + Spacing.lines
      return x
    }
  }

  // MARK: Positions

  /// The positions of all boxes.
  func boxes() -> [Box] {
    var boxes = sizes.map { Box(origin: Point(x: 0, y: 0), size: $0) }
    let root = hierarchy.root
    for current in [root] + Array(0..<root) {
      guard let drawing = drawings[current] else { continue }
      let origin = origin(of: current, boxes) + insets[current]
      for (index, box) in hierarchy.members[current].enumerated() {
        let top = drawing.tops[index]
        boxes[box].origin = origin + Point(x: top.x - sizes[box].width / 2, y: top.y)
      }
    }
    return boxes
  }

  private func origin(of level: Int, _ boxes: [Box]) -> Point {
    level == hierarchy.root ? Point(x: 0, y: 0) : boxes[graph.nodes.count + level].origin
  }

  func line(ofEdge edge: Int, _ boxes: [Box]) -> [Point] {
    var points: [Point] = []
    for part in parts[edge].parts {
      guard let drawing = drawings[part.level] else { continue }
      let frame = origin(of: part.level, boxes)
      let link = links[part.level][part.link]
      if case .border(let port) = link.tail { points += entries[port].map { $0 + frame } }
      points += drawing.lines[part.link].map { $0 + (frame + insets[part.level]) }
      if case .border(let port) = link.head { points += entries[port].map { $0 + frame } }
    }
    let line = Nesting.simplified(points)
    return parts[edge].isUpward ? Array(line.reversed()) : line
  }

  /// The line without points that do not change it.
  private static func simplified(_ points: [Point]) -> [Point] {
    var result: [Point] = []
    for point in points {
      if result.last == point { continue }
      if let last = result.last, last.x == point.x, result.count > 1,
        result[result.count - 2].x == point.x
      {
        result.removeLast()
      }
      result.append(point)
    }
    return result
  }
}
