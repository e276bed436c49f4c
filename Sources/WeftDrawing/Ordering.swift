/// The order of vertices within their layers, with few crossings of arcs.
///
/// Layers are sorted by the weighted medians of their neighbours, downwards and upwards in turn, and neighbours are
/// exchanged where that removes crossings (Gansner, Koutsofios, North and Vo 1993, §3). Of several starts, the order
/// with the fewest crossings is kept.
struct Ordering {
  /// The arcs that may be visited in all sweeps together: large graphs get fewer sweeps.
  private static let budget = 3_000_000
  private static let sweeps = 6...26
  /// The sweeps without improvement after which a start is given up.
  private static let patience = 4
  /// The most random starts, and the arcs that may be in all of them together.
  private static let shuffles = 7
  private static let shuffled = 6000
  /// The most pairs of arcs that are compared for one exchange.
  private static let comparedPairs = 4096

  private var layers: Layers
  /// The index of each vertex in its layer.
  private var position: [Int]
  private var best: [[Int]]
  private var fewest = Int.max

  /// - Returns: The number of crossings.
  static func order(_ layers: inout Layers, isThorough: Bool) -> Int {
    guard layers.order.contains(where: { $0.count > 1 }) else { return 0 }
    var ordering = Ordering(layers)
    ordering.search(isThorough: isThorough)
    layers.order = ordering.best
    return ordering.fewest
  }

  private init(_ layers: Layers) {
    self.layers = layers
    best = layers.order
    position = Array(repeating: 0, count: layers.sizes.count)
  }

  private mutating func search(isThorough: Bool) {
    let work = layers.arcs.count + layers.sizes.count
    let count = min(
      max(Ordering.budget / max(work, 1) / 8, Ordering.sweeps.lowerBound),
      Ordering.sweeps.upperBound)
    for isUpwards in [false, true] {
      layers.order = depthFirstOrder(isUpwards: isUpwards)
      improve(sweeps: count, isUpwards: isUpwards)
      if fewest == 0 { return }
    }
    guard isThorough else { return }
    var random = Shuffling()
    for start in 0..<min(Ordering.shuffles, Ordering.shuffled / max(work, 1)) where fewest > 0 {
      for layer in layers.order.indices { layers.order[layer].shuffle(using: &random) }
      improve(sweeps: count, isUpwards: start % 2 == 1)
    }
  }

  /// The layers in the order in which a search visits the vertices, which draws trees without crossings.
  private func depthFirstOrder(isUpwards: Bool) -> [[Int]] {
    let next = isUpwards ? layers.above : layers.below
    let previous = isUpwards ? layers.below : layers.above
    var order: [[Int]] = Array(repeating: [], count: layers.order.count)
    var isVisited = Array(repeating: false, count: layers.sizes.count)
    for start in layers.vertices.indices where previous[start].isEmpty {
      var stack = [start]
      while let vertex = stack.popLast() {
        guard !isVisited[vertex] else { continue }
        isVisited[vertex] = true
        order[layers.ranks[vertex]].append(vertex)
        for arc in next[vertex].reversed() {
          stack.append(isUpwards ? layers.arcs[arc].tail : layers.arcs[arc].head)
        }
      }
    }
    return order
  }

  private mutating func improve(sweeps: Int, isUpwards: Bool) {
    for layer in layers.order.indices {
      arrangePorts(layer)
      updatePositions(layer)
    }
    keepIfBest()
    var stale = 0
    for sweep in 0..<sweeps where stale < Ordering.patience && fewest > 0 {
      let goesUp = (sweep % 2 == 1) != isUpwards
      let prefersRight = sweep % 4 >= 2
      if goesUp {
        for layer in layers.order.indices.dropLast().reversed() {
          sort(layer, by: layers.below, isBelow: true, prefersRight)
        }
      } else {
        for layer in layers.order.indices.dropFirst() {
          sort(layer, by: layers.above, isBelow: false, prefersRight)
        }
      }
      exchangeNeighbours(evenIfEqual: prefersRight)
      stale = keepIfBest() ? 0 : stale + 1
    }
  }

  /// Puts ports that have places in their order.
  private mutating func arrangePorts(_ layer: Int) {
    let indices = layers.order[layer].indices.filter { place(of: layers.order[layer][$0]) != nil }
    guard indices.count > 1 else { return }
    let ports = indices.map { layers.order[layer][$0] }
    let arranged = ports.sorted { (place(of: $0)!, $0) < (place(of: $1)!, $1) }
    for (index, port) in zip(indices, arranged) { layers.order[layer][index] = port }
  }

  private func place(of vertex: Int) -> Int? {
    layers.isDummy(vertex) ? nil : layers.vertices[vertex].place
  }

  private mutating func updatePositions(_ layer: Int) {
    for (index, vertex) in layers.order[layer].enumerated() { position[vertex] = index }
  }

  @discardableResult
  private mutating func keepIfBest() -> Bool {
    let count = crossings()
    guard count < fewest else { return false }
    (fewest, best) = (count, layers.order)
    return true
  }

  // MARK: Medians

