/// The horizontal positions of vertices: lines are straight where possible, and boxes are centred over their
/// neighbours (Brandes and Köpf 2001).
///
/// Vertices are aligned to their neighbours in four ways, from above and below, and from the left and right. Each gives
/// a compact placement; the result is the mean of the two in the middle. Aligned vertices form blocks; unlike in the
/// paper, blocks are placed by longest paths among them, which leaves no room for the paper's known faults.
struct Placement {
  private let layers: Layers
  /// The index of each vertex in its layer.
  private var position: [Int]
  /// The arcs that would bend a long link.
  private var isBent: [Bool]

  /// The horizontal centre of each vertex; the leftmost box begins at 0.
  static func centres(_ layers: Layers) -> [Int] {
    let placement = Placement(layers)
    var candidates: [[Int]] = []
    for isFromBelow in [false, true] {
      for isFromRight in [false, true] {
        candidates.append(placement.candidate(isFromBelow, isFromRight))
      }
    }
    return placement.separated(placement.balanced(candidates))
  }

  private init(_ layers: Layers) {
    self.layers = layers
    position = Array(repeating: 0, count: layers.sizes.count)
    isBent = Array(repeating: false, count: layers.arcs.count)
    for layer in layers.order {
      for (index, vertex) in layer.enumerated() { position[vertex] = index }
    }
    for layer in layers.order.indices.dropFirst() { markBent(layer) }
  }

  /// Marks the arcs that cross an arc between two dummy vertices, which has to be straight.
  private mutating func markBent(_ layer: Int) {
    let vertices = layers.order[layer]
    var (next, left) = (0, 0)
    for (index, vertex) in vertices.enumerated() {
      let inner = innerTail(vertex)
      guard inner != nil || index == vertices.count - 1 else { continue }
      let right = inner.map { position[$0] } ?? layers.order[layer - 1].count - 1
      while next <= index {
        for arc in layers.above[vertices[next]] {
          let tail = layers.arcs[arc].tail
          let isInner = layers.isDummy(tail) && layers.isDummy(vertices[next])
          if !isInner, position[tail] < left || position[tail] > right { isBent[arc] = true }
        }
        next += 1
      }
      left = max(left, right)
    }
  }

  /// The dummy vertex above a dummy vertex.
  private func innerTail(_ vertex: Int) -> Int? {
    guard layers.isDummy(vertex) else { return nil }
    for arc in layers.above[vertex] where layers.isDummy(layers.arcs[arc].tail) {
      return layers.arcs[arc].tail
    }
    return nil
  }

  // MARK: Candidates

  private func candidate(_ isFromBelow: Bool, _ isFromRight: Bool) -> [Int] {
    var order = isFromBelow ? Array(layers.order.reversed()) : layers.order
    if isFromRight { order = order.map { Array($0.reversed()) } }
    let roots = alignment(order, isFromBelow, isFromRight)
    let centres = compacted(order, roots)
    return isFromRight ? centres.map { -$0 } : centres
  }

  /// The first vertex of the block of each vertex.
  private func alignment(_ order: [[Int]], _ isFromBelow: Bool, _ isFromRight: Bool) -> [Int] {
    var roots = Array(layers.sizes.indices)
    var isTaken = Array(repeating: false, count: roots.count)
    for (previous, layer) in zip(order, order.dropFirst()) {
      var last = -1
      for vertex in layer {
        let neighbours = neighbours(vertex, isFromBelow, isFromRight, previous.count)
        guard !neighbours.isEmpty else { continue }
        let (low, high) = ((neighbours.count - 1) / 2, neighbours.count / 2)
        for index in low == high ? [low] : [low, high] where roots[vertex] == vertex {
          let (place, upper, arc) = neighbours[index]
          guard !isBent[arc], place > last, !isTaken[upper] else { continue }
          roots[vertex] = roots[upper]
          isTaken[upper] = true
          last = place
        }
      }
    }
    return roots
  }

  /// The neighbours in the previous layer, by their places as seen in the direction of the candidate.
  private func neighbours(
    _ vertex: Int, _ isFromBelow: Bool, _ isFromRight: Bool, _ count: Int
  ) -> [(place: Int, vertex: Int, arc: Int)] {
    let arcs = isFromBelow ? layers.below[vertex] : layers.above[vertex]
    let found = arcs.map { arc in
      let upper = isFromBelow ? layers.arcs[arc].head : layers.arcs[arc].tail
      let place = isFromRight ? count - 1 - position[upper] : position[upper]
      return (place: place, vertex: upper, arc: arc)
    }
    // A trunk is straight, whatever its branches.
    if layers.isDummy(vertex), let trunk = found.first(where: { layers.isDummy($0.vertex) }) {
      return [trunk]
    }
    return found.sorted { $0 < $1 }
  }

  /// Places blocks as far left as their neighbours on the left allow, then each as far right as those on the right
  /// allow, so that no block is far from its neighbours.
  private func compacted(_ order: [[Int]], _ roots: [Int]) -> [Int] {
    var pairs: [(from: Int, to: Int)] = []
    var distances: [Int] = []
    for layer in order {
      for (left, right) in zip(layer, layer.dropFirst()) {
        pairs.append((roots[left], roots[right]))
        distances.append(distance(left, right))
      }
    }
    let rows = pairs.enumerated()
    let right = Adjacency(roots.count, rows.map { ($0.element.from, $0.offset) })
    var waiting = Array(repeating: 0, count: roots.count)
    for pair in pairs { waiting[pair.to] += 1 }
    var sequence = roots.indices.filter { roots[$0] == $0 && waiting[$0] == 0 }
    var places = Array(repeating: 0, count: roots.count)
    var next = 0
    while next < sequence.count {
      let block = sequence[next]
      for pair in right[block] {
        let neighbour = pairs[pair].to
        places[neighbour] = max(places[neighbour], places[block] + distances[pair])
        waiting[neighbour] -= 1
        if waiting[neighbour] == 0 { sequence.append(neighbour) }
      }
      next += 1
    }
    for block in sequence.reversed() {
      var limit = Int.max
      for pair in right[block] { limit = min(limit, places[pairs[pair].to] - distances[pair]) }
      if limit < .max { places[block] = max(places[block], limit) }
    }
    return roots.map { places[$0] }
  }

