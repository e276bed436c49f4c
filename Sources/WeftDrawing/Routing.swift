/// The vertical positions of layers, and the lines of links.
///
/// A line is vertical within a layer, where it has a column of its own, and goes to the side only between layers, where
/// there are no boxes. So it never passes through a box.
struct Routing {
  private let layers: Layers
  private let centres: [Int]
  /// The top of each layer, and its bottom.
  private var tops: [Int] = []
  private var bottoms: [Int] = []

  init(_ layers: Layers, _ centres: [Int]) {
    self.layers = layers
    self.centres = centres
    placeLayers()
  }

  private mutating func placeLayers() {
    let heights = layers.order.map { layer in
      layer.reduce(0) { max($0, layers.sizes[$1].height) }
    }
    let gaps = gaps(heights)
    var y = 0
    for (rank, height) in heights.enumerated() {
      tops.append(y)
      y += height
      bottoms.append(y)
      y += gaps[rank]
    }
  }

  /// The space below each layer: larger where lines go far to the side, smaller next to ports.
  private func gaps(_ heights: [Int]) -> [Int] {
    var widest = Array(repeating: 0, count: heights.count)
    for arc in layers.arcs {
      let rank = layers.ranks[arc.tail]
      widest[rank] = max(widest[rank], abs(centres[arc.tail] - centres[arc.head]))
    }
    return widest.indices.map { rank in
      let isAtPorts = heights[rank] == 0 || rank + 1 < heights.count && heights[rank + 1] == 0
      let least = isAtPorts ? Spacing.ranks.lowerBound / 2 : Spacing.ranks.lowerBound
      return min(max(least, widest[rank] / 12), Spacing.ranks.upperBound)
    }
  }

  var drawing: Level.Drawing {
    var size = Size(width: 0, height: bottoms.last ?? 0)
    for (vertex, centre) in centres.enumerated() {
      size.width = max(size.width, centre + (layers.sizes[vertex].width + 1) / 2)
    }
    let places = layers.vertices.indices.map { Point(x: centres[$0], y: top($0)) }
    return Level.Drawing(size: size, tops: places, lines: layers.links.indices.map(line))
  }

  /// The top of a box, which is in the middle of its layer, or a port, which is at the border.
  private func top(_ vertex: Int) -> Int {
    let rank = layers.ranks[vertex]
    switch layers.vertices[vertex].side {
    case .top: return tops[rank]
    case .bottom: return bottoms[rank]
    case nil: break
    }
    return (tops[rank] + bottoms[rank] - layers.sizes[vertex].height) / 2
  }

  private func line(_ index: Int) -> [Point] {
    let link = layers.links[index]
    let start = centres[link.tail] + link.tailOffset
    let end = centres[link.head] + link.headOffset
    var points = [
      Point(x: start, y: top(link.tail) + layers.sizes[link.tail].height),
      Point(x: start, y: bottoms[layers.ranks[link.tail]]),
    ]
    for dummy in layers.dummies[index] {
      points.append(Point(x: centres[dummy], y: tops[layers.ranks[dummy]]))
      points.append(Point(x: centres[dummy], y: bottoms[layers.ranks[dummy]]))
    }
    points.append(Point(x: end, y: tops[layers.ranks[link.head]]))
    points.append(Point(x: end, y: top(link.head)))
    return points
  }
}
