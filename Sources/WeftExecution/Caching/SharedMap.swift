/// A value in a ``SharedMap``.
protocol SharedMapValue: AnyObject {
  /// Returns both values as one: `self` or `other`, if it has all of the other one.
  func merged(with other: Self) -> Self
}

/// A map by names whose copies share all but their differences, so that each of very many steps can keep one.
///
/// A hash trie (Bagwell, "Ideal Hash Trees", 2001) of nodes that never change. A change copies the nodes above it, and a
/// merger visits only what the two maps do not share.
struct SharedMap<Value: SharedMapValue> {
  private var root: SharedMapNode<Value>?

  var isEmpty: Bool { root == nil }

  /// Whether both are the same nodes; maps that were made separately may have equal values.
  func isSame(as other: SharedMap) -> Bool { root === other.root }

  subscript(name: String) -> Value? {
    get { root?.value(SharedMapKey(name), depth: 0) }
    set {
      guard let newValue else { return assertionFailure("no value is ever removed") }
      let entry = SharedMapEntry(key: SharedMapKey(name), value: newValue)
      root = (root ?? SharedMapNode()).setting(entry, depth: 0)
    }
  }

  mutating func merge(_ other: SharedMap) {
    guard let root, let otherRoot = other.root else {
      root = root ?? other.root
      return
    }
    self.root = root.merged(with: otherRoot, depth: 0)
  }

  func visit(_ body: (String, Value) -> Void) { root?.visit(body) }
}

/// A name with its hash value.
private struct SharedMapKey {
  let name: String
  private let hash: UInt

  init(_ name: String) {
    self.name = name
    hash = SharedMapKey.hash(of: name, round: 0)
  }

  private static func hash(of name: String, round: Int) -> UInt {
    var hasher = Hasher()
    hasher.combine(round)
    hasher.combine(name)
    return UInt(bitPattern: hasher.finalize())
  }

  /// The bit of the entry, or of the node that leads to it, in a node at `depth`.
  ///
  /// Names with equal hash values have different ones in some later round.
  func bit(depth: Int) -> UInt32 {
    let (round, level) = depth.quotientAndRemainder(dividingBy: UInt.bitWidth / 5)
    let hash = round == 0 ? hash : SharedMapKey.hash(of: name, round: round)
    return 1 << UInt32((hash >> UInt(5 * level)) & 31)
  }
}

private final class SharedMapEntry<Value: SharedMapValue> {
  let key: SharedMapKey
  let value: Value

  init(key: SharedMapKey, value: Value) { (self.key, self.value) = (key, value) }
}

private final class SharedMapNode<Value: SharedMapValue> {
  typealias Entry = SharedMapEntry<Value>

  enum Slot {
    case entry(Entry)
    case node(SharedMapNode)

    var identity: ObjectIdentifier {
      switch self {
      case .entry(let entry): ObjectIdentifier(entry)
      case .node(let node): ObjectIdentifier(node)
      }
    }

    func setting(_ entry: Entry, depth: Int) -> Slot {
      switch self {
      case .entry(let own) where own.key.name == entry.key.name: .entry(entry)
      case .entry(let own):
        .node(SharedMapNode().setting(own, depth: depth).setting(entry, depth: depth))
      case .node(let node): .node(node.setting(entry, depth: depth))
      }
    }

    func merged(with other: Slot, depth: Int) -> Slot {
      switch (self, other) {
      case (.entry(let own), .entry(let entry)) where own.key.name == entry.key.name:
        return .entry(own.merged(with: entry))
      case (.node(let node), .node(let other)):
        return .node(node.merged(with: other, depth: depth))
      case (.entry(let own), _):
        return .node(SharedMapNode().setting(own, depth: depth)).merged(with: other, depth: depth)
      case (_, .entry(let entry)):
        return merged(with: .node(SharedMapNode().setting(entry, depth: depth)), depth: depth)
      }
    }
  }

  /// The bits of the slots.
  private let bits: UInt32
  /// In the order of their bits.
  private let slots: [Slot]

  init(bits: UInt32 = 0, slots: [Slot] = []) { (self.bits, self.slots) = (bits, slots) }

  private func position(of bit: UInt32) -> Int { (bits & (bit - 1)).nonzeroBitCount }

  func value(_ key: SharedMapKey, depth: Int) -> Value? {
    let bit = key.bit(depth: depth)
    guard bits & bit != 0 else { return nil }
    switch slots[position(of: bit)] {
    case .entry(let entry): return entry.key.name == key.name ? entry.value : nil
    case .node(let node): return node.value(key, depth: depth + 1)
    }
  }

  func setting(_ entry: Entry, depth: Int) -> SharedMapNode {
    let bit = entry.key.bit(depth: depth)
    let position = position(of: bit)
    var slots = slots
    if bits & bit == 0 {
      slots.insert(.entry(entry), at: position)
    } else {
      slots[position] = slots[position].setting(entry, depth: depth + 1)
    }
    return SharedMapNode(bits: bits | bit, slots: slots)
  }

  func merged(with other: SharedMapNode, depth: Int) -> SharedMapNode {
    if self === other { return self }
    var merged: [Slot] = []
    merged.reserveCapacity((bits | other.bits).nonzeroBitCount)
    var (isOwn, isOther) = (true, true)
    var rest = bits | other.bits
    while rest != 0 {
      let bit = rest & (~rest + 1)
      rest &= rest - 1
      let own = bits & bit == 0 ? nil : slots[position(of: bit)]
      let others = other.bits & bit == 0 ? nil : other.slots[other.position(of: bit)]
      let slot: Slot
      switch (own, others) {
      case (let own?, let others?): slot = own.merged(with: others, depth: depth + 1)
      case (let own?, nil): slot = own
      case (nil, let others?): slot = others
      case (nil, nil): continue
      }
      isOwn = isOwn && slot.identity == own?.identity
      isOther = isOther && slot.identity == others?.identity
      merged.append(slot)
    }
    if isOwn { return self }
    return isOther ? other : SharedMapNode(bits: bits | other.bits, slots: merged)
  }

  func visit(_ body: (String, Value) -> Void) {
    for slot in slots {
      switch slot {
      case .entry(let entry): body(entry.key.name, entry.value)
      case .node(let node): node.visit(body)
      }
    }
  }
}

extension SharedMapEntry {
  fileprivate func merged(with other: SharedMapEntry) -> SharedMapEntry {
    let merged = value.merged(with: other.value)
    if merged === value { return self }
    return merged === other.value ? other : SharedMapEntry(key: key, value: merged)
  }
}