  /// The least distance of the centres of two neighbours in a layer.
  private func distance(_ left: Int, _ right: Int) -> Int {
    let gap =
      isLine(left) || isLine(right) ? Spacing.lines : Spacing.boxes
    return (layers.sizes[left].width + 1) / 2 + (layers.sizes[right].width + 1) / 2 + gap
  }

  private func isLine(_ vertex: Int) -> Bool { layers.sizes[vertex].width == 0 }

  // MARK: Result

  /// Aligns the candidates to the narrowest, and takes the mean of the two in the middle for each vertex.
  private func balanced(_ candidates: [[Int]]) -> [Int] {
    let bounds = candidates.map(bounds)
    let narrowest = bounds.indices.min { bounds[$0].width < bounds[$1].width } ?? 0
    let shifts = candidates.indices.map { index in
      // Candidates from the right keep their right border.
      index % 2 == 0
        ? bounds[narrowest].left - bounds[index].left
        : bounds[narrowest].right - bounds[index].right
    }
    return layers.sizes.indices.map { vertex in
      let places = candidates.indices.map { candidates[$0][vertex] + shifts[$0] }.sorted()
      return (places[1] + places[2]) >> 1
    }
  }

  private func bounds(_ centres: [Int]) -> (left: Int, right: Int, width: Int) {
    var (left, right) = (Int.max, Int.min)
    for (vertex, centre) in centres.enumerated() {
      let half = (layers.sizes[vertex].width + 1) / 2
      left = min(left, centre - half)
      right = max(right, centre + half)
    }
    return (left, right, right - left)
  }

  /// Moves vertices to the right where two would be too near, and everything to the left border.
  private func separated(_ centres: [Int]) -> [Int] {
    var centres = centres
    for layer in layers.order {
      for (left, right) in zip(layer, layer.dropFirst()) {
        centres[right] = max(centres[right], centres[left] + distance(left, right))
      }
    }
    let left = bounds(centres).left
    return centres.map { $0 - left }
  }
}

/// Unconnected parts of a level, packed into rows in their order.
struct Packing {
  struct Item {
    var part: Int
    var isSingle: Bool
    var drawing: Level.Drawing
  }

  struct Packed {
    var size = Size(width: 0, height: 0)
    var items: [(Item, Point)] = []
  }

  /// A row of at most this width is never broken.
  private static let rowWidth = 760

  var items: [Item] = []

  /// Rows about as wide as a screen is in relation to its height; parts that are single boxes form a grid.
  func packed() -> Packed {
    let width = max(Packing.rowWidth, widthOfScreen())
    return items.allSatisfy(\.isSingle) ? grid(width) : rows(width)
  }

  private func widthOfScreen() -> Int {
    let area = items.reduce(0) { sum, item in
      let size = item.drawing.size
      return sum + (size.width + Spacing.parts) * (size.height + Spacing.parts)
    }
    // Newton's method for the square root of integers, from above.
    let square = area * 9 / 5
    var root = square + 1
    while root > square / max(root, 1) { root = (root + square / root) / 2 }
    return root
  }

  private func rows(_ width: Int) -> Packed {
    var packed = Packed()
    var (x, y, height) = (0, 0, 0)
    for item in items {
      let size = item.drawing.size
      if x > 0, x + size.width > width {
        y += height + Spacing.parts
        (x, height) = (0, 0)
      }
      packed.items.append((item, Point(x: x, y: y)))
      packed.size.width = max(packed.size.width, x + size.width)
      x += size.width + Spacing.parts
      height = max(height, size.height)
    }
    packed.size.height = items.isEmpty ? 0 : y + height
    return packed
  }

  private func grid(_ width: Int) -> Packed {
    guard !items.isEmpty else { return Packed() }
    var columns = items.count
    while columns > 1, total(of: widths(columns)) > width { columns -= 1 }
    // Rows of equal length look better than a short last one.
    let rows = (items.count + columns - 1) / columns
    columns = (items.count + rows - 1) / rows
    let widths = widths(columns)
    var packed = Packed()
    var y = 0
    for start in stride(from: 0, to: items.count, by: columns) {
      let row = items[start..<min(start + columns, items.count)]
      let height = row.map(\.drawing.size.height).max() ?? 0
      var x = 0
      for (column, item) in row.enumerated() {
        let size = item.drawing.size
        packed.items.append(
          (item, Point(x: x + (widths[column] - size.width) / 2, y: y + (height - size.height) / 2))
        )
        x += widths[column] + Spacing.boxes
      }
      y += height + Spacing.boxes
    }
    packed.size = Size(width: total(of: widths), height: y - Spacing.boxes)
    return packed
  }

  /// The widths of the columns of a grid.
  private func widths(_ columns: Int) -> [Int] {
    var widths = Array(repeating: 0, count: columns)
    for (index, item) in items.enumerated() {
      widths[index % columns] = max(widths[index % columns], item.drawing.size.width)
    }
    return widths
  }

  private func total(of widths: [Int]) -> Int {
    widths.reduce(0, +) + (widths.count - 1) * Spacing.boxes
  }
}
