/// A growing prefix tree of patterns, from which ``PatternAutomaton`` is built. Only the first bytes of each
/// pattern have nodes, which take much memory; the rest of long patterns is stored as bytes.
struct PatternTrie: Sendable {
  /// The number of bytes of a pattern that have nodes.
  static let indexBytes = 16

  /// The bytes of a long pattern after the indexed ones.
  struct Tail {
    let start: Int
    let count: Int
    /// The next tail after the same beginning; -1 if there is none.
    let next: Int32
  }

  /// A common beginning of patterns. Index 0 is the root; as a child or sibling it means none.
  struct Node {
    var firstChild: UInt32 = 0
    var nextSibling: UInt32 = 0
    /// The node of the longest proper suffix of this beginning that is a beginning, too.
    var fallback: UInt32 = 0
    /// The length of the beginning.
    var depth: UInt16
    /// The length of the longest pattern at its end; 0 if no pattern ends here.
    var match: UInt16 = 0
    /// The last byte of the beginning.
    var byte: UInt8
  }

  private(set) var nodes = [Node(depth: 0, byte: 0)]
  private(set) var roots = [UInt32](repeating: 0, count: 256)
  private(set) var tails: [Tail] = []
  /// The bytes of all tails.
  private(set) var tailBytes: [UInt8] = []
  /// The first tail of a beginning, by its node.
  private var firstTails: [UInt32: Int32] = [:]
  let indexBytes: Int

  /// - Parameter indexBytes: At least 4; fewer than the default in tests.
  init(indexBytes: Int = PatternTrie.indexBytes) { self.indexBytes = indexBytes }

  mutating func insert(_ pattern: [UInt8]) {
    var state: UInt32 = 0
    for byte in pattern.prefix(indexBytes) {
      state = child(of: state, byte) ?? addChild(of: state, byte)
    }
    if pattern.count <= indexBytes {
      nodes[Int(state)].match = UInt16(pattern.count)
    } else {
      addTail(pattern[indexBytes...], to: state)
    }
  }

  private mutating func addTail(_ bytes: ArraySlice<UInt8>, to state: UInt32) {
    let first = firstTail(of: state)
    var known = first
    while known >= 0 {
      let tail = tails[Int(known)]
      if tail.count == bytes.count,
        tailBytes[tail.start..<tail.start + tail.count].elementsEqual(bytes)
      {
        return
      }
      known = tail.next
    }
    firstTails[state] = Int32(tails.count)
    tails.append(Tail(start: tailBytes.count, count: bytes.count, next: first))
    tailBytes += bytes
  }

  /// The index of the first tail of a beginning; -1 if there is none.
  func firstTail(of state: UInt32) -> Int32 { firstTails[state] ?? -1 }

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

  /// Computes all fallback edges, by which matching continues if no child fits (Aho and Corasick 1975,
  /// algorithm 3), in time proportional to the number of nodes.
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
