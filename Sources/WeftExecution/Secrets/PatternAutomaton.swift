/// Finds all occurrences of many patterns in one pass over a stream, however it is cut into pieces.
///
/// Two methods alternate: a table over four bytes at a time (the hashed first four bytes of the patterns; after
/// Wu and Manber 1994) skips bytes that begin no pattern. Where one may begin, an automaton (Aho and Corasick
/// 1975) reads on until its match is so short that skipping is faster again. It contains only the beginnings of
/// long patterns; after such a beginning, the rest is compared.
final class PatternAutomaton: Sendable {
  /// The number of bytes of a pattern that skipping checks; no pattern is shorter.
  static let prefixBytes = Secret.fewestBytes
  private static let hashBits = 16

  let trie: PatternTrie
  /// One bit for each hash: whether a pattern begins with it.
  private let beginnings: [UInt64]

  init(_ patterns: PatternTrie) {
    var trie = patterns
    trie.drawFallbacks()
    self.trie = trie
    var table = [UInt64](repeating: 0, count: 1 << (PatternAutomaton.hashBits - 6))
    for word in trie.words(of: 0) {
      let hash = PatternAutomaton.hash(word)
      table[hash >> 6] |= 1 << (hash & 63)
    }
    beginnings = table
  }

  /// Multiplicative hashing by a prime, upper bits (Knuth, "The Art of Computer Programming" 3, §6.4).
  @inline(__always)
  private static func hash(_ word: UInt32) -> Int {
    Int((word &* 2_654_435_761) >> UInt32(32 - hashBits))
  }

  /// The state of reading a stream between two of its pieces.
  struct Position {
    fileprivate var state: UInt32 = 0
    fileprivate var partial: [PartialTail] = []
  }

  /// A long pattern whose beginning is at the end of the stream so far.
  fileprivate struct PartialTail {
    let tail: Int32
    /// The number of bytes of the tail that have been read.
    let count: Int
  }

  /// The length of the longest suffix of the stream that may be the beginning of a pattern.
  func pending(_ position: Position) -> Int {
    var state = position.state
    // The end of a pattern that is not also the beginning of one can be passed on.
    while state != 0, trie.nodes[Int(state)].firstChild == 0 {
      state = trie.nodes[Int(state)].fallback
    }
    return position.partial.reduce(Int(trie.nodes[Int(state)].depth)) {
      max($0, trie.indexBytes + $1.count)
    }
  }

  /// Reads a piece of a stream.
  ///
  /// - Parameters:
  ///   - position: The position after the piece before; on return, that after this one.
  ///   - found: Called with the range of each occurrence in the piece, in no order; of short patterns that end
  ///     at one index, only with the longest. If it began in an earlier piece, the lower bound is negative.
  ///     Returns whether to continue.
  func read(
    _ bytes: UnsafeRawBufferPointer, from position: inout Position, found: (Range<Int>) -> Bool
  ) {
    trie.nodes.withUnsafeBufferPointer { nodes in
      trie.roots.withUnsafeBufferPointer { roots in
        beginnings.withUnsafeBufferPointer { beginnings in
          PatternReading(
            nodes: nodes, roots: roots, beginnings: beginnings, bytes: bytes, trie: trie
          ).run(from: &position, found: found)
        }
      }
    }
  }

  /// The tables of an automaton, and the bytes that it reads.
  private struct PatternReading {
    let nodes: UnsafeBufferPointer<PatternTrie.Node>
    let roots: UnsafeBufferPointer<UInt32>
    let beginnings: UnsafeBufferPointer<UInt64>
    let bytes: UnsafeRawBufferPointer
    let trie: PatternTrie

    func run(from position: inout Position, found: (Range<Int>) -> Bool) {
      var partial: [PartialTail] = []
      for known in position.partial {
        guard compare(known.tail, after: known.count, at: 0, &partial, found) else { return }
      }
      position.partial = []
      defer { position.partial = partial }
      var state = position.state
      defer { position.state = state }
      var index = 0
      // The index where the automaton began to read; skipping has already checked it.
      var entry = -1
      if state == 0 {
        index = nextBeginning(from: 0)
        entry = index
      }
      while index < bytes.count {
        state = next(state, bytes[index])
        index &+= 1
        let node = nodes[Int(state)]
        if node.match > 0, !found(index - Int(node.match)..<index) { return }
        if Int(node.depth) == trie.indexBytes {
          var tail = trie.firstTail(of: state)
          while tail >= 0 {
            guard compare(tail, after: 0, at: index, &partial, found) else { return }
            tail = trie.tails[Int(tail)].next
          }
        }
        guard node.depth < prefixBytes else { continue }
        let begin = index &- Int(node.depth)
        if begin > entry, begin &+ prefixBytes <= bytes.count {
          state = 0
          index = nextBeginning(from: begin)
          entry = index
        }
      }
    }

    /// Compares the bytes with a tail: the pattern matches, or does not, or the piece ends before that is
    /// known.
    ///
    /// - Parameter count: The number of bytes of the tail before `index`.
    /// - Returns: Whether to continue.
    private func compare(
      _ tail: Int32, after count: Int, at index: Int, _ partial: inout [PartialTail],
      _ found: (Range<Int>) -> Bool
    ) -> Bool {
      let wanted = trie.tails[Int(tail)]
      let length = min(wanted.count - count, bytes.count - index)
      let isSame = trie.tailBytes.withUnsafeBytes { all in
        UnsafeRawBufferPointer(rebasing: all[(wanted.start + count)...].prefix(length))
          .elementsEqual(UnsafeRawBufferPointer(rebasing: bytes[index..<index + length]))
      }
      guard isSame else { return true }
      guard count + length == wanted.count else {
        partial.append(PartialTail(tail: tail, count: count + length))
        return true
      }
      return found(index - count - trie.indexBytes..<index + length)
    }

    /// The first index at or after `start` where a pattern may begin; near the end of the piece, any.
    @inline(__always)
    private func nextBeginning(from start: Int) -> Int {
      var index = start
      let end = bytes.count &- prefixBytes
      while index <= end {
        let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        let hash = PatternAutomaton.hash(word)
        if beginnings[hash >> 6] >> UInt64(hash & 63) & 1 != 0 { return index }
        index &+= 1
      }
      return index
    }

    private func next(_ state: UInt32, _ byte: UInt8) -> UInt32 {
      var state = state
      while state != 0 {
        var child = nodes[Int(state)].firstChild
        while child != 0 {
          if nodes[Int(child)].byte == byte { return child }
          child = nodes[Int(child)].nextSibling
        }
        state = nodes[Int(state)].fallback
      }
      return roots[Int(byte)]
    }
  }
}

extension PatternTrie {
  /// The first four bytes of all patterns below a node, as a little-endian load returns them.
  fileprivate func words(of state: UInt32) -> [UInt32] {
    let node = nodes[Int(state)]
    guard node.depth < PatternAutomaton.prefixBytes else { return [0] }
    var words: [UInt32] = []
    var child = node.firstChild
    while child != 0 {
      let byte = UInt32(nodes[Int(child)].byte) << (8 * UInt32(node.depth))
      words += self.words(of: child).map { $0 | byte }
      child = nodes[Int(child)].nextSibling
    }
    return words
  }
}

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
