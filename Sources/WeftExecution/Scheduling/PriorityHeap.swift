/// A binary heap of steps: the smallest key first, of equal keys the first to come.
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

  /// The first that is still meant; those before it are removed.
  mutating func first(where isMeant: (SlotQueue.Request) -> Bool) -> Entry? {
    while let first = entries.first {
      if isMeant(first.request) { return first }
      _ = popFirst()
    }
    return nil
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Forgets the others, and the memory that they took.
  mutating func keep(where isKept: (SlotQueue.Request) -> Bool) {
    // A sorted array is a heap.
    entries = entries.filter { isKept($0.request) }.sorted { $0.precedes($1) }
  }

  /// Puts an entry in the place of the first, and what is to be before it up.
  private mutating func sinkFromTop(_ entry: Entry) {
    entries.withUnsafeMutableBufferPointer { entries in
      var hole = 0
      while true {
        var child = 2 * hole + 1
        guard child < entries.count else { break }
        if child + 1 < entries.count, entries[child + 1].precedes(entries[child]) { child += 1 }
        guard entries[child].precedes(entry) else { break }
        entries[hole] = entries[child]
        hole = child
      }
      entries[hole] = entry
    }
  }
}
