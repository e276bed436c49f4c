/// The contents of one group: vertices, which are boxes or ports, and links between them.
///
/// A port is a point of the group's frame where links from outside continue to the contents.
struct Level {
  enum Side { case top, bottom }

  struct Vertex {
    var size: Size
    /// The side of the frame for a port; `nil` for a box.
    var side: Side?
    /// The place of a port among those of its side; `nil` if any will do.
    var place: Int?
  }

  /// A link from an upper vertex to a lower one; it begins and ends at a distance from their centres.
  struct Link: Hashable {
    var tail: Int
    var head: Int
    var tailOffset = 0
    var headOffset = 0
  }

  var vertices: [Vertex]
  var links: [Link]
  /// Whether to look longer for an order with few crossings.
  var isThorough = true

  /// The positions of the vertices and the lines of the links.
  struct Drawing {
    var size = Size(width: 0, height: 0)
    /// The centre of the top of each vertex.
    var tops: [Point]
    var lines: [[Point]]
    var crossings = 0
  }

  /// Draws each connected part in layers, and packs the parts into rows. Everything that is connected with a port
  /// is one part, which has the whole height of the drawing.
  func drawn() -> Drawing {
    var packing = Packing()
    var main: Packing.Item?
    let parts = parts()
    let position = Level.positions(in: parts, count: vertices.count)
    let links = links(of: parts, position)
    for (index, part) in parts.enumerated() {
      let drawing = drawn(part.map { vertices[$0] }, links[index].links)
      let item = Packing.Item(part: index, isSingle: part.count == 1, drawing: drawing)
      if part.contains(where: { vertices[$0].side != nil }) {
        main = item
      } else {
        packing.items.append(item)
      }
    }
    return joined(packing.packed(), main, parts, links.map(\.indices))
  }

  private func drawn(_ vertices: [Vertex], _ links: [Link]) -> Drawing {
    if vertices.count == 1, links.isEmpty {
      let size = vertices[0].size
      return Drawing(size: size, tops: [Point(x: size.width / 2, y: 0)], lines: [])
    }
    var layers = Layers(vertices, links)
    let crossings = Ordering.order(&layers, isThorough: isThorough)
    var drawing = Routing(layers, Placement.centres(layers)).drawing
    drawing.crossings = crossings
    return drawing
  }

  /// The connected parts, by their smallest vertex; all parts with ports are one.
  private func parts() -> [[Int]] {
    var sets = DisjointSets(count: vertices.count)
    for link in links { sets.join(link.tail, link.head) }
    var port: Int?
    for index in vertices.indices where vertices[index].side != nil {
      if let port { sets.join(port, index) }
      port = index
    }
    var parts: [[Int]] = []
    var partOfRoot = [Int](repeating: -1, count: vertices.count)
    for index in vertices.indices {
      let root = sets.root(index)
      if partOfRoot[root] < 0 {
        partOfRoot[root] = parts.count
        parts.append([])
      }
      parts[partOfRoot[root]].append(index)
    }
    return parts
  }

  private static func positions(in parts: [[Int]], count: Int) -> [(part: Int, index: Int)] {
    var result = Array(repeating: (part: 0, index: 0), count: count)
    for (part, members) in parts.enumerated() {
      for (index, member) in members.enumerated() { result[member] = (part, index) }
    }
    return result
  }

  private func links(
    of parts: [[Int]], _ position: [(part: Int, index: Int)]
  ) -> [(links: [Link], indices: [Int])] {
    var result = Array(repeating: (links: [Link](), indices: [Int]()), count: parts.count)
    for (index, link) in links.enumerated() {
      var local = link
      (local.tail, local.head) = (position[link.tail].index, position[link.head].index)
      result[position[link.tail].part].links.append(local)
      result[position[link.tail].part].indices.append(index)
    }
    return result
  }

  /// Puts the part with ports to the left of the packed parts.
  private func joined(
    _ packed: Packing.Packed, _ main: Packing.Item?, _ parts: [[Int]], _ links: [[Int]]
  ) -> Drawing {
    var result = Drawing(
      tops: Array(repeating: Point(x: 0, y: 0), count: vertices.count),
      lines: Array(repeating: [], count: self.links.count))
    func place(_ item: Packing.Item, at origin: Point) {
      result.crossings += item.drawing.crossings
      for (index, vertex) in parts[item.part].enumerated() {
        result.tops[vertex] = item.drawing.tops[index] + origin
      }
      for (index, link) in links[item.part].enumerated() {
        result.lines[link] = item.drawing.lines[index].map { $0 + origin }
      }
    }
    var left = 0
    result.size = packed.size
    if let main {
      place(main, at: Point(x: 0, y: 0))
      left = packed.items.isEmpty ? 0 : main.drawing.size.width + Spacing.parts
      result.size.width = max(main.drawing.size.width, left + packed.size.width)
      result.size.height = max(main.drawing.size.height, packed.size.height)
      stretch(&result, parts[main.part], links[main.part])
    }
    for (item, origin) in packed.items { place(item, at: Point(x: left + origin.x, y: origin.y)) }
    return result
  }

  /// Extends the lines to ports at the bottom if other parts are higher.
  private func stretch(_ drawing: inout Drawing, _ part: [Int], _ links: [Int]) {
    let bottom = drawing.size.height
    for vertex in part where vertices[vertex].side == .bottom { drawing.tops[vertex].y = bottom }
    for link in links where vertices[self.links[link].head].side == .bottom {
      guard let last = drawing.lines[link].last, last.y < bottom else { continue }
      drawing.lines[link].append(Point(x: last.x, y: bottom))
    }
  }
}

/// Sets of connected vertices (Galler and Fischer 1964).
private struct DisjointSets {
  private var parent: [Int]

  init(count: Int) { parent = Array(0..<count) }

  mutating func root(_ index: Int) -> Int {
    var index = index
    while parent[index] != index {
      parent[index] = parent[parent[index]]
      index = parent[index]
    }
    return index
  }

  mutating func join(_ left: Int, _ right: Int) {
    let (left, right) = (root(left), root(right))
    parent[max(left, right)] = min(left, right)
  }
}
