/// Actions by due time: a binary heap, in which cancelled entries stay until they come up or are the majority.
package struct TimerQueue<Action> {
  /// A number that increases in the order of scheduling.
  package typealias ID = UInt64

  private struct Entry {
    var due: Duration
    var id: ID

    func isBefore(_ other: Entry) -> Bool { (due, id) < (other.due, other.id) }
  }

  private var heap: [Entry] = []
  private var actions: [ID: Action] = [:]
  private var nextID: ID = 0

  package init() {}

  package var isEmpty: Bool { actions.isEmpty }
  package var count: Int { actions.count }
  /// The number of entries, including cancelled ones that are still stored.
  var storedCount: Int { heap.count }

  package mutating func add(_ action: Action, due: Duration) -> ID {
    defer { nextID += 1 }
    actions[nextID] = action
    heap.append(Entry(due: due, id: nextID))
    siftUp(from: heap.count - 1)
    return nextID
  }

  /// Cancels an action and returns it, unless it was taken or cancelled before.
  @discardableResult
  package mutating func cancel(_ id: ID) -> Action? {
    let action = actions.removeValue(forKey: id)
    if heap.count > 64, heap.count > 2 * actions.count { forgetCancelled() }
    return action
  }

  /// The time at which the next action is due.
  package mutating func nextDue() -> Duration? {
    while let first = heap.first, actions[first.id] == nil { removeFirst() }
    return heap.first?.due
  }

  /// Removes the next action that is due at `now`.
  package mutating func takeDue(at now: Duration) -> Action? {
    guard let due = nextDue(), due <= now else { return nil }
    let first = heap[0]
    removeFirst()
    return actions.removeValue(forKey: first.id)
  }

  private mutating func forgetCancelled() {
    // A sorted array is a heap.
    heap = heap.filter { actions[$0.id] != nil }.sorted { $0.isBefore($1) }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown()
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { return }
      let right = left + 1
      let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}
