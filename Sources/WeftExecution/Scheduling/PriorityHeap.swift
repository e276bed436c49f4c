/// A binary heap of waiting steps, for ``SlotQueue`` and its parts: the smallest key first, and among equal
/// keys the earliest request.
struct PriorityHeap {
  struct Entry {
    let key: UInt64
    let request: SlotQueue.Request

    func precedes(_ other: Entry) -> Bool {
      key < other.key || key == other.key && request.ticket < other.request.ticket
    }
  }

  private var entries: [Entry] = []

  var first: Entry? { entries.first }
  var count: Int { entries.count }

  mutating func insert(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].precedes(entries[parent]) else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func popFirst() -> Entry? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty { sinkFromTop(last) }
    return first
  }

  /// The first entry that satisfies the predicate; those before it are removed.
  mutating func first(where isMeant: (SlotQueue.Request) -> Bool) -> Entry? {
    while let first = entries.first {
      if isMeant(first.request) { return first }
      _ = popFirst()
    }
    return nil
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Removes the other entries, and frees their memory.
  mutating func keep(where isKept: (SlotQueue.Request) -> Bool) {
    // A sorted array is a heap.
    entries = entries.filter { isKept($0.request) }.sorted { $0.precedes($1) }
  }

  /// Puts an entry at the top and sifts it down.
  private mutating func sinkFromTop(_ entry: Entry) {
    entries.withUnsafeMutableBufferPointer { entries in
      var placeholder = 0
      while true {
        var child = 2 * placeholder + 1
        guard child < entries.count else { break }
        if child + 1 < entries.count, entries[child + 1].precedes(entries[child]) { child += 1 }
        guard entries[child].precedes(entry) else { break }
        entries[placeholder] = entries[child]
        placeholder = child
      }
      entries[placeholder] = entry
    }
  }
}