  /// Sorts a layer by the medians of neighbours; vertices without neighbours keep their places.
  private mutating func sort(
    _ layer: Int, by neighbours: Adjacency, isBelow: Bool, _ prefersRight: Bool
  ) {
    var places: [Int] = []
    var moved: [(median: Int, index: Int)] = []
    var keys: [Int] = []
    for (index, vertex) in layers.order[layer].enumerated() {
      keys.removeAll(keepingCapacity: true)
      for arc in neighbours[vertex] { keys.append(isBelow ? headKey(arc) : tailKey(arc)) }
      guard !keys.isEmpty else { continue }
      keys.sort()
      places.append(index)
      moved.append((Ordering.median(of: keys), prefersRight ? -index : index))
    }
    moved.sort { $0 < $1 }
    let old = layers.order[layer]
    for (place, entry) in zip(places, moved) { layers.order[layer][place] = old[abs(entry.index)] }
    arrangePorts(layer)
    updatePositions(layer)
  }

  private func tailKey(_ arc: Int) -> Int {
    position[layers.arcs[arc].tail] * Layers.slots + layers.arcs[arc].tailSlot
  }

  private func headKey(_ arc: Int) -> Int {
    position[layers.arcs[arc].head] * Layers.slots + layers.arcs[arc].headSlot
  }

  private static func median(of keys: [Int]) -> Int {
    let middle = keys.count / 2
    if keys.count % 2 == 1 { return keys[middle] }
    let left = keys[middle - 1] - keys[0]
    let right = keys[keys.count - 1] - keys[middle]
    guard keys.count > 2, left + right > 0 else { return (keys[middle - 1] + keys[middle]) / 2 }
    return (keys[middle - 1] * right + keys[middle] * left) / (left + right)
  }

  // MARK: Exchanges

  /// Exchanges neighbours as long as that removes crossings.
  ///
  /// - Parameter evenIfEqual: Whether to exchange neighbours first that have as many crossings either way, which may
  ///   make room for improvements.
  private mutating func exchangeNeighbours(evenIfEqual: Bool) {
    if evenIfEqual { for layer in layers.order.indices { exchange(in: layer, atLeast: 0) } }
    // An exchange changes what is possible in its layer and in those next to it.
    var isOpen = Array(repeating: true, count: layers.order.count)
    for _ in 0..<8 where isOpen.contains(true) {
      for layer in layers.order.indices where isOpen[layer] {
        isOpen[layer] = false
        guard exchange(in: layer, atLeast: 1) else { continue }
        for next in max(layer - 1, 0)...min(layer + 1, isOpen.count - 1) { isOpen[next] = true }
      }
    }
  }

  @discardableResult
  private mutating func exchange(in layer: Int, atLeast least: Int) -> Bool {
    var hasImproved = false
    for index in layers.order[layer].indices.dropLast() {
      let left = layers.order[layer][index]
      let right = layers.order[layer][index + 1]
      let pairs =
        layers.above[left].count * layers.above[right].count
        + layers.below[left].count * layers.below[right].count
      guard pairs > 0, pairs <= Ordering.comparedPairs else { continue }
      if place(of: left) != nil, place(of: right) != nil { continue }
      guard gain(ofExchanging: left, right) >= least else { continue }
      layers.order[layer].swapAt(index, index + 1)
      position[left] = index + 1
      position[right] = index
      hasImproved = true
    }
    return hasImproved
  }

  /// The crossings that are removed if the neighbours `left` and `right` change places.
  private func gain(ofExchanging left: Int, _ right: Int) -> Int {
    var gain = 0
    for first in layers.above[left] {
      let key = tailKey(first)
      for second in layers.above[right] {
        let difference = key - tailKey(second)
        if difference != 0 {
          gain += difference.signum() * layers.arcs[first].weight * layers.arcs[second].weight
        }
      }
    }
    for first in layers.below[left] {
      let key = headKey(first)
      for second in layers.below[right] {
        let difference = key - headKey(second)
        if difference != 0 {
          gain += difference.signum() * layers.arcs[first].weight * layers.arcs[second].weight
        }
      }
    }
    return gain
  }

  // MARK: Crossings

  private struct Key {
    var tail: Int
    var head: Int
    var weight: Int
  }

  /// The number of crossings of the links that the arcs carry.
  private func crossings() -> Int {
    var (count, keys, buffer): (Int, [Key], [Key]) = (0, [], [])
    for layer in layers.order.dropLast() {
      keys.removeAll(keepingCapacity: true)
      for vertex in layer {
        for arc in layers.below[vertex] {
          keys.append(
            Key(tail: tailKey(arc), head: headKey(arc), weight: layers.arcs[arc].weight))
        }
      }
      keys.sort { ($0.tail, $0.head) < ($1.tail, $1.head) }
      count += Ordering.inversions(&keys, &buffer)
      if count >= fewest { return count }
    }
    return count
  }

  /// Sorts by heads, and counts the pairs that were in the other order, by their weights (merge sort).
  private static func inversions(_ keys: inout [Key], _ buffer: inout [Key]) -> Int {
    var count = 0
    var width = 1
    while width < keys.count {
      buffer.removeAll(keepingCapacity: true)
      for start in stride(from: 0, to: keys.count, by: 2 * width) {
        let middle = min(start + width, keys.count)
        let end = min(start + 2 * width, keys.count)
        var (left, right) = (start, middle)
        var remaining = 0
        for index in left..<middle { remaining += keys[index].weight }
        while left < middle || right < end {
          if right == end || left < middle && keys[left].head <= keys[right].head {
            remaining -= keys[left].weight
            buffer.append(keys[left])
            left += 1
          } else {
            count += remaining * keys[right].weight
            buffer.append(keys[right])
            right += 1
          }
        }
      }
      swap(&keys, &buffer)
      width *= 2
    }
    return count
  }
}

/// Numbers for shuffling, the same in every drawing (SplitMix64; Steele, Lea and Flood 2014).
private struct Shuffling: RandomNumberGenerator {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
