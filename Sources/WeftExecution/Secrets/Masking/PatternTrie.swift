/// Patterns by their common beginnings: the tree that ``PatternAutomaton`` is made of, growing.
struct PatternTrie: Sendable {
  /// One beginning of patterns. Zero is the root as a state, and none as a child or sibling.
  struct Node {
    var firstChild: UInt32 = 0
    var nextSibling: UInt32 = 0
    /// The longest end of this beginning that is a beginning, too.
    var fallback: UInt32 = 0
    /// How long it is.
    var depth: UInt16
    /// The length of the longest pattern at its end; zero where no pattern ends.
    var match: UInt16 = 0
    /// What it has after that of its parent.
    var byte: UInt8
  }

  private(set) var nodes = [Node(depth: 0, byte: 0)]
  private(set) var roots = [UInt32](repeating: 0, count: 256)

  /// - Precondition: The pattern is shorter than 64 KiB.
  mutating func insert(_ pattern: [UInt8]) {
    var state: UInt32 = 0
    for byte in pattern { state = child(of: state, byte) ?? addChild(of: state, byte) }
    nodes[Int(state)].match = UInt16(pattern.count)
  }

  func child(of state: UInt32, _ byte: UInt8) -> UInt32? {
    if state == 0 { return roots[Int(byte)] == 0 ? nil : roots[Int(byte)] }
    var child = nodes[Int(state)].firstChild
    while child != 0 {
      if nodes[Int(child)].byte == byte { return child }
      child = nodes[Int(child)].nextSibling
    }
    return nil
  }

  private mutating func addChild(of state: UInt32, _ byte: UInt8) -> UInt32 {
    let child = UInt32(nodes.count)
    var node = Node(depth: nodes[Int(state)].depth + 1, byte: byte)
    node.nextSibling = nodes[Int(state)].firstChild
    nodes.append(node)
    nodes[Int(state)].firstChild = child
    if state == 0 { roots[Int(byte)] = child }
    return child
  }

  /// Draws the edges by which matching goes on where no child fits, all anew (Aho and Corasick 1975,
  /// algorithm 3), in time proportional to the nodes.
  mutating func drawFallbacks() {
    var queue: [UInt32] = [0]
    queue.reserveCapacity(nodes.count)
    var next = 0
    while next < queue.count {
      let state = queue[next]
      next += 1
      var child = nodes[Int(state)].firstChild
      while child != 0 {
        let fallback =
          state == 0 ? 0 : self.state(after: nodes[Int(state)].fallback, nodes[Int(child)].byte)
        nodes[Int(child)].fallback = fallback
        if nodes[Int(child)].match != nodes[Int(child)].depth {
          nodes[Int(child)].match = nodes[Int(fallback)].match
        }
        queue.append(child)
        child = nodes[Int(child)].nextSibling
      }
    }
  }

  private func state(after state: UInt32, _ byte: UInt8) -> UInt32 {
    var state = state
    while true {
      if let child = child(of: state, byte) { return child }
      if state == 0 { return 0 }
      state = nodes[Int(state)].fallback
    }
  }
}
