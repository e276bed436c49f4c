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

/// Steps in the order of their requests for a slot, for ``SlotQueue``, which looks up the step that has waited
/// longest.
///
/// Requests of steps that no longer wait stay until they are the first, or most of the entries.
struct ArrivalOrder {
  typealias Request = SlotQueue.Request

  private var arrivals: [Request] = []
  private var start = 0

  /// The number of entries, including those of steps that no longer wait.
  var count: Int { arrivals.count }
  var first: Request? { start < arrivals.count ? arrivals[start] : nil }

  mutating func append(_ arrival: Request) { arrivals.append(arrival) }

  mutating func removeFirst() {
    start += 1
    guard start == arrivals.count else { return }
    arrivals.removeAll(keepingCapacity: true)
    start = 0
  }

  var indices: Range<Int> { start..<arrivals.count }
  subscript(index: Int) -> Request { arrivals[index] }

  /// Whether most entries are out of date, and it is time to call ``keep(where:)``.
  ///
  /// - Parameter alive: The number of steps that wait.
  func isMostlyStale(alive: Int) -> Bool { arrivals.count > 64 + 2 * alive }

  mutating func keep(where isKept: (Request) -> Bool) {
    arrivals = arrivals[start...].filter(isKept)
    start = 0
  }
}
